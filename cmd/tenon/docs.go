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
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/docgen"
	"github.com/tenon-mcp/tenon/openapi"
)

func docsCommand(e env) *cobra.Command {
	sources := sourceFlags{level: slog.LevelError, apps: appFlags{onDemand: true}}
	var format, output, title, pages string
	cmd := &cobra.Command{
		Use:   "docs SPEC...",
		Short: "Write documentation of a description's tools: Markdown or HTML",
		Long: `Write a chapter for each tool that serve would offer: what it does, tables of
its arguments and of its answers, and an example call with an answer. Values
come from the description where it has some, else they are made from the schema.

Tools stand below the first tags of their operations, or their namespaces. The
HTML needs no other file; it has a search, whose script is the only one that its
policy lets run. --pages writes a page for each group and an index, for large
descriptions.`,
		Example: `  tenon docs petstore.yaml > petstore.md
  tenon docs --format html -o petstore.html petstore.yaml
  tenon docs --only tag:issues github.json
  tenon docs --format html --pages handbook github.json`,
		Args: atLeast(1, "docs needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case format != "markdown" && format != "html":
				return usagef("--format is markdown or html, not %q", format)
			case pages != "" && output != "":
				return usagef("--pages names a folder and --output a file: choose one")
			}
			sources.describe = string(gateway.ToggleOn) // it makes the examples
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.close()
			sources.report(e.err, w.gateway.Catalog())
			if title == "" {
				name, _ := splitSpec(args[0])
				title = cmp.Or(w.titles(), name)
			}
			m := docgen.New(w.gateway.Catalog(), docgen.Options{Title: title, About: w.about(sources.baseURL), Spec: args[0], Example: w.example(cmd.Context())})
			if pages != "" {
				return writePages(pages, m, format)
			}
			text := m.Markdown()
			if format == "html" {
				if text, err = m.HTML(); err != nil {
					return err
				}
			}
			if output != "" {
				return writeWhole(output, text)
			}
			_, err = e.out.Write(text)
			return err
		},
	}
	sources.register(cmd)
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown or html")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file")
	cmd.Flags().StringVar(&pages, "pages", "", "write an index and a page for each group to this folder")
	cmd.Flags().StringVar(&title, "title", "", "title of the page (default: what the descriptions call themselves)")
	return cmd
}

// about says where the documents' operations are, and which credentials they
// demand.
func (w *wire) about(baseURL string) (all []string) {
	for _, s := range w.sources {
		api, ok := s.source.(*openapi.Source)
		if !ok {
			continue
		}
		name := ""
		if len(w.sources) > 1 {
			name = s.name + ": "
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
	pages, err := m.Pages(format)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, p := range pages {
		if err := root.WriteFile(p.File, p.Text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// example asks the tool describe, which makes them.
func (w *wire) example(ctx context.Context) func(tool string) (input, output []byte, ok bool) {
	name := ""
	for _, t := range w.gateway.Catalog().Tools() {
		if t.Source() == "" && strings.HasSuffix(t.Name(), "describe") {
			name = t.Name()
		}
	}
	return func(tool string) (input, output []byte, ok bool) {
		args, err := json.Marshal(map[string]string{"tool": tool})
		if err != nil {
			return nil, nil, false
		}
		res, err := w.gateway.Call(ctx, &tenon.Call{Tool: name, Args: args, Subject: "owner"})
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
