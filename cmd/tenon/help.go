package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/app"
)

// helpWidth is how wide help may be: a terminal that is no wider breaks the
// lines once more.
const helpWidth = 110

// fewFlags need no headings.
const fewFlags = 25

// flagGroups are the headings of the help with the settings below them. Any other
// flag is a command's own.
func flagGroups() []flagGroup {
	var all []flagGroup
	for _, s := range app.Settings() {
		if len(all) == 0 || all[len(all)-1].title != s.Group {
			all = append(all, flagGroup{title: s.Group})
		}
		g := &all[len(all)-1]
		g.names += " " + s.Name
	}
	all[len(all)-1].names += " config help"
	return all
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
		fmt.Fprintf(w, "\n'%s COMMAND --help' has more about a command.\n", cmd.CommandPath())
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
