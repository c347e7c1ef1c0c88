package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/typedecl"
)

func typesCommand(e env) *cobra.Command {
	from := typesOrigin{sources: unasked(onDemand(newSources(slog.LevelError)))}
	from.config.Defaults.MaxInputSchema, from.config.Defaults.MaxOutputSchema = -1, -1
	var lang, out string
	cmd := &cobra.Command{
		Use:   "types SPEC... | URL | --config FILE | --url URL | --command 'COMMAND' | --stdio -- COMMAND",
		Short: "Generate TypeScript or Python types of tools, and functions that call them",
		Long: `Write declarations of TypeScript or Python: for each tool its arguments, its data
and one function that calls it on any MCP server that has the tool. They come from
the schemas that responses are validated against, or from what a server lists: a URL
that is not a description is used as the URL of an MCP server.

Without --out the declarations of one source are printed. With --out a folder gets a
file for each source, and a small runtime that they import, which needs the official
package of MCP: @modelcontextprotocol/sdk for TypeScript, mcp for Python. The same
input gives the same bytes. docs/types.md tells what types say and what they cannot.`,
		Example: `  tenon types petstore.yaml
  tenon types --out src/tools github=github.json stripe=stripe.json
  tenon types --lang python --out tools --config tenon.yaml
  tenon types --out src/tools --url http://127.0.0.1:8080/mcp
  tenon types --command 'npx -y @modelcontextprotocol/server-everything'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := from.complete(args)
			if err != nil {
				return err
			}
			sets, err := from.read(cmd, e, args)
			if err != nil {
				return err
			}
			if out != "" {
				return writeTypes(e, out, lang, sets)
			}
			if len(sets) > 1 {
				return usagef("there are %d sources: --out DIR writes a file for each", len(sets))
			}
			_, err = e.out.Write(sets[0].text(lang))
			return err
		},
	}
	from.register(cmd)
	cmd.Flags().StringVar(&lang, "lang", typedecl.LanguageTypeScript, "ts or python")
	takes(cmd, "lang", typedecl.LanguageTypeScript, typedecl.LanguagePython)
	cmd.Flags().StringVarP(&out, "out", "o", "", "write a file for each source, and the runtime, to this folder")
	cmd.Flags().StringVar(&from.file, configFlag, "", "read sources and flags from this file, see docs/config.md")
	cmd.Flags().StringVar(&from.to.url, "url", "", "the MCP server at this URL; --header is sent to it")
	cmd.Flags().StringVar(&from.command, "command", "", "the MCP server that this command starts, with its arguments: 'npx -y some-server'")
	cmd.Flags().BoolVar(&from.to.stdio, "stdio", false, "the MCP server that the command after -- starts")
	cmd.Flags().StringArrayVar(&from.to.env, "env", nil, "pass this environment variable to the command, in addition to PATH, HOME and a few others (repeatable)")
	return cmd
}

// typedSource is a source and what is declared of it.
type typedSource struct {
	name string
	set  *typedecl.Set
}

func (s *typedSource) text(lang string) []byte {
	if lang == typedecl.LanguagePython {
		return s.set.Python(s.name)
	}
	return s.set.TypeScript(s.name)
}

// typesOrigin is where tools come from: descriptions or a server.
type typesOrigin struct {
	sources

	to      shellTarget
	file    string // of a config
	command string // of a server, with its arguments
}

// complete refuses what does not go together, and returns the arguments with the words
// of --command.
func (o *typesOrigin) complete(args []string) ([]string, error) {
	server := o.to.url != "" || o.to.stdio || o.command != ""
	switch {
	case len(args) == 0 && o.file == "" && o.to.url == "" && o.command == "":
		return nil, usagef("types needs a SPEC, a URL, --config FILE, --url URL, --command 'COMMAND', or --stdio -- COMMAND")
	case o.file != "" && server:
		return nil, usagef("--config names sources: it does not go with --url, --command or --stdio")
	case o.command == "":
		return args, nil
	case len(args) > 0 || o.to.url != "" || o.to.stdio:
		return nil, usagef("--command stands alone: no SPEC, no --url, no --stdio")
	}
	o.to.stdio = true
	return commandWords(o.command)
}

// read reads descriptions, or lists the tools of a server.
func (o *typesOrigin) read(cmd *cobra.Command, e env, args []string) ([]typedSource, error) {
	if o.to.url != "" || o.to.stdio {
		return o.listed(cmd.Context(), e, args)
	}
	o.config.AddSpec(args...)
	if o.file != "" {
		if err := o.config.AddFile(o.file, func(setting string) bool { return cmd.Flags().Changed(setting) }); err != nil {
			return nil, err
		}
	}
	o.config.ToolsMode = "list"
	w, noSpec := o.start(cmd.Context(), e)
	if noSpec == nil {
		defer w.Close()
		report(e.err, w, o.config.Verbose)
		return describedSets(e, w)
	}
	if o.file != "" {
		return nil, noSpec
	}
	if err := o.to.otherwise(cmd.Context(), &o.sources, args, noSpec); err != nil {
		return nil, err
	}
	return o.listed(cmd.Context(), e, nil)
}

// describedSets are the tools of descriptions, but for the built-in ones.
func describedSets(e env, w *app.App) (all []typedSource, err error) {
	for _, t := range w.Gateway.Catalog().Tools() {
		if t.BuiltIn() {
			continue
		}
		if i := len(all) - 1; i < 0 || all[i].name != t.Source() {
			all = append(all, typedSource{t.Source(), typedecl.NewSet(false)})
		}
		tool := t.Tool()
		d, err := t.Declared()
		if err != nil {
			fmt.Fprintf(e.err, "tenon: %s is left out: %v\n", t.Name(), err)
			continue
		}
		all[len(all)-1].set.Add(typedecl.Tool{
			Name: t.Name(), Title: tool.Title, Description: tool.Description, Input: d.Input, Data: d.Data, Within: d.Within,
			ReadOnly: tool.Annotations.ReadOnly != nil && *tool.Annotations.ReadOnly,
		})
	}
	if all == nil {
		return nil, fmt.Errorf("there are no tools to declare")
	}
	return all, nil
}

// listed are the tools that a server lists.
func (o *typesOrigin) listed(ctx context.Context, e env, args []string) ([]typedSource, error) {
	p, err := o.to.open(ctx, e, &o.sources, args)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(ctx, o.config.Defaults.Timeout)
	defer cancel()
	server, err := p.Initialize(ctx)
	if err != nil {
		return nil, o.to.failed(err)
	}
	tools, err := p.Tools(ctx)
	if err != nil {
		return nil, o.to.failed(err)
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("%s lists no tools", onlyPrinting(server.Name))
	}
	set := typedecl.NewSet(true)
	for _, t := range tools {
		one := typedecl.Tool{Name: t.Name, Title: t.Title, Description: t.Description, Input: t.InputSchema, Data: t.OutputSchema}
		one.Data, one.Within = unwrapped(t.OutputSchema)
		set.Add(one)
	}
	fmt.Fprintf(e.err, "tenon: %s %s, %s\n", onlyPrinting(server.Name), onlyPrinting(server.Version), count(len(tools), "tool"))
	return []typedSource{{server.Name, set}}, nil
}

// unwrapped takes off the object that servers put around what is not one:
// {"result": value}.
func unwrapped(output []byte) (data []byte, within string) {
	doc, err := rawjson.Parse(output)
	if err != nil {
		return output, ""
	}
	root := doc.Root()
	properties, required := doc.Get(root, "properties"), doc.Get(root, "required")
	result := doc.Get(properties, "result")
	if doc.Len(properties) != 1 || result == rawjson.None || doc.Len(required) != 1 || !doc.IsStr(doc.First(required), "result") {
		return output, ""
	}
	for m := doc.First(root); m != rawjson.None; m = doc.Next(m) {
		if !slices.Contains([]string{"type", "properties", "required", "title", "$defs", "$schema", "additionalProperties"}, doc.Key(m)) && !strings.HasPrefix(doc.Key(m), "x-") {
			return output, ""
		}
	}
	data = append([]byte(`{"allOf":[`), doc.Raw(result)...)
	data = append(data, ']')
	if defs := doc.Get(root, "$defs"); defs != rawjson.None {
		data = append(append(data, `,"$defs":`...), doc.Raw(defs)...)
	}
	return append(data, '}'), "result"
}

// writeTypes writes a file for each source, and the runtime beside them.
func writeTypes(e env, folder, lang string, sets []typedSource) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // source code for others to read
		return fmt.Errorf("--out %s cannot be made; name a folder that you may write to: %w", folder, err)
	}
	runtime, text := typedecl.Runtime(lang)
	taken := map[string]bool{strings.ToLower(runtime): true}
	if err := atomicfile.Overwrite(filepath.Join(folder, runtime), text); err != nil {
		return err
	}
	for _, s := range sets {
		name := typedecl.FileName(s.name, lang, func(name string) bool { return taken[strings.ToLower(name)] })
		taken[strings.ToLower(name)] = true
		if err := atomicfile.Overwrite(filepath.Join(folder, name), s.text(lang)); err != nil {
			return err
		}
		fmt.Fprintf(e.err, "tenon: %s: %s of %s\n", filepath.Join(folder, name), count(s.set.Len(), "tool"), onlyPrinting(s.name))
	}
	fmt.Fprintf(e.err, "tenon: %s: the runtime, which needs %s\n", filepath.Join(folder, runtime), typedecl.Requirement(lang))
	return nil
}
