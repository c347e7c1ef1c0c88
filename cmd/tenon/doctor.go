package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/clients"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

func doctorCommand(e env) *cobra.Command {
	d := doctor{sources: unasked(onDemand(newSources(slog.LevelError))), now: time.Now}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor SPEC... | CONFIG | URL | --command 'COMMAND ARG...'",
		Short: "Show what MCP clients and model APIs make of tools, and how to fix it",
		Long: `Hold a list of tools against what is known of MCP clients and model APIs: which
tools will not load, what the model will not see, and about how many tokens the
list costs. The list is that of serve, or that of any MCP server: a URL that is not
a description is used as the URL of a server. Of schema files it also says why
tools are not served. Without arguments tenon.yaml is examined.

Products are examined by default, with --client one client or API, with --all
every one that is known. docs/clients.md lists them, and every rule with its source.

Exit 1: a client cannot use a tool, or none at all. Exit 3: a description cannot be
read. The most frequent causes come first; --verbose names every tool.`,
		Example: `  tenon doctor petstore.yaml
  tenon doctor --client gemini-api --json github.json
  tenon doctor --command 'npx -y @modelcontextprotocol/server-everything'
  tenon doctor --all https://mcp.example.com/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := d.chosen()
			if err != nil {
				return err
			}
			found, err := d.read(cmd, e, args)
			if err != nil {
				return err
			}
			rep := clients.Known().Examine(&found.list, asked, d.now())
			out := examination{found, rep, d.config.Verbose}
			if asJSON {
				err = printJSON(e.out, out.json())
			} else {
				err = out.print(e.out)
			}
			if err != nil {
				return err
			}
			return failedIf(slices.ContainsFunc(rep.Verdicts, func(v clients.Verdict) bool { return v.Fails() }))
		},
	}
	d.register(cmd)
	cmd.Flags().StringArrayVar(&d.names, "client", nil, "examine for this client or API; docs/clients.md lists them (repeatable)")
	cmd.Flags().BoolVar(&d.all, "all", false, "examine for every client and API that is known")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all findings with all tools as JSON")
	cmd.Flags().StringVar(&d.file, configFlag, "", "read sources and flags from this file, see docs/config.md")
	cmd.Flags().StringVar(&d.to.url, "url", "", "the MCP server at this URL; --header is sent to it")
	cmd.Flags().StringVar(&d.command, "command", "", "the MCP server that this command starts; words are separated by spaces, quotes keep them together")
	cmd.Flags().StringArrayVar(&d.to.env, "env", nil, "pass this environment variable to the command, in addition to PATH, HOME and a few others (repeatable)")
	cmd.MarkFlagsMutuallyExclusive("client", "all")
	return cmd
}

// doctor is what is examined, and for whom.
type doctor struct {
	sources

	to      shellTarget
	file    string // of a config
	command string
	names   []string // of clients
	all     bool
	now     func() time.Time
}

// examined is a list of tools, and where it comes from.
type examined struct {
	list   clients.List
	what   string
	ours   bool // flags change it
	schema *diagnosis
	gains  func(*examination) error // of schema files
}

// chosen are the clients that are asked about.
func (d *doctor) chosen() (all []*clients.Client, err error) {
	data := clients.Known()
	var ids []string
	for i := range data.Clients {
		c := &data.Clients[i]
		ids = append(ids, c.ID)
		if d.all || d.names == nil && (c.Kind == "product" || c.ID == "mcp") {
			all = append(all, c)
		}
	}
	for _, name := range d.names {
		c := data.Client(name)
		if c == nil {
			near := suggest.Near(name, ids, maxSuggested)
			if near == nil {
				return nil, usagef("--client: there is no client %q; they are %s", name, strings.Join(ids, ", "))
			}
			return nil, usagef("--client: there is no client %q%s", name, suggest.Question(near))
		}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all, nil
}

// read gets the list of what the command line names.
func (d *doctor) read(cmd *cobra.Command, e env, args []string) (*examined, error) {
	ways := 0
	for _, given := range []bool{len(args) > 0, d.to.url != "", d.command != "", d.file != ""} {
		if given {
			ways++
		}
	}
	if _, err := os.Stat(defaultConfig); ways == 0 && err == nil {
		d.file, ways = defaultConfig, 1
	}
	switch {
	case ways == 0:
		return nil, usagef("doctor needs a SPEC, a config, the URL of an MCP server, or --command")
	case d.to.url != "" && ways > 1:
		return nil, usagef("--url stands alone: no SPEC, no --config, no --command")
	case d.command != "" && ways > 1:
		return nil, usagef("--command stands alone: no SPEC, no --config")
	case d.command != "":
		words, err := splitCommand(d.command)
		if err != nil {
			return nil, err
		}
		d.to.stdio = true
		return d.foreign(cmd.Context(), e, words, words[0])
	case d.to.url != "":
		return d.foreign(cmd.Context(), e, nil, d.to.url)
	}
	return d.own(cmd, e, args)
}

// own is the list of descriptions, or of a server where the only SPEC is one.
func (d *doctor) own(cmd *cobra.Command, e env, args []string) (*examined, error) {
	if d.file == "" && len(args) == 1 && isConfig(args[0]) {
		d.file, args = args[0], nil
	}
	d.config.AddSpec(args...)
	if d.file != "" {
		if err := d.config.AddFile(d.file, func(setting string) bool { return cmd.Flags().Changed(setting) }); err != nil {
			return nil, err
		}
	}
	each := d.config.Verbose
	d.config.Verbose = true // warnings are counted below
	w, noSpec := d.start(cmd.Context(), e)
	d.config.Verbose = each
	if noSpec != nil {
		if d.file != "" {
			return nil, noSpec
		}
		if err := d.to.otherwise(cmd.Context(), &d.sources, args, noSpec); err != nil {
			return nil, err
		}
		return d.foreign(cmd.Context(), e, nil, d.to.url)
	}
	found := &examined{what: d.file, ours: true}
	name := "tenon"
	if len(args) > 0 {
		name, _ = app.SplitSpec(args[0])
		found.what = app.ShownSpec(args[0])
	}
	if schemaSource(w) != nil {
		all, err := standings(w, found.what)
		if err != nil {
			w.Close()
			return nil, err
		}
		diagnostics := w.Gateway.Catalog().Diagnostics()
		one := diagnosisOf(found.what, all, diagnostics)
		found.schema = &one
		found.gains = availabilityOf(e, all, len(w.Gateway.Catalog().Prompts()), diagnostics)
	}
	c := within(cmd.Context(), w)
	defer c.Close()
	return found, found.ask(cmd.Context(), c, name, nil)
}

// isConfig reports whether a SPEC is a config in truth.
func isConfig(spec string) bool {
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(spec)) {
		return false
	}
	return app.NewConfig().AddFile(spec, nil) == nil
}

// foreign is the list of any MCP server.
func (d *doctor) foreign(ctx context.Context, e env, command []string, what string) (*examined, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Defaults.Timeout)
	defer cancel()
	c, err := d.to.open(ctx, e, &d.sources, command)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found := &examined{what: app.ShownSpec(what)}
	if err := found.ask(ctx, c, "", &d.to); err != nil {
		return nil, err
	}
	return found, nil
}

// ask lists the tools of a server. name is what its users would call it.
func (x *examined) ask(ctx context.Context, c *mcpclient.Client, name string, target *shellTarget) error {
	failed := func(err error) error {
		if target != nil {
			return target.failed(err)
		}
		return err
	}
	server, err := c.Initialize(ctx)
	if err != nil {
		return failed(err)
	}
	if name == "" {
		name = server.Name
	}
	x.list.Server, x.list.Instructions = clients.ServerName(name), server.Instructions
	for page, err := range c.Pages(ctx) {
		if err != nil {
			return failed(err)
		}
		x.list.Pages++
		for _, t := range page {
			x.list.Tools = append(x.list.Tools, clients.Tool{
				Name: t.Name, Title: t.Title, Description: t.Description, Input: notNull(t.InputSchema), Output: notNull(t.OutputSchema), Size: t.Size,
			})
		}
	}
	return nil
}

// notNull is a member that is there.
func notNull(text []byte) []byte {
	if string(text) == "null" {
		return nil
	}
	return text
}

// splitCommand splits a command at its spaces. Quotes keep words together, and a
// backslash outside of single quotes makes the next character an ordinary one.
// No shell reads it: there are no variables, no pipes.
func splitCommand(text string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	escaped, begun := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, usagef("--command: a quote is not closed, or a backslash is the last character")
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, usagef("--command names no command")
	}
	return words, nil
}

// thousands is a number that people read.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
