package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/server"
)

// maxArguments bounds the arguments read from standard input.
const maxArguments = 4 << 20

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
				return sources.showRequest(cmd.Context(), e, w, c)
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
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return sources.complete(cmd.Context(), e, args)
	}
	fs := cmd.Flags()
	fs.BoolVar(&dry, "dry-run", false, "print the request that would be sent, with the operator's values hidden, and send nothing")
	cmd.Flags().BoolVarP(&compact, "compact", "c", false, "print JSON on one line")
	cmd.Flags().BoolVar(&explained, "explain", false, "explain the verdict on standard error: whether the response matches its schema, and what was found")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result as sent by tools/call")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write an image, audio or other binary data to this file")
	return cmd
}

// complete proposes descriptions, then the tools of the one that was named,
// then the arguments of the tool.
func (f *sources) complete(ctx context.Context, e env, args []string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"json", "yaml", "yml", "mjs"}, cobra.ShellCompDirectiveFilterFileExt
	}
	w, err := f.connect(ctx, e, args[:1])
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
	if doc, err := rawjson.Parse(input); err == nil {
		props := doc.Get(doc.Root(), "properties")
		for n := doc.First(props); n != rawjson.None; n = doc.Next(n) {
			words = append(words, doc.Key(n)+"=")
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// readArguments makes the arguments object of a command line.
func readArguments(in io.Reader, tool *gateway.Tool, args []string) ([]byte, error) {
	if len(args) == 1 && args[0] == "-" {
		body, err := io.ReadAll(io.LimitReader(in, maxArguments+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxArguments {
			return nil, usagef("the arguments on standard input are larger than %d bytes", maxArguments)
		}
		return checkedObject(body)
	}
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		return checkedObject([]byte(args[0]))
	}
	input, _ := tool.Schemas()
	return pairs(input, args, tool.PublishedArgument)
}

func checkedObject(body []byte) ([]byte, error) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return nil, usagef("the arguments are not JSON: %v", err)
	}
	if doc.Kind(doc.Root()) != rawjson.Object {
		return nil, usagef("the arguments must be one JSON object")
	}
	return body, nil
}

// pairs reads key=value arguments by the types of the input schema. A key may
// lead into an object, as in body.name, and a member of the body may stand
// without it where no argument has its name. The description's own names, which
// published turns into those of the schema (nil: there are none), are taken as well.
func pairs(input []byte, args []string, published func(pointer string) string) ([]byte, error) {
	schema, err := rawjson.Parse(input)
	if err != nil {
		return nil, err
	}
	tree := &argument{at: schema.Root()}
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usagef("%q is no argument: use key=value, or one JSON object", arg)
		}
		raw := strings.HasSuffix(key, ":")
		key = strings.TrimSuffix(key, ":")
		if published != nil && !strings.ContainsAny(key, "/~") {
			key = strings.ReplaceAll(published("/" + strings.ReplaceAll(key, ".", "/"))[1:], "/", ".")
		}
		into, err := tree.find(schema, key)
		if err != nil {
			return nil, err
		}
		if into.members != nil {
			return nil, usagef("%s is given whole, and parts of it are given too", key)
		}
		value, err := readValue(typeOf(schema, into.at), key, text, raw)
		if err != nil {
			return nil, err
		}
		into.values = append(into.values, value)
	}
	return tree.append(nil, schema), nil
}

// appendValues writes the values of one key: several, and a single one for an
// argument that is a list, stand in a list.
func appendValues(out []byte, values [][]byte, types string) []byte {
	list := len(values) > 1 || types == "array" && values[0][0] != '['
	if !list {
		return append(out, values[0]...)
	}
	out = append(out, '[')
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// readValue reads the text of one value as JSON: strings need no quotes.
func readValue(kind, key, text string, raw bool) ([]byte, error) {
	isJSON := rawjson.Check([]byte(text)) == nil
	switch {
	case raw && !isJSON:
		return nil, usagef("%s:= wants JSON, and %q is none", key, text)
	case raw:
		return []byte(text), nil
	case kind == "string" || !isJSON:
		return rawjson.AppendString(nil, text), nil
	}
	return []byte(text), nil
}

// printer writes a result for a person or a pipe.
type printer struct {
	out, err io.Writer
	asJSON   bool
	compact  bool // JSON on one line
	file     string
	envelope tenon.Envelope
	quiet    bool // what breaks the contract is said elsewhere
	logged   bool // the log is printed
}

func (p printer) result(res *tenon.Result) error {
	if p.asJSON {
		if _, err := p.out.Write(append(server.AppendResult(nil, res), '\n')); err != nil {
			return err
		}
		return failedIf(res.IsError)
	}
	if res.IsError {
		return p.failed(res)
	}
	if !p.quiet {
		p.warn(res)
	}
	return p.data(res)
}

// failed says what went wrong, and prints what came of a stream before.
func (p printer) failed(res *tenon.Result) error {
	if len(res.Value) > 0 {
		if err := p.value(res.Value); err != nil {
			return err
		}
	}
	if p.envelope == tenon.FlowMCP {
		fmt.Fprintf(p.err, "tenon: %s\n", envelopeErrors(res))
		return errToolFailed
	}
	fmt.Fprintf(p.err, "tenon: %s\n", errorText(res))
	if !p.logged && (strings.Contains(res.Message, " in the log") || strings.Contains(res.Message, "see the server log")) {
		fmt.Fprintln(p.err, "  - --verbose prints the log")
	}
	return errToolFailed
}

func failedIf(failed bool) error {
	if failed {
		return errToolFailed
	}
	return nil
}

// data prints the answer itself: the member data or result of the structured
// content, or the text where there is none.
func (p printer) data(res *tenon.Result) error {
	for _, b := range res.Content {
		if b.Type != tenon.TextContent {
			return p.binary(b)
		}
	}
	if res.Structured == nil {
		for _, b := range res.Content {
			fmt.Fprintf(p.out, "%s\n", b.Text)
		}
		return nil
	}
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return err
	}
	n := doc.Get(doc.Root(), "data")
	if p.envelope != tenon.FlowMCP && (n == rawjson.None || doc.Get(doc.Root(), "OutputFormat") == rawjson.None) {
		n = doc.Root()
	}
	if doc.Kind(n) == rawjson.String {
		_, err := fmt.Fprintln(p.out, strings.TrimSuffix(doc.Str(n), "\n"))
		return err
	}
	return p.value(doc.Raw(n))
}

// value writes JSON.
func (p printer) value(raw []byte) error {
	text, err := rawjson.AppendCompact(nil, raw)
	if !p.compact {
		text, err = rawjson.AppendIndent(nil, raw, "  ")
	}
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(text, '\n'))
	return err
}

func (p printer) binary(b tenon.Content) error {
	if p.file == "" {
		_, err := fmt.Fprintf(p.out, "%s, %d bytes; --output FILE writes it to a file\n", b.MediaType, len(b.Data))
		return err
	}
	if err := atomicfile.Overwrite(p.file, b.Data); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.err, "tenon: wrote %d bytes of %s to %s\n", len(b.Data), b.MediaType, p.file)
	return err
}

// warn reports a violation that was delivered anyway.
func (p printer) warn(res *tenon.Result) {
	doc, err := rawjson.Parse(res.Meta)
	if err != nil {
		return
	}
	explainPart(p.err, "tenon: this is", doc)
	explainPages(p.err, "tenon: these are", doc)
	contract := doc.Get(doc.Root(), "tenon/contract")
	if doc.IsStr(doc.Get(contract, "verdict"), string(tenon.Repaired)) {
		explainFixes(p.err, "tenon: repaired", doc, doc.Get(contract, "repairs"))
		return
	}
	list := doc.Get(contract, "violations")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		where := doc.Str(doc.Get(n, "path"))
		if where == "" {
			where = "the answer"
		}
		fmt.Fprintf(p.err, "tenon: warning: the answer violates its schema: %s: expected %s, got %s\n",
			where, doc.Str(doc.Get(n, "expected")), doc.Str(doc.Get(n, "got")))
	}
}

// errorText is the message of a failed call, with what to do about it.
func errorText(res *tenon.Result) string {
	doc, err := rawjson.Parse(res.Structured)
	if err != nil {
		return blockText(res)
	}
	n := doc.Get(doc.Root(), "error")
	if n == rawjson.None {
		return blockText(res)
	}
	var b strings.Builder
	b.WriteString(doc.Str(doc.Get(n, "code")) + ": " + doc.Str(doc.Get(n, "message")))
	list := doc.Get(n, "suggestions")
	for s := doc.First(list); s != rawjson.None; s = doc.Next(s) {
		b.WriteString("\n  - " + doc.Str(s))
	}
	return b.String()
}

func blockText(res *tenon.Result) string {
	var b strings.Builder
	for _, block := range res.Content {
		if res.IsError && len(res.Value) > 0 && bytes.Equal(block.Text, res.Value) {
			continue // it is printed as data
		}
		if b.Len() > 0 && len(block.Text) > 0 {
			b.WriteByte('\n')
		}
		b.Write(block.Text)
	}
	return b.String()
}
