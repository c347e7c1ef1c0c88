package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

func flowmcpCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flowmcp",
		Short: "Look at FlowMCP schema files",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(flowmcpCatalogCommands(e)...)
	cmd.AddCommand(flowmcpCheckCommand(e), flowmcpDocsCommand(e), flowmcpTestCommand(e), flowmcpInferCommand(e), flowmcpLibsCommand(e))
	return cmd
}

func flowmcpCheckCommand(e env) *cobra.Command {
	o := flowmcp.Options{CallerMarks: true}
	var asJSON, all bool
	var folders folderFlags
	cmd := &cobra.Command{
		Use:   "check FILE|DIR",
		Short: "Report where schema files deviate from the format",
		Long: `Check a schema file, or every one in a folder, against the rules of the format.
Nothing in the files is run. What a file names is looked for in the library that
it stands in, also when only that file is checked.

Errors keep a file or a tool from being served, warnings do not. By default the
rules are those that the public library keeps; --strict keeps the letter of the
format's pages. Exit 1 means that there are errors.`,
		Example: `  tenon flowmcp check providers/etherscan/contracts.mjs
  tenon flowmcp check --strict --all providers
  tenon flowmcp check --json providers`,
		Args: exactly(1, "check needs one FILE or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folders.apply(&o, e)
			reports, err := flowmcp.Check(cmd.Context(), args[0], o)
			if err != nil {
				return badSource(args[0], err)
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
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "keep the letter of the format's pages")
	cmd.Flags().StringVar(&o.Lists, "lists", "", "folder of the shared lists (default: _lists or _shared above a file)")
	cmd.Flags().StringArrayVar(&o.Libraries, "allow-library", nil, "allow a library beside those of the format (repeatable)")
	folders.registerData(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "print information too, not only errors and warnings")
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

// isSchemaFile reports whether a SPEC is a FlowMCP schema file or a folder of
// them.
func isSchemaFile(spec string) bool {
	if filepath.Ext(spec) == ".mjs" {
		return true
	}
	info, err := os.Stat(spec)
	return err == nil && info.IsDir()
}

// source is the source for a SPEC: what differs between the kinds is known
// here alone.
func (f *sourceFlags) source(where string, o openapi.Options, e env, rules *openapi.Selector) (tenon.Source, error) {
	switch {
	case isApp(where):
		return f.app(where, o, e)
	case !isSchemaFile(where):
		return openapi.New(where, o), nil
	}
	options := flowmcp.Options{
		Client: o.Client, Env: e.getenv, BaseURL: o.BaseURL, Policy: o.Policy, Shape: o.Shape, TrustMarks: o.TrustMarks,
		MaxInputSchema: o.MaxInputSchema, MaxOutputSchema: o.MaxOutputSchema, Timeout: o.Timeout,
		AuthOrigins: f.auth.origins,
	}
	if rules != nil {
		options.Takes = func(method, path string, names, tags []string) bool {
			return rules.Takes(openapi.Subject{Method: method, Path: path, IDs: names, Tags: tags})
		}
	}
	f.handlers.apply(&options, e)
	return flowmcp.New(where, options), nil
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

// envelopeErrors are the messages of a failed call in the flowmcp shape.
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
func notServed(w *wire, name string) error {
	for _, source := range w.open {
		s, ok := source.(*flowmcp.Source)
		if !ok {
			continue
		}
		for _, t := range s.Standings() {
			if t.Served || t.Name != name && !flowmcp.MatchesID(name, t.ID) && !strings.HasSuffix(t.ID, "::"+name) {
				continue
			}
			why, do := t.Why()
			return &tenon.Error{Code: tenon.CodeRequest, Message: "the tool " + t.Name + " is not served: " + why + doing(do)}
		}
	}
	return unknownTool(w.catalog, name)
}
