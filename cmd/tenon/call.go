package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const callHelp = `Call one tool and print its result.

Arguments are key=value pairs, one JSON object, or - for a JSON object on
standard input. The tool's schema decides how a value is read; key:=value is
always JSON. A key given several times is a list. A key can lead into an object
(body.name=Tom), and a member of the body can be given without it (name=Tom) if
no argument has that name.

The data of the result is printed to standard output: JSON indented, text as it
is. A result that arrives in parts, such as a stream, is printed as one value as
it arrives; if a part is missing, the command fails. Schema violations are
reported on standard error.`

func callCommand(e env) *cobra.Command {
	sources := typedCall(newSources(slog.LevelError)) // what goes wrong is printed
	var asJSON, compact, explained, dry bool
	var output string
	cmd := &cobra.Command{
		Use:   "call SPEC TOOL [key=value... | '{json}' | -]",
		Short: "Call one tool and print its result",
		Long:  callHelp,
		Example: `  tenon call petstore.yaml getPetById petId=7
  tenon call petstore.yaml findPets tags=cat tags=small limit=5
  tenon call petstore.yaml addPet '{"body":{"name":"Tom"}}'`,
		Args: atLeast(2, "call needs a SPEC and a TOOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sources.dry = dry
			w, err := sources.connect(cmd.Context(), e, args[:1])
			if err != nil {
				return err
			}
			defer w.Close()
			tool := findTool(w.Gateway.Catalog(), args[1])
			if tool == nil {
				return notServed(w, args[1])
			}
			arguments, err := readArguments(e.in, tool, args[2:])
			if err != nil {
				return err
			}
			c := &tenon.Call{Tool: tool.Name(), Args: arguments, Subject: "owner"}
			if dry {
				return sources.showRequest(cmd.Context(), e, w, c, tool.Tool().Envelope)
			}
			res, err := w.Gateway.Call(cmd.Context(), c)
			if err != nil {
				return err
			}
			p := printer{out: e.out, err: e.err, asJSON: asJSON, compact: compact, file: output, envelope: tool.Tool().Envelope, quiet: explained, logged: sources.config.Verbose}
			res, err = p.follow(res, func(args []byte) (*tenon.Result, error) {
				return w.Gateway.Call(cmd.Context(), &tenon.Call{Tool: tool.Name(), Args: args, Subject: "owner"})
			})
			if explained {
				explain(e.err, tool.Tool(), res)
			}
			return err
		},
	}
	sources.register(cmd)
	registerNamed(cmd, sources.config, "record", "record-redact", "replay")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return sources.complete(cmd.Context(), e, args)
	}
	fs := cmd.Flags()
	fs.BoolVar(&dry, "dry-run", false, "print the request that would be sent, with the operator's values hidden, and send nothing")
	fs.BoolVarP(&compact, "compact", "c", false, "print JSON on one line")
	fs.BoolVar(&explained, "explain", false, "explain the verdict on standard error: whether the response matches its schema, and what was found")
	fs.BoolVar(&asJSON, "json", false, "print the whole result as sent by tools/call")
	fs.StringVarP(&output, "output", "o", "", "write an image, audio or other binary data to this file")
	return cmd
}

// complete proposes descriptions, then the tools of the one that was named,
// then the arguments of the tool.
func (s *sources) complete(ctx context.Context, e env, args []string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"json", "yaml", "yml", "mjs"}, cobra.ShellCompDirectiveFilterFileExt
	}
	w, err := s.connect(ctx, e, args[:1])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer w.Close()
	var words []string
	if len(args) == 1 {
		for _, t := range w.Gateway.Catalog().Tools() {
			words = append(words, t.Name()+"\t"+summary(t.Tool()))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	tool := findTool(w.Gateway.Catalog(), args[1])
	if tool == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	input, _ := tool.Schemas()
	return argumentWords(input), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
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

// dryRun stands in the place of the network: it prints requests and sends
// none. Values that the operator gave are not printed.
type dryRun struct {
	out    io.Writer
	hidden map[string]bool // headers with such a value, canonical names
	asked  bool
}

var errDryRun = errors.New("not sent: this is a dry run")

func newDryRun(out io.Writer, operator []string) *dryRun {
	d := &dryRun{out: out, hidden: map[string]bool{"Authorization": true, "Cookie": true}}
	for _, h := range operator {
		name, _, _ := strings.Cut(h, ":")
		d.hidden[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
	}
	return d
}

// showRequest makes a call whose request is printed. The description was read
// by then, so nothing else needs the network.
func (s *sources) showRequest(ctx context.Context, e env, w *app.App, c *tenon.Call, envelope tenon.Envelope) error {
	d := newDryRun(e.out, s.config.Defaults.Header)
	w.Intercept(d)
	res, err := w.Gateway.Call(ctx, c)
	switch {
	case err != nil:
		return err
	case d.asked:
		return nil
	case res.IsError:
		return (printer{out: e.out, err: e.err, envelope: envelope}).result(res)
	}
	fmt.Fprintln(e.err, "tenon: this tool sends no request")
	return nil
}

// RoundTrip prints r as it would be sent.
func (d *dryRun) RoundTrip(r *http.Request) (*http.Response, error) {
	d.asked = true
	fmt.Fprintf(d.out, "%s %s\n", r.Method, r.URL.Redacted())
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		value := strings.Join(r.Header[name], ", ")
		if d.hidden[name] {
			value = "(hidden)"
		}
		fmt.Fprintf(d.out, "%s: %s\n", name, value)
	}
	if r.Body != nil {
		defer r.Body.Close()
		body, err := io.ReadAll(io.LimitReader(r.Body, maxArguments))
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			fmt.Fprintf(d.out, "\n%s\n", body)
		}
	}
	return nil, errDryRun
}
