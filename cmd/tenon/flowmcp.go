package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/flowmcp/library"
)

func flowmcpCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flowmcp",
		Short: "Work with FlowMCP schema files",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(flowmcpCatalogCommands(e)...)
	cmd.AddCommand(flowmcpCheckCommand(e), flowmcpDocsCommand(e), flowmcpInferCommand(e), flowmcpLibsCommand(e))
	return cmd
}

func flowmcpCheckCommand(e env) *cobra.Command {
	o := flowmcp.Options{ImplicitParameters: true}
	var asJSON, all bool
	folders := app.NewConfig()
	cmd := &cobra.Command{
		Use:   "check FILE|DIR",
		Short: "Report where schema files deviate from the format",
		Long: `Check a schema file, or all files of a directory, against the rules of the
format. No code of the files is run. Files that a file refers to are looked up in
its library, even if only that file is checked.

Errors prevent a file or a tool from being served, warnings do not. By default
the rules are those that the public library follows; --strict follows the
format's pages to the letter. Exit 1 means that there are errors.`,
		Example: `  tenon flowmcp check providers/etherscan/contracts.mjs
  tenon flowmcp check --strict --all providers
  tenon flowmcp check --json providers`,
		Args: exactly(1, "check needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folders.Defaults.DataDirs(&o, e.app())
			reports, err := flowmcp.Check(cmd.Context(), args[0], o)
			if err != nil {
				return app.BadSource(args[0], err)
			}
			counted := countedReports(reports)
			if asJSON {
				if err := printJSON(e.out, counted); err != nil {
					return err
				}
			} else {
				printReports(e.out, counted, all)
			}
			return failedIf(slices.ContainsFunc(counted, func(r countedReport) bool { return r.Errors > 0 }))
		},
	}
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "follow the format's pages to the letter")
	cmd.Flags().StringVar(&o.ListsDir, "lists-dir", "", "directory of the shared lists (default: _lists or _shared above a file)")
	cmd.Flags().StringArrayVar(&o.Libraries, "allow-library", nil, "allow a library that is not part of the format (repeatable)")
	registerNamed(cmd, folders, "project-dir", "user-dir")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "include information, not only errors and warnings")
	return cmd
}

// printReports prints a line for each finding, and what became of each file.
func printReports(w io.Writer, reports []countedReport, all bool) {
	load, bad, warnings, infos := 0, 0, 0, 0
	for _, r := range reports {
		for _, f := range r.Findings {
			if all || f.Severity != flowmcp.Info {
				sep := ":"
				if f.Line == 0 {
					sep = ": "
				}
				fmt.Fprintf(w, "%s%s%s\n", r.File, sep, f)
			}
		}
		if r.Loads {
			load++
		}
		switch {
		case r.Loads && r.Kind != "":
			fmt.Fprintf(w, "%s: loads, the %s %s\n", r.File, r.Kind, r.Name)
		case r.Loads:
			fmt.Fprintf(w, "%s: loads, %s, schemaHash %s\n", r.File, toolCount(r.Report), r.Hash)
		default:
			fmt.Fprintf(w, "%s: does not load\n", r.File)
		}
		bad += r.Errors
		warnings += r.Warnings
		infos += r.Infos
	}
	verdict := "pass"
	if bad > 0 {
		verdict = "fail"
	}
	fmt.Fprintf(w, "%s: %d of %s, %s, %s, %d infos\n", verdict, load, count(len(reports), "file")+" load", count(bad, "error"), count(warnings, "warning"), infos)
}

func toolCount(r flowmcp.Report) string {
	handlers, broken := 0, 0
	for _, t := range r.Tools {
		if t.Handlers {
			handlers++
		}
		if !t.Loads {
			broken++
		}
	}
	text := count(len(r.Tools), "tool")
	if handlers > 0 {
		text += fmt.Sprintf(", %d of them with handlers", handlers)
	}
	if broken > 0 {
		text += fmt.Sprintf(", %d of them with errors", broken)
	}
	return text
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

// maxGainsShown is how many things are named that would serve more tools.
const maxGainsShown = 8

// printGains says what each thing that an operator can give would bring: first
// what serves most. Without each, things that serve little are counted.
func printGains(w io.Writer, all []flowmcp.Availability, each bool) {
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
	todo, rest := most(brings), []string(nil)
	if !each && len(todo) > maxGainsShown+1 {
		todo, rest = todo[:maxGainsShown], todo[maxGainsShown:]
	}
	for _, do := range todo {
		fmt.Fprintf(w, "%s: %s more\n", do, count(brings[do], "tool"))
	}
	if rest != nil {
		tools := 0
		for _, do := range rest {
			tools += brings[do]
		}
		fmt.Fprintf(w, "%d other things like these: %s more; --verbose names them\n", len(rest), count(tools, "tool"))
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

func flowmcpDocsCommand(e env) *cobra.Command {
	o := library.Options{ImplicitParameters: true}
	cmd := &cobra.Command{
		Use:   "docs FILE|DIR",
		Short: "Generate documentation of schema files in Markdown",
		Long: `Write the parameters and results of the tools in a schema file, or in all files
of a directory: tables of parameters and of members of the result, links to
documentation and license, and a call to try. No code of the files is run.`,
		Example: `  tenon flowmcp docs providers/etherscan/contracts.mjs > contracts.md`,
		Args:    exactly(1, "docs needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := library.Docs(cmd.Context(), e.out, args[0], o); err != nil {
				return app.BadSource(args[0], err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Lists, "lists-dir", "", "directory of the shared lists (default: _lists or _shared above a file)")
	return cmd
}
