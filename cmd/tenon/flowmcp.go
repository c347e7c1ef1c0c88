package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func flowmcpCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flowmcp",
		Short: "Work with FlowMCP schema files",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(flowmcpCatalogCommands(e)...)
	cmd.AddCommand(flowmcpCheckCommand(e), flowmcpDocsCommand(e), flowmcpTestCommand(e), flowmcpInferCommand(e), flowmcpLibsCommand(e))
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
			if asJSON {
				if err := printJSON(e.out, countedReports(reports)); err != nil {
					return err
				}
			} else {
				printReports(e.out, reports, all)
			}
			for _, r := range reports {
				if errorsIn(r) > 0 {
					return errToolFailed // exit 1: the report is printed
				}
			}
			return nil
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

func errorsIn(r flowmcp.Report) int { return countOf(r, flowmcp.Fatal) }

func countOf(r flowmcp.Report, s flowmcp.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// printReports prints a line for each finding, and what became of each file.
func printReports(w io.Writer, reports []flowmcp.Report, all bool) {
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
			fmt.Fprintf(w, "%s: loads, %s, schemaHash %s\n", r.File, toolCount(r), r.Hash)
		default:
			fmt.Fprintf(w, "%s: does not load\n", r.File)
		}
		bad += errorsIn(r)
		warnings += countOf(r, flowmcp.Warning)
		infos += countOf(r, flowmcp.Info)
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

// findTool finds a tool by its name in the catalog or by the one that its
// description gives it.
func findTool(c *gateway.Catalog, name string) *gateway.Tool {
	if t := c.Find(name); t != nil {
		return t
	}
	var found []*gateway.Tool
	for _, t := range c.Tools() {
		if t.Tool().Original == name {
			found = append(found, t)
		}
	}
	if len(found) > 0 || !strings.Contains(name, "/") {
		if len(found) == 1 { // of several none is meant
			return found[0]
		}
		return nil
	}
	for _, t := range c.Tools() {
		doc, err := rawjson.Parse(t.Tool().Meta)
		if err == nil && flowmcp.MatchesID(name, doc.Str(doc.Get(doc.Root(), "flowmcp/id"))) {
			return t
		}
	}
	return nil
}

// envelopeErrors are the messages of a failed call in the envelope flowmcp.
func envelopeErrors(res *tenon.Result) string {
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return blockText(res)
	}
	var all []string
	list := doc.Get(doc.Root(), "messages")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		all = append(all, doc.Str(n))
	}
	return strings.Join(all, "\n")
}

// notServed says why a tool cannot be called: it is in a schema file and is not
// served, or there is none of that name.
func notServed(w *app.App, name string) error {
	for _, source := range w.Sources() {
		s, ok := source.Source.(*flowmcp.Source)
		if !ok {
			continue
		}
		for _, t := range s.Availability() {
			if t.Served || t.Name != name && !flowmcp.MatchesID(name, t.ID) && !strings.HasSuffix(t.ID, "::"+name) {
				continue
			}
			why, do := t.Reason()
			return &tenon.Error{Code: tenon.CodeRequest, Message: "the tool " + t.Name + " is not served: " + why + doing(do)}
		}
	}
	return unknownTool(w.Gateway.Catalog(), name)
}
