package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/gateway"
)

// maxRenamedShown bounds the names that check prints.
const maxRenamedShown = 20

// checkCommand is serve up to the point where it would serve.
func checkCommand(e env) *cobra.Command {
	var s serving
	var asSchema, asJSON bool
	var as []string
	cmd := &cobra.Command{
		Use:   "check [SPEC...]",
		Short: "Check a config and its descriptions without serving them",
		Long: `Check a config and every description that it names, with the flags of serve.
No port is opened and no worker is started; descriptions on the web are read, and
with --oauth-exchange the metadata of the issuer.
Without SPEC and --config, tenon.yaml is checked.

Exit 1: there is no tool to serve. Exit 2: the config or a flag is wrong, or a
selector of --include or --exclude matches nothing. Exit 3: a description cannot
be read. Warnings name what is left out of a description, schema notes what is
changed in published schemas for clients.`,
		Example: `  tenon check
  tenon check --config tenon.yaml
  tenon check --include tag:pets petstore.yaml
  tenon check --as alice@example.com --as group:staff --as scope:books:read
  tenon check --config-schema > tenon.schema.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asSchema {
				_, err := e.out.Write(app.FileSchema())
				return err
			}
			if _, err := os.Stat(defaultConfig); err == nil && s.file == "" && len(args) == 0 {
				s.file = defaultConfig
			}
			if s.file == "" && len(args) == 0 {
				return usagef("there is no %s here; name a config with --config, or a SPEC", defaultConfig)
			}
			if err := s.plan(cmd, args); err != nil {
				return err
			}
			if asJSON && as == nil {
				return usagef("--json is for --as: what a caller can do with each tool")
			}
			return s.check(cmd.Context(), e, as, asJSON)
		},
	}
	s.register(cmd)
	cmd.Flags().StringArrayVar(&as, "as", nil, "print what this caller sees and may call, and why not the rest: SUBJECT, or subject:, client:, group:, scope: or key:NAME (repeatable: one caller is all of them)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --as: print JSON")
	cmd.Flags().BoolVar(&asSchema, "config-schema", false, "print the JSON Schema of configs, for editors, and check nothing")
	return cmd
}

// check reads everything, and says what it found or what a caller can do.
func (s *serving) check(ctx context.Context, e env, as []string, asJSON bool) error {
	all := s.config.Verbose
	s.config.Verbose, s.onDemand, s.allowUnmatched = true, true, true
	w, err := s.start(ctx, e)
	if err != nil {
		return err
	}
	defer w.Close()
	if as != nil {
		return s.printAs(e, w, as, asJSON, all)
	}
	if err := s.printCheck(ctx, e, w); err != nil {
		return err
	}
	if err := w.CheckOutside(); err != nil {
		return err
	}
	return w.CheckExchange(ctx)
}

// printCheck fails where there is nothing to serve, or where a selector matches
// nothing.
func (s *serving) printCheck(ctx context.Context, e env, w *app.App) error {
	if s.file != "" {
		fmt.Fprintf(e.out, "%s: %s\n", s.file, count(len(w.Sources()), "source"))
	}
	notes := 0
	for _, t := range w.Gateway.Catalog().Tools() {
		notes += len(t.Diagnostics())
	}
	for _, source := range w.Sources() {
		n := len(source.Features.Diagnostics)
		fmt.Fprintf(e.out, "%s: %s, %s (%s)\n", source.Name, count(len(source.Features.Tools), "tool"), count(n, "warning"), app.ShownSpec(source.Spec))
	}
	for _, f := range w.Gateway.Catalog().Diagnostics() {
		fmt.Fprintf(e.out, "  %s\n", f)
	}
	if notes > 0 {
		fmt.Fprintf(e.out, "%s, what clients get otherwise than it is described:\n", count(notes, "schema note"))
		printSchemaProblems(e.out, w.Gateway.Catalog())
	}
	printHidden(e.out, w.SeenByNobody())
	if err := w.CheckIssuer(ctx); err != nil {
		fmt.Fprintf(e.out, "  nobody with an access token would be let in now: %v\n", err)
	}
	if scopes, err := w.Ungranted(ctx); err == nil { // else it is said elsewhere
		for _, scope := range scopes {
			fmt.Fprintf(e.out, "  the issuer does not list the scope %s in its metadata (scopes_supported): perhaps nobody gets it\n", scope)
		}
	}
	if host := s.config.UnservedResource(); host != "" {
		fmt.Fprintf(e.out, "  requests for %s, the host of oauth-resource, are refused: no allowed-host names it\n", host)
	}
	printRenamed(e.out, w.Gateway.Catalog())
	if app.Described(w.Gateway.Catalog()) == 0 {
		fmt.Fprintln(e.err, "tenon: there is no tool to serve")
	}
	if err := app.Unmatched(w.Gateway.Catalog().Diagnostics()); err != nil {
		return err
	}
	return failedIf(app.Described(w.Gateway.Catalog()) == 0)
}

// printRenamed prints the tools whose names are not those of their descriptions,
// with both; of many only the first.
func printRenamed(out io.Writer, c *gateway.Catalog) {
	var renamed []*gateway.Tool
	for _, t := range c.Tools() {
		if originalOf(t) != "" {
			renamed = append(renamed, t)
		}
	}
	switch n := len(renamed); n {
	case 0:
		return
	case 1:
		fmt.Fprintln(out, "1 tool has another name than in its description:")
	default:
		fmt.Fprintf(out, "%d tools have other names than in their descriptions:\n", n)
	}
	for i, t := range renamed {
		if i == maxRenamedShown {
			fmt.Fprintf(out, "  and %d more; 'tenon tools' lists them\n", len(renamed)-i)
			return
		}
		fmt.Fprintf(out, "  %s  %s\n", t.Name(), originalOf(t))
	}
}
