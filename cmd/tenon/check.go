package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/config"
)

// checkCommand is serve up to the point where it would serve.
func checkCommand(e env) *cobra.Command {
	var s serving
	var asSchema bool
	cmd := &cobra.Command{
		Use:   "check [SPEC...]",
		Short: "Check a config and every description, and serve nothing",
		Long: `Check a config and every description that it names, with the flags of serve.
No port is opened and no worker is started; descriptions on the web are read.
Without SPEC and --config, tenon.yaml is checked.

Exit 1 means that there is no tool to serve, or that a rule of --only or --except
matches none, exit 2 that the config or a flag is wrong, exit 3 that a
description cannot be read. What is left out of a description is a warning, and
what its schemas are changed to for clients a schema note.`,
		Example: `  tenon check
  tenon check --config tenon.yaml
  tenon check --only tag:pets petstore.yaml
  tenon check --config-schema > tenon.schema.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asSchema {
				_, err := e.out.Write(config.Schema(configKeys(serveCommand(e))))
				return err
			}
			if _, err := os.Stat(defaultConfig); err == nil && s.config == "" && len(args) == 0 {
				s.config = defaultConfig
			}
			if s.config == "" && len(args) == 0 {
				return usagef("there is no %s here; name a config with --config, or a SPEC", defaultConfig)
			}
			s.sources.verbose = true
			plan, err := s.plan(e, cmd, args)
			if err != nil {
				return err
			}
			for _, p := range plan {
				p.flags.apps.onDemand = true
			}
			w, err := s.sources.connectAll(cmd.Context(), e, plan)
			if err != nil {
				return err
			}
			defer w.close()
			return s.printCheck(e, w)
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&asSchema, "config-schema", false, "print the JSON Schema of configs, for editors, and check nothing")
	return cmd
}

// printCheck fails where there is nothing to serve, or where rules that choose
// tools match none.
func (s *serving) printCheck(e env, w *wire) error {
	if s.config != "" {
		fmt.Fprintf(e.out, "%s: %s\n", s.config, count(len(w.sources), "source"))
	}
	notes := 0
	for _, t := range w.catalog.Tools() {
		notes += len(t.Diagnostics())
	}
	for _, source := range w.sources {
		n := len(source.offer.Diagnostics)
		fmt.Fprintf(e.out, "%s: %s, %s (%s)\n", source.name, count(len(source.offer.Tools), "tool"), count(n, "warning"), shownSpec(source.where))
	}
	for _, f := range w.catalog.Diagnostics() {
		fmt.Fprintf(e.out, "  %s\n", f)
	}
	if notes > 0 {
		fmt.Fprintf(e.out, "%s, what clients get otherwise than it is described:\n", count(notes, "schema note"))
		printSchemaFaults(e.out, w.catalog)
	}
	if described(w.catalog) == 0 {
		fmt.Fprintln(e.err, "tenon: there is no tool to serve")
		return errToolFailed
	}
	return failedIf(slices.ContainsFunc(w.catalog.Diagnostics(), func(f tenon.Diagnostic) bool { return f.Kind == tenon.DiagnosticSelector }))
}
