package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

func toolsCommand(e env) *cobra.Command {
	sources := onDemand(newSources(slog.LevelError)) // what goes wrong is printed
	var asJSON bool
	var one string
	cmd := &cobra.Command{
		Use:   "tools SPEC...",
		Short: "Print the tools of descriptions",
		Long: `Print the tools that serve would offer: a table, with --json the exact tools of
tools/list, with --schema TOOL the full schemas of one tool.

An asterisk marks required arguments.`,
		Example: `  tenon tools petstore.yaml
  tenon tools --json petstore.yaml
  tenon tools --schema getPetById petstore.yaml`,
		Args: atLeast(1, "tools needs at least one SPEC: a file or an https URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := sources.connect(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			defer w.Close()
			switch {
			case one != "":
				return printSchemas(e.out, w.Gateway.Catalog(), one)
			case asJSON:
				return printList(e.out, w.Gateway.Catalog())
			}
			if err := printTable(e.out, w.Gateway.Catalog()); err != nil {
				return err
			}
			report(e.err, w, sources.config.Verbose)
			if sources.config.Verbose {
				printSchemaProblems(e.err, w.Gateway.Catalog())
			}
			return nil
		},
	}
	sources.keepsEvidence = true // it is read
	sources.register(cmd)
	registerNamed(cmd, sources.config, "evidence", "evidence-in-meta")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print exactly what tools/list sends, all pages as one")
	cmd.Flags().StringVar(&one, "schema", "", "print the full input and output schemas of this tool")
	cmd.MarkFlagsMutuallyExclusive("json", "schema")
	return cmd
}

// printList prints the catalog as one tools/list result.
func printList(w io.Writer, c *gateway.Catalog) error {
	out := []byte(`{"tools":[`)
	for i, t := range c.Tools() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, t.Definition()...)
	}
	_, err := w.Write(append(out, "]}\n"...))
	return err
}

func printTable(w io.Writer, c *gateway.Catalog) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	renamed := slices.ContainsFunc(c.Tools(), func(t *gateway.Tool) bool { return originalOf(t) != "" })
	head, form := "TOOL\tARGUMENTS\tANSWER\tSUMMARY\n", "%s\t%s\t%s\t%s\n"
	if renamed { // the names of descriptions stand beside those that are served
		head, form = "TOOL\tARGUMENTS\tANSWER\tSUMMARY\tORIGINAL\n", "%s\t%s\t%s\t%s\t%s\n"
	}
	fmt.Fprint(tw, head)
	for _, t := range c.Tools() {
		input, _ := t.Schemas()
		row := []any{t.Name(), onlyPrinting(arguments(input)), answers(t), onlyPrinting(summary(t.Tool()))}
		if renamed {
			row = append(row, onlyPrinting(originalOf(t)))
		}
		fmt.Fprintf(tw, form, row...)
	}
	return tw.Flush()
}

// onlyPrinting is a text of a description without what acts on a terminal instead
// of being shown by it.
func onlyPrinting(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

// originalOf is what the description calls a tool, where that is another name.
func originalOf(t *gateway.Tool) string {
	if name := t.Tool().Original; name != t.Name() {
		return name
	}
	return ""
}

func printSchemaProblems(w io.Writer, c *gateway.Catalog) {
	for _, t := range c.Tools() {
		for _, f := range t.Diagnostics() {
			fmt.Fprintf(w, "  %s\n", f)
		}
	}
}

// arguments lists the properties of an input schema, required ones first and
// marked.
func arguments(input []byte) string {
	const shown = 5
	doc, err := rawjson.Parse(input)
	if err != nil {
		return ""
	}
	required := map[string]bool{}
	list := doc.Get(doc.Root(), "required")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		required[doc.Str(n)] = true
	}
	var names, optional []string
	props := doc.Get(doc.Root(), "properties")
	for n := doc.First(props); n != rawjson.None; n = doc.Next(n) {
		if name := doc.Key(n); required[name] {
			names = append(names, name+"*")
		} else {
			optional = append(optional, name)
		}
	}
	names = append(names, optional...)
	if len(names) > shown {
		return strings.Join(names[:shown], " ") + fmt.Sprintf(" +%d", len(names)-shown)
	}
	return strings.Join(names, " ")
}

// answers says what the successes of a tool are.
func answers(t *gateway.Tool) string {
	provider := t.Tool().Contract
	if provider == nil {
		return "-"
	}
	contract, err := provider.Contract()
	if err != nil {
		return "-"
	}
	var kinds []string
	for _, v := range contract.Responses {
		if !strings.HasPrefix(v.Status, "2") && v.Status != "" && v.Status != "default" {
			continue
		}
		kind := v.MediaType
		switch {
		case v.Open:
			kind = "anything"
		case v.MediaType == "":
			kind = "empty"
		case v.Schema != nil:
			kind = rootType(v.Schema)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	const shown = 3
	switch {
	case kinds == nil:
		return "-"
	case len(kinds) > shown:
		return strings.Join(kinds[:shown], " ") + fmt.Sprintf(" +%d", len(kinds)-shown)
	}
	return strings.Join(kinds, " ")
}

// rootType is the type of what a schema is about; any: it does not say.
func rootType(doc []byte) string {
	d, err := rawjson.Parse(doc)
	if err != nil {
		return "any"
	}
	return typeAt(d, d.Root(), 0)
}

// typeAt looks for the type in the schema itself, in what it refers to and in
// what it is made of. One that speaks of properties or items but names no type
// is written for objects or arrays.
func typeAt(d *rawjson.Doc, n rawjson.Node, depth int) string {
	const deepest = 8
	kind := d.Get(n, "type")
	if d.Kind(kind) == rawjson.Array {
		kind = d.First(kind)
	}
	ref := d.Str(d.Get(n, "$ref"))
	switch {
	case d.Str(kind) != "":
		return d.Str(kind)
	case depth > deepest:
		return "any"
	case strings.HasPrefix(ref, "#"):
		return typeAt(d, d.Pointer(ref[1:]), depth+1)
	case d.Get(n, "properties") != rawjson.None:
		return "object"
	case d.Get(n, "items") != rawjson.None:
		return "array"
	}
	for _, of := range []string{"allOf", "anyOf", "oneOf"} {
		for m := d.First(d.Get(n, of)); m != rawjson.None; m = d.Next(m) {
			if t := typeAt(d, m, depth+1); t != "any" {
				return t
			}
		}
	}
	return "any"
}

func summary(t tenon.Tool) string {
	text := t.Title
	if text == "" {
		text, _, _ = strings.Cut(t.Description, "\n")
	}
	return clip(strings.TrimSpace(withoutTags(text)), 72)
}

// clip is the beginning of a text of more characters than width.
func clip(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}

// withoutTags is a text without the tags of HTML that stand in descriptions.
// What else is written in angle brackets stays.
func withoutTags(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inside, rest, closed := strings.Cut(after, ">")
		name, _, _ := strings.Cut(strings.Trim(inside, "/"), " ")
		if closed && slices.Contains([]string{"p", "br", "a", "b", "i", "em", "strong", "code", "ul", "ol", "li", "div", "span", "note"}, strings.ToLower(name)) {
			s = rest
			continue
		}
		b.WriteByte('<')
		s = after
	}
}

// printSchemas prints what one tool is checked against, and what it publishes
// where that is something else.
func printSchemas(w io.Writer, c *gateway.Catalog, name string) error {
	t := findTool(c, name)
	if t == nil {
		return unknownTool(c, name)
	}
	input, output := t.Schemas()
	doc := []byte(`{"tool":`)
	doc = rawjson.AppendString(doc, t.Name())
	doc = append(doc, `,"published":{"inputSchema":`...)
	doc = append(doc, input...)
	if output != nil {
		doc = append(doc, `,"outputSchema":`...)
		doc = append(doc, output...)
	}
	doc = append(doc, `}`...)
	doc, err := appendChecked(doc, t.Tool())
	if err != nil {
		return err
	}
	pretty, err := rawjson.AppendIndent(nil, append(doc, '}'), "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(bytes.TrimSpace(pretty), '\n'))
	return err
}

// appendChecked writes the contract that calls are checked against.
func appendChecked(doc []byte, t tenon.Tool) ([]byte, error) {
	if t.Contract == nil {
		return doc, nil
	}
	contract, err := t.Contract.Contract()
	if err != nil {
		return nil, err
	}
	doc = append(doc, `,"checked":{`...)
	if contract.Input != nil {
		doc = append(doc, `"input":`...)
		doc = append(doc, contract.Input...)
		doc = append(doc, ',')
	}
	doc = append(doc, `"answers":[`...)
	for i, v := range contract.Responses {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, `{"status":`...)
		doc = rawjson.AppendString(doc, v.Status)
		doc = append(doc, `,"mediaType":`...)
		doc = rawjson.AppendString(doc, v.MediaType)
		if v.Schema != nil {
			doc = append(doc, `,"schema":`...)
			doc = append(doc, v.Schema...)
		}
		doc = append(doc, '}')
	}
	return append(doc, `]}`...), nil
}

// unknownTool says which names come near.
func unknownTool(c *gateway.Catalog, name string) error {
	var names []string
	same := 0
	for _, t := range c.Tools() {
		names = append(names, t.Name())
		if t.Tool().Original == name {
			same++
		}
	}
	if same > 1 {
		return usagef("%d tools have the name %q in their descriptions; 'tenon tools' lists the names that are served", same, name)
	}
	near := suggest.Near(name, names, maxToolsSuggested)
	if near == nil {
		return usagef("there is no tool %q; 'tenon tools' lists them", name)
	}
	return usagef("there is no tool %q%s", name, suggest.Question(near))
}
