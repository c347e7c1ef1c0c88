package library

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// Docs writes a Markdown page about the schema file at spec, or about every
// file of a folder: its purpose and, for each tool, tables of the arguments and
// the response with an example call from its first test case. It runs no code.
func Docs(ctx context.Context, w io.Writer, spec string, o Options) error {
	if kind := format.KindOf(spec); kind != "" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: spec + " is a " + kind + ", not a schema file: it has no page"}
	}
	files, err := format.ReadFiles(ctx, spec, o, false)
	if err != nil {
		return err
	}
	if err := format.Unreadable(spec, files); err != nil {
		return err
	}
	var p page
	for _, f := range files {
		if !f.Failed {
			p.file(f)
		}
	}
	if p.Len() == 0 {
		text := "no file of " + spec + " can be read"
		if len(files) == 1 {
			text = spec + " cannot be read: " + format.FirstError(files[0].Findings)
		}
		return &tenon.Error{Code: tenon.CodeBadSource, Message: text + "; see 'tenon flowmcp check'"}
	}
	_, err = w.Write(bytes.TrimLeft(p.Bytes(), "\n"))
	return err
}

// page is a Markdown page under construction.
type page struct{ bytes.Buffer }

func (p *page) line(text string, args ...any) { fmt.Fprintf(p, text+"\n", args...) }

// cell escapes text for a table cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\r", "", "\n", " ", "<", "&lt;").Replace(text)
}

// code formats text as inline code, and returns "" for an empty text.
func code(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return strings.ReplaceAll(fence+" "+text+" "+fence, "|", `\|`)
	}
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace("`" + text + "`")
}

func (p *page) file(f *format.File) {
	main := f.Main
	p.line("\n# %s\n\n%s\n", cell(f.Name), cell(main.Get("description").Str()))
	p.line("| | |\n|---|---|")
	p.about("Namespace", f.Namespace)
	p.about("Root", main.Get("root").Str())
	p.about("Version", main.Get("version").Str())
	p.about("Hash", f.Hash)
	p.about("Documentation", main.Get("docs").Strings()...)
	p.about("Terms of service", main.Get("termsOfService").Str(), main.Get("termsOfServiceLanguage").Str(), main.Get("termsOfServiceCheckedAt").Str())
	p.about("Licence of the data", main.Get("dataLicenseName").Str(), main.Get("dataLicense").Str())
	p.about("Tags", main.Get("tags").Strings()...)
	p.about("Needs in the environment", main.Get("requiredServerParams").Strings()...)
	p.about("Needs the libraries", main.Get("requiredLibraries").Strings()...)
	for _, t := range f.Tools {
		if !t.Broken {
			p.tool(t)
		}
	}
}

// about writes a row about the file, unless all values are empty.
func (p *page) about(name string, values ...string) {
	var there []string
	for _, v := range values {
		if v != "" {
			there = append(there, cell(v))
		}
	}
	if there != nil {
		p.line("| %s | %s |", name, strings.Join(there, ", "))
	}
}

func (p *page) tool(t *format.Tool) {
	p.line("\n## %s\n\n%s\n", t.Name, cell(t.Description))
	how := code(t.Method + " " + t.Path)
	if t.Handled {
		how += ", with handlers"
	}
	p.line("%s · for clients %s · %s\n", code(t.ID()), code(format.WireName(t.Name, t.File.Namespace)), how)
	first := &module.Node{Kind: module.Object}
	if tests := format.ToolsOf(t.File.Main).Get(t.Name).Get("tests").List(); len(tests) > 0 {
		first = tests[0]
	}
	p.parameters(t, first)
	p.answer(t)
	p.call(t, first)
}

func (p *page) parameters(t *format.Tool, example *module.Node) {
	p.line("### Parameters\n")
	rows := 0
	for _, q := range t.Parameters {
		if !q.FromCaller() {
			continue
		}
		if rows++; rows == 1 {
			p.line("| name | type | required | default | allowed | description | example |\n|---|---|---|---|---|---|---|")
		}
		required := "yes"
		if q.Type.Optional {
			required = ""
		}
		p.line("| %s | %s | %s | %s | %s | %s | %s |", code(q.Key), q.Type.Primitive, required, code(string(q.Type.Default)),
			code(q.Type.Allowed()), cell(q.Description), code(string(example.Get(q.Key).JSON())))
	}
	if rows == 0 {
		p.line("None.")
	}
}

func (p *page) answer(t *format.Tool) {
	p.line("\n### Response\n")
	root := t.Output.Get("schema")
	if t.Response() == nil {
		p.line("The data is not described.")
		return
	}
	p.line("%s, in the member `data`.\n", code(format.OutputMediaType(t.Output)))
	p.line("| member | type | null | values | format | description | example |\n|---|---|---|---|---|---|---|")
	p.member("data", root, 0)
}

// member writes the rows of one value of the response and of its members.
func (p *page) member(path string, n *module.Node, depth int) {
	if depth > format.MaxNesting || !n.Is(module.Object) {
		return
	}
	null := ""
	if n.Get("nullable").IsTrue() {
		null = "yes"
	}
	var values []string
	for _, v := range n.Get("enum").List() {
		values = append(values, string(v.AppendJSON(nil)))
	}
	p.line("| %s | %s | %s | %s | %s | %s | %s |", code(path), cell(n.Get("type").Str()), null, code(strings.Join(values, ", ")),
		cell(n.Get("format").Str()), cell(n.Get("description").Str()), code(exampleOf(n)))
	if n.Get("type").Str() == "array" {
		p.member(path+"[]", n.Get("items"), depth+1)
	}
	n.Get("properties").Members(func(name string, m *module.Node) { p.member(path+"."+name, m, depth+1) })
}

// exampleOf returns an example of a scalar as JSON, or "" for objects and
// arrays.
func exampleOf(n *module.Node) string {
	if values := n.Get("enum").List(); len(values) > 0 {
		return string(values[0].AppendJSON(nil))
	}
	switch n.Get("type").Str() {
	case "number", "integer":
		return "1"
	case "boolean":
		return "true"
	case "string":
		text := map[string]string{"date-time": "2026-01-31T12:00:00Z", "uri": "https://example.com/", "base64": "iVBORw0KGgo="}[n.Get("format").Str()]
		if text == "" {
			text = "text"
		}
		return string(rawjson.AppendString(nil, text))
	}
	return ""
}

func (p *page) call(t *format.Tool, example *module.Node) {
	args := &module.Node{Kind: module.Object}
	example.Members(func(key string, value *module.Node) {
		if key != "_description" {
			args.Keys, args.Items = append(args.Keys, key), append(args.Items, value)
		}
	})
	what := example.Get("_description").Str()
	if what == "" {
		what = "A call"
	}
	json := strings.ReplaceAll(string(withRequired(args.AppendJSON(nil), t, args)), "'", `'\''`)
	p.line("\n### Example\n\n%s:\n\n    tenon call %s %s '%s'", cell(what), filepath.Base(t.File.Path), t.ID(), json)
}

// withRequired adds a value for each required argument that the example leaves
// out, so that the call is valid.
func withRequired(args []byte, t *format.Tool, example *module.Node) []byte {
	for _, q := range t.Parameters {
		if !q.FromCaller() || q.Type.Optional || q.Type.Default != nil || example.Get(q.Key).Exists() {
			continue
		}
		value := []byte(`"…"`)
		if s, err := schema.Compile(append(q.Type.AppendSchema(nil), '}'), schema.Options{}); err == nil {
			if found, ok := sample.Of(s); ok {
				value = found
			}
		}
		args = args[:len(args)-1]
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = rawjson.AppendString(args, q.Key)
		args = append(append(append(args, ':'), value...), '}')
	}
	return args
}
