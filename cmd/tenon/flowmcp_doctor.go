package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

func flowmcpDoctorCommand(e env) *cobra.Command {
	sources := newSources(slog.LevelInfo)
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor FILE|DIR",
		Short: "Show why tools of schema files are not served, and how to fix it",
		Long: `Show why tools of schema files are not served, and how to fix it: keys that are
not set, packages that are not bundled, missing lists. The number after each is
how many tools that alone would add; a tool that lacks two things is listed
under both. Other problems are grouped; --verbose lists each.`,
		Args: exactly(1, "doctor needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			each := sources.config.Verbose
			sources.config.Verbose = true
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.Close()
			all, err := standings(w, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.out, diagnosisOf(args[0], all, w.Gateway.Catalog().Diagnostics()))
			}
			fmt.Fprintf(e.out, "%d of %s are served, %s\n", served(all), count(len(all), "tool"), count(len(w.Gateway.Catalog().Prompts()), "prompt"))
			printGains(e.out, all)
			if each {
				printEach(e.out, w.Gateway.Catalog().Diagnostics())
				return nil
			}
			summarize(e.out, slices.DeleteFunc(slices.Clone(w.Gateway.Catalog().Diagnostics()), func(f tenon.Diagnostic) bool {
				return f.Kind == "key" || strings.HasPrefix(f.Kind, "library ") // it is told
			}))
			return nil
		},
	}
	sources.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all tools, what they lack and other problems as JSON")
	return cmd
}

func served(all []flowmcp.Availability) int {
	n := 0
	for _, s := range all {
		if s.Served {
			n++
		}
	}
	return n
}

// printGains says what each thing that an operator can give would bring: first
// what serves most.
func printGains(w io.Writer, all []flowmcp.Availability) {
	brings := map[string]int{}
	never := map[string]int{}
	for _, s := range all {
		hopeless := slices.DeleteFunc(slices.Clone(s.Needs), flowmcp.Need.ByOperator)
		switch _, do := s.Reason(); {
		case s.Served:
		case len(hopeless) > 0:
			why, _ := flowmcp.Availability{Needs: hopeless}.Reason()
			never[why]++
		default:
			brings[do]++
		}
	}
	most := func(n map[string]int) []string {
		return slices.SortedFunc(maps.Keys(n), func(a, b string) int {
			return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
		})
	}
	for _, do := range most(brings) {
		fmt.Fprintf(w, "%s: %s more\n", do, count(brings[do], "tool"))
	}
	for _, why := range most(never) {
		fmt.Fprintf(w, "not served: %s: %s\n", count(never[why], "tool"), why)
	}
}

func doing(what string) string {
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}
