package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/docgen"
	"github.com/tenon-mcp/tenon/openapi"
)

func docsCommand(e env) *cobra.Command {
	sources := onDemand(newSources(slog.LevelError))
	var format, output, title, pages string
	cmd := &cobra.Command{
		Use:   "docs SPEC...",
		Short: "Generate documentation of tools in Markdown or HTML",
		Long: `Write a section for each tool that serve would offer: what it does, tables of
its arguments and results, and an example call with its result. Values come from
examples in the description; missing ones are generated from the schema.

Tools are grouped by the first tag of their operation, or by namespace. The HTML
is one self-contained file with a search, whose script is the only one that its
policy allows. --pages writes an index and a page per group, for large
descriptions.`,
		Example: `  tenon docs petstore.yaml > petstore.md
  tenon docs --format html -o petstore.html petstore.yaml
  tenon docs --include tag:issues github.json
  tenon docs --format html --pages handbook github.json`,
		Args: atLeast(1, "docs needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case format != "markdown" && format != "html":
				return usagef("--format is markdown or html, not %q", format)
			case pages != "" && output != "":
				return usagef("--pages names a folder and --output a file: choose one")
			}
			sources.config.Describe = string(gateway.ToggleOn) // it makes the examples
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.Close()
			report(e.err, w, sources.config.Verbose)
			if title == "" {
				name, _ := app.SplitSpec(args[0])
				title = cmp.Or(w.Titles(), name)
			}
			m := docgen.New(w.Gateway.Catalog(), docgen.Options{Title: title, About: about(w, sources.config.Defaults.BaseURL), Spec: args[0], Example: example(cmd.Context(), w)})
			if pages != "" {
				return writePages(pages, m, format)
			}
			text := m.Markdown()
			if format == "html" {
				text = m.HTML()
			}
			if output != "" {
				return atomicfile.Overwrite(output, text)
			}
			_, err = e.out.Write(text)
			return err
		},
	}
	sources.register(cmd)
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown or html")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file")
	cmd.Flags().StringVar(&pages, "pages", "", "write an index and a page per group to this directory")
	cmd.Flags().StringVar(&title, "title", "", "title of the page (default: from the descriptions)")
	return cmd
}

// about says where the documents' operations are, and which credentials they
// demand.
func about(w *app.App, baseURL string) (all []string) {
	for _, s := range w.Sources() {
		api, ok := s.Source.(*openapi.Source)
		if !ok {
			continue
		}
		name := ""
		if len(w.Sources()) > 1 {
			name = s.Name + ": "
		}
		access := api.Access()
		if base := cmp.Or(baseURL, access.BaseURL); base != "" {
			all = append(all, name+"Base URL: `"+base+"`")
		}
		for _, c := range access.Credentials {
			all = append(all, name+"Credential: "+c)
		}
	}
	return all
}

// writePages writes the pages of a manual into a folder.
func writePages(folder string, m *docgen.Manual, format string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, p := range m.Pages(format) {
		if err := root.WriteFile(p.File, p.Text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// example asks the tool describe, which makes them.
func example(ctx context.Context, w *app.App) func(tool string) (input, output []byte, ok bool) {
	name := ""
	for _, t := range w.Gateway.Catalog().Tools() {
		if t.Source() == "" && strings.HasSuffix(t.Name(), "describe") {
			name = t.Name()
		}
	}
	return func(tool string) (input, output []byte, ok bool) {
		args, err := json.Marshal(map[string]string{"tool": tool})
		if err != nil {
			return nil, nil, false
		}
		res, err := w.Gateway.Call(ctx, &tenon.Call{Tool: name, Args: args, Subject: "owner"})
		if err != nil || res.IsError {
			return nil, nil, false
		}
		var said struct {
			Tools []struct {
				Examples []struct{ Input, Output json.RawMessage }
			}
		}
		if json.Unmarshal(res.Structured, &said) != nil || len(said.Tools) != 1 || len(said.Tools[0].Examples) == 0 {
			return nil, nil, false
		}
		one := said.Tools[0].Examples[0]
		return one.Input, one.Output, true
	}
}
