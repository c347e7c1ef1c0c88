package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

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
No port is opened and no worker is started; descriptions in the web are read.
Without SPEC and --config it is tenon.yaml that is checked.

Exit 2 means that the config or a flag is wrong, exit 3 that a description
cannot be read. What is left out or changed of a description is a warning.`,
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
			s.printCheck(e, w)
			return nil
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&asSchema, "config-schema", false, "print the JSON Schema of configs, for editors, and check nothing")
	return cmd
}

func (s *serving) printCheck(e env, w *wire) {
	if s.config != "" {
		fmt.Fprintf(e.out, "%s: %s\n", s.config, count(len(w.sources), "source"))
	}
	warnings := map[string]int{}
	for _, t := range w.catalog.Tools() {
		warnings[t.Source()] += len(t.Faults())
	}
	for _, source := range w.sources {
		n := len(source.offer.Faults) + warnings[source.name]
		fmt.Fprintf(e.out, "%s: %s, %s (%s)\n", source.name, count(len(source.offer.Tools), "tool"), count(n, "warning"), shownSpec(source.where))
	}
	for _, f := range w.catalog.Faults() {
		fmt.Fprintf(e.out, "  %s\n", f)
	}
	printSchemaFaults(e.out, w.catalog)
}
