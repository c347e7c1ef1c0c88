package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how wide help may be: a terminal that is no wider breaks the
// lines once more.
const helpWidth = 110

// fewFlags need no headings.
const fewFlags = 25

// flagGroups are the flags of serve, which many commands share, under the
// headings of the help. Any other flag is a command's own.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Which tools there are", "only except read-only trust-marks mark-safe mark-unsafe prefix tools-mode list-tokens-warn describe"},
		{"What tools and arguments are called", "names rename redescribe param-rename param-redescribe param-fix param-hide mcp-header"},
		{"Answers", "policy shape fields select jq jq-schema max-result-bytes follow-pages partial-after max-input-schema max-output-schema"},
		{"Consent and credentials", "confirm auth auth-origin header client-cert"},
		{"Where calls may go", "base-url allow-host upstream-ca file-root"},
		{"Time, retries and limits", "timeout connect-timeout tls-timeout answer-timeout attempt-timeout " +
			"retries max-wait max-rate max-concurrent breaker breaker-pause cache-bytes"},
		{"OpenAPI documents", "overlay ref-root allow-ref server-variable"},
		{"FlowMCP schema files", "strict-schemas selection caller-marks lists libs allow-library handler-secrets handler-reads handler-writes handler-time handler-workers " +
			"cache-dir project-dir user-dir no-cache refresh"},
		{"Function apps", "app-env trust-worker-port advertise-anyway"},
		{"Endpoints", "http jsonrpc sessions task-after azure-paths name title instructions"},
		{"Limits for callers", "max-concurrent-calls max-calls-per-caller max-message-bytes max-bytes-in-flight page-size"},
		{"Who may call", "api-key behind-proxy insecure host-name allow-origin azure-key azure-key-in-url"},
		{"Running", "config watch poll drain log-format verbose help"},
	}
}

// flagGroup is a heading and the names of the flags below it.
type flagGroup struct{ title, names string }

// printUsage is what --help says below the description of a command.
func printUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:")
	if cmd.Runnable() && (!cmd.HasSubCommands() || strings.Contains(cmd.Use, " ")) {
		fmt.Fprintf(w, "\n  %s", cmd.UseLine())
	}
	if cmd.HasSubCommands() || !cmd.Runnable() {
		fmt.Fprintf(w, "\n  %s COMMAND", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\n\nExamples:\n%s", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n\nCommands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(w, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	fmt.Fprintln(w)
	printFlags(cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n'%s COMMAND --help' tells more about a command.\n", cmd.CommandPath())
	}
	return nil
}

// printFlags prints the flags below their headings, a command's own first. A
// command with few of them needs no other headings.
func printFlags(cmd *cobra.Command) {
	var all []*pflag.Flag
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { all = append(all, f) })
	sections := []*pflag.FlagSet{pflag.NewFlagSet("Flags", pflag.ContinueOnError)}
	headed := map[string]*pflag.FlagSet{}
	if len(all) > fewFlags {
		for _, g := range flagGroups() {
			set := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
			for name := range strings.FieldsSeq(g.names) {
				headed[name] = set
			}
			sections = append(sections, set)
		}
	}
	for _, f := range all {
		cmp.Or(headed[f.Name], sections[0]).AddFlag(f)
	}
	for _, set := range sections {
		if set.HasAvailableFlags() {
			// pflag names its own type where a flag may be repeated.
			text := strings.ReplaceAll(set.FlagUsagesWrapped(helpWidth), "stringArray", "string     ")
			fmt.Fprintf(cmd.OutOrStderr(), "\n%s:\n%s", set.Name(), text)
		}
	}
}
