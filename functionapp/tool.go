package functionapp

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxMetaDepth is the maximum nesting of metadata in Azure's host.
const maxMetaDepth = 32

// Tool is a binding of type mcpToolTrigger.
type Tool struct {
	Binding     string // name of the binding; empty: "context"
	Name        string
	Title       string // display name. Azure's host ignores the key
	Description string
	Annotations []byte // JSON object with MCP annotations; nil: none. Azure's host ignores it
	Properties  []Property
	Input       Schema // instead of Properties; if empty, they are the input schema
	Output      Schema
	Meta        []byte // JSON object for the tool's _meta; nil: none
	Envelope    bool   // the function returns an envelope: see [ReadResult]
}

// ReadTool parses a binding of type mcpToolTrigger like a host. The error is a
// *[Error] with the key, which wraps a *[SchemaError] for an invalid schema. As
// on Azure, a tool with an invalid schema is rejected.
func ReadTool(b Object) (Tool, []Diagnostic, error) {
	r := newReader(b)
	t := Tool{
		Binding:     r.need("name"),
		Name:        r.need("toolName"),
		Title:       r.text("title"),
		Description: r.text("description"),
		Envelope:    r.flag("useResultSchema"),
		Meta:        r.meta("metadata"),
		Annotations: r.meta("annotations"),
	}
	if b.Get("description") == nil {
		r.note("description", `is missing; Azure's host wants it, at least ""`)
	}
	if text := r.nested("toolProperties"); text != "" {
		r.check("toolProperties", func() (err error) {
			var notes []Diagnostic
			t.Properties, notes, err = readProperties(text)
			r.notes = append(r.notes, notes...)
			return err
		})
	}
	t.Input = r.input(t.Name)
	t.Output = r.output(t.Name)
	return t, r.notes, r.err
}

// input parses the input schema where the flag enables it.
func (r *reader) input(tool string) Schema {
	text := r.nested("inputSchema")
	if !r.flag("useWorkerInputSchema") {
		if text != "" {
			r.note("inputSchema", "is not read without useWorkerInputSchema")
		}
		return Schema{}
	}
	if text == "" {
		r.fail(r.o.bad("inputSchema", "InputSchema is null or invalid: useWorkerInputSchema needs one"))
	}
	return r.schema(Input, "inputSchema", tool, text)
}

// output parses the output schema, if present. A library for Node writes it
// under another key, which Azure's host ignores.
func (r *reader) output(tool string) Schema {
	if text := r.nested("outputSchema"); text != "" {
		return r.schema(Output, "outputSchema", tool, text)
	}
	text := r.nested("resultSchema")
	if text != "" {
		r.note("resultSchema", "is read as outputSchema; Azure's host does not know this key")
	}
	return r.schema(Output, "resultSchema", tool, text)
}

func (r *reader) schema(kind SchemaKind, key, tool, text string) (s Schema) {
	r.check(key, func() (err error) {
		s, err = ReadSchema(kind, tool, text)
		return err
	})
	return s
}

// Object writes t as a binding. Empty keys are left out except for the
// description, which Azure's host requires.
func (t Tool) Object() Object {
	o := Object{
		textMember("name", orElse(t.Binding, "context")),
		textMember("type", string(ToolTrigger)),
		textMember("direction", "in"),
		textMember("toolName", t.Name),
	}
	if t.Title != "" {
		o = append(o, textMember("title", t.Title))
	}
	o = append(o, textMember("description", t.Description))
	if t.Properties != nil || t.Input.text == "" {
		o = append(o, nestedMember("toolProperties", appendProperties(nil, t.Properties)))
	}
	if t.Input.text != "" {
		o = append(o, flagMember("useWorkerInputSchema", true), nestedMember("inputSchema", t.Input.JSON()))
	}
	if t.Output.text != "" {
		o = append(o, nestedMember("outputSchema", t.Output.JSON()))
	}
	if t.Annotations != nil {
		o = append(o, nestedMember("annotations", t.Annotations))
	}
	if t.Meta != nil {
		o = append(o, nestedMember("metadata", t.Meta))
	}
	if t.Envelope {
		o = append(o, flagMember("useResultSchema", true))
	}
	return o
}

// InputSchema returns the input schema that a host lists.
func (t Tool) InputSchema() []byte {
	if t.Input.text != "" {
		return t.Input.JSON()
	}
	return appendInputSchema(nil, t.Properties)
}

// Required returns the names of the arguments that a host requires. Entries of
// a schema's required that are not strings are ignored.
func (t Tool) Required() []string {
	var names []string
	if t.Input.text == "" {
		for _, p := range t.Properties {
			if p.Required {
				names = append(names, p.Name)
			}
		}
		return names
	}
	doc, err := rawjson.Parse(t.Input.JSON())
	if err != nil {
		return nil // a Schema is always JSON
	}
	list := doc.Get(doc.Root(), "required")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) == rawjson.String {
			names = append(names, doc.Str(n))
		}
	}
	return names
}

// Missing returns the required arguments that are missing or null in args, a
// JSON object. "", 0, false, [] and {} count as given.
func (t Tool) Missing(args []byte) []string {
	doc, err := rawjson.Parse(args)
	var missing []string
	for _, name := range t.Required() {
		if err != nil || doc.Kind(doc.Get(doc.Root(), name)) <= rawjson.Null {
			missing = append(missing, name)
		}
	}
	return missing
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
