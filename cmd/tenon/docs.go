package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/manual"
)

func docsCommand(e env) *cobra.Command {
	sources := sourceFlags{level: slog.LevelError, apps: appFlags{onDemand: true}}
	var format, output, title string
	cmd := &cobra.Command{
		Use:   "docs SPEC...",
		Short: "Write documentation of a description's tools: Markdown or HTML",
		Long: `Write a chapter for each tool that serve would offer: what it does, tables of
its arguments and of its answers, and an example call with an answer. Values
come from the description where it has some, else they are made from the schema.

The HTML is one page without scripts that needs no other file.`,
		Example: `  tenon docs petstore.yaml > petstore.md
  tenon docs --format html -o petstore.html petstore.yaml
  tenon docs --only tag:issues github.json`,
		Args: atLeast(1, "docs needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "markdown" && format != "html" {
				return usagef("--format is markdown or html, not %q", format)
			}
			sources.describe = string(tenon.BuiltInOn) // it makes the examples
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.close()
			sources.report(e.err, w.gateway.Catalog())
			if title == "" {
				title, _ = splitSpec(args[0])
			}
			m := manual.New(w.gateway.Catalog(), manual.Options{Title: title, Spec: args[0], Example: w.example(cmd.Context())})
			text := m.Markdown()
			if format == "html" {
				if text, err = m.HTML(); err != nil {
					return err
				}
			}
			if output != "" {
				return os.WriteFile(output, text, 0o600)
			}
			_, err = e.out.Write(text)
			return err
		},
	}
	sources.register(cmd)
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown or html")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file")
	cmd.Flags().StringVar(&title, "title", "", "title of the page (default: the name of the description)")
	return cmd
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
