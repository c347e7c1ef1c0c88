package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

func flowmcpDoctorCommand(e env) *cobra.Command {
	sources := sourceFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor FILE|DIR",
		Short: "Say what keeps tools of schema files from being served, and what to do",
		Long: `Say what keeps tools of schema files from being served, and what to do: keys
that are not set, packages that are not bundled, lists that are not there. The number
behind each is how many tools that alone would bring: a tool that lacks two
things stands with both. What else is wrong is told once for all that is alike;
--verbose tells each.`,
		Args: exactly(1, "doctor needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			each := sources.verbose
			sources.verbose = true
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.close()
			all, err := standings(w, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.out, diagnosisOf(args[0], all, w.catalog.Diagnostics()))
			}
			fmt.Fprintf(e.out, "%d of %s are served, %s\n", served(all), count(len(all), "tool"), count(len(w.catalog.Prompts()), "prompt"))
			printGains(e.out, all)
			if each {
				printEach(e.out, w.catalog.Diagnostics())
				return nil
			}
			summarize(e.out, slices.DeleteFunc(slices.Clone(w.catalog.Diagnostics()), func(f tenon.Diagnostic) bool {
				return f.Kind == "key" || strings.HasPrefix(f.Kind, "library ") // it is told
			}))
			return nil
		},
	}
	sources.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every tool, what it lacks and what else is wrong as JSON")
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
		hopeless := slices.DeleteFunc(slices.Clone(s.Needs), flowmcp.Need.Given)
		switch _, do := s.Why(); {
		case s.Served:
		case len(hopeless) > 0:
			why, _ := flowmcp.Availability{Needs: hopeless}.Why()
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
