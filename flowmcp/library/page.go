package flowmcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Docs writes a page in Markdown about the schema file at spec, or about every
// one of a folder: what it is for, and for each tool what it takes and what it
// answers, as tables, with a call of its first test case. It runs nothing.
func Docs(ctx context.Context, w io.Writer, spec string, o Options) error {
	if kind := kindOf(spec); kind != "" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: spec + " is a " + kind + " and no schema file: it has no page"}
	}
	files, err := readFiles(ctx, spec, o, false)
	if err != nil {
		return err
	}
	if err := unreadable(spec, files); err != nil {
		return err
	}
	var p page
	for _, f := range files {
		if !f.failed {
			p.file(f)
		}
	}
	if p.Len() == 0 {
		text := "no file of " + spec + " can be read"
		if len(files) == 1 {
			text = spec + " cannot be read: " + firstError(files[0].findings)
		}
		return &tenon.Error{Code: tenon.CodeBadSource, Message: text + "; see 'tenon flowmcp check'"}
	}
	_, err = w.Write(bytes.TrimLeft(p.Bytes(), "\n"))
	return err
}

// page is Markdown in the making.
type page struct{ bytes.Buffer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// cell is text that can stand in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\r", "", "\n", " ", "<", "&lt;").Replace(text)
}

// code is text that stands as it is; empty: nothing.
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

func (p *page) file(f *file) {
	main := f.main
	p.line("\n# %s\n\n%s\n", cell(f.name), cell(main.get("description").str()))
	p.line("| | |\n|---|---|")
	p.about("Namespace", f.namespace)
	p.about("Root", main.get("root").str())
	p.about("Version", main.get("version").str())
	p.about("Hash", f.hash)
	p.about("Documentation", main.get("docs").strs()...)
	p.about("Terms of service", main.get("termsOfService").str(), main.get("termsOfServiceLanguage").str(), main.get("termsOfServiceCheckedAt").str())
	p.about("Licence of the data", main.get("dataLicenseName").str(), main.get("dataLicense").str())
	p.about("Tags", main.get("tags").strs()...)
	p.about("Needs in the environment", main.get("requiredServerParams").strs()...)
	p.about("Needs the libraries", main.get("requiredLibraries").strs()...)
	for _, t := range f.routes {
		if !t.broken {
			p.tool(t)
		}
	}
}

// about writes a row about the file, if there is something to tell.
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

func (p *page) tool(t *route) {
	p.line("\n## %s\n\n%s\n", t.name, cell(t.text))
	how := code(t.method + " " + t.path)
	if t.handled {
		how += ", with handlers"
	}
	p.line("%s · for clients %s · %s\n", code(t.id()), code(wireName(t.name, t.file.namespace)), how)
	first := &node{kind: objectKind}
	if tests := toolsOf(t.file.main).get(t.name).get("tests").list(); len(tests) > 0 {
		first = tests[0]
	}
	p.parameters(t, first)
	p.answer(t)
	p.call(t, first)
}

func (p *page) parameters(t *route, example *node) {
	p.line("### Parameters\n")
	rows := 0
	for _, q := range t.parameters {
		if !q.user() {
			continue
		}
		if rows++; rows == 1 {
			p.line("| name | type | required | default | allowed | description | example |\n|---|---|---|---|---|---|---|")
		}
		required := "yes"
		if q.z.optional {
			required = ""
		}
		p.line("| %s | %s | %s | %s | %s | %s | %s |", code(q.key), q.z.primitive, required, code(string(q.z.fallback)),
			code(q.z.allowed()), cell(q.description), code(string(example.get(q.key).jsonOrNone())))
	}
	if rows == 0 {
		p.line("None.")
	}
}

// allowed says in a few words which values fit.
func (t *zType) allowed() string {
	var all []string
	if len(t.members) > 0 {
		all = append(all, strings.Join(t.members, ", "))
	}
	low, high := t.min, t.max
	if t.length != "" && t.primitive != "number" {
		low, high = t.length, t.length
	}
	switch {
	case low != "" && low == high:
		all = append(all, low)
	case low != "" && high != "":
		all = append(all, low+" to "+high)
	case low != "":
		all = append(all, "from "+low)
	case high != "":
		all = append(all, "up to "+high)
	}
	if (low != "" || high != "") && t.primitive != "number" {
		all[len(all)-1] += map[string]string{"string": " characters", "array": " items"}[t.primitive]
	}
	return strings.Join(append(all, t.patterns...), "; ")
}

func (p *page) answer(t *route) {
	p.line("\n### Answer\n")
	root := t.output.get("schema")
	if t.answer() == nil {
		p.line("Nothing is said of the data.")
		return
	}
	p.line("%s, in the member `data`.\n", code(outputMime(t.output)))
	p.line("| member | type | null | values | format | description | example |\n|---|---|---|---|---|---|---|")
	p.member("data", root, 0)
}

// member writes the row of one value of the answer, and those of its members.
func (p *page) member(path string, n *node, depth int) {
	if depth > maxOutput || !n.is(objectKind) {
		return
	}
	null := ""
	if n.get("nullable").yes() {
		null = "yes"
	}
	var values []string
	for _, v := range n.get("enum").list() {
		values = append(values, string(v.appendJSON(nil)))
	}
	p.line("| %s | %s | %s | %s | %s | %s | %s |", code(path), cell(n.get("type").str()), null, code(strings.Join(values, ", ")),
		cell(n.get("format").str()), cell(n.get("description").str()), code(exampleOf(n)))
	if n.get("type").str() == "array" {
		p.member(path+"[]", n.get("items"), depth+1)
	}
	n.get("properties").members(func(name string, m *node) { p.member(path+"."+name, m, depth+1) })
}

// exampleOf is a value that fits a scalar's schema, as JSON; empty: its members
// say more.
func exampleOf(n *node) string {
	if values := n.get("enum").list(); len(values) > 0 {
		return string(values[0].appendJSON(nil))
	}
	switch n.get("type").str() {
	case "number", "integer":
		return "1"
	case "boolean":
		return "true"
	case "string":
		text := map[string]string{"date-time": "2026-01-31T12:00:00Z", "uri": "https://example.com/", "base64": "iVBORw0KGgo="}[n.get("format").str()]
		if text == "" {
			text = "text"
		}
		return string(rawjson.AppendString(nil, text))
	}
	return ""
}

func (p *page) call(t *route, example *node) {
	args := &node{kind: objectKind}
	example.members(func(key string, value *node) {
		if key != "_description" {
			args.keys, args.items = append(args.keys, key), append(args.items, value)
		}
	})
	what := example.get("_description").str()
	if what == "" {
		what = "A call"
	}
	json := strings.ReplaceAll(string(withRequired(args.appendJSON(nil), t, args)), "'", `'\''`)
	p.line("\n### Example\n\n%s:\n\n    tenon call %s %s '%s'", cell(what), filepath.Base(t.file.path), t.id(), json)
}

// withRequired is the JSON of a call's arguments with a value for each required
// one that the example leaves out, so that the call is one that can be made.
func withRequired(args []byte, t *route, example *node) []byte {
	for _, q := range t.parameters {
		if !q.user() || q.z.optional || q.z.fallback != nil || example.get(q.key).there() {
			continue
		}
		value := []byte(`"…"`)
		if s, err := schema.Compile(append(q.z.appendSchema(nil), '}'), schema.Options{}); err == nil {
			if sample, ok := s.Sample(); ok {
				value = sample
			}
		}
		args = args[:len(args)-1]
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = rawjson.AppendString(args, q.key)
		args = append(append(append(args, ':'), value...), '}')
	}
	return args
}

// jsonOrNone is the JSON of n; nil without one.
func (n *node) jsonOrNone() []byte {
	if !n.there() || !n.valid() {
		return nil
	}
	return n.appendJSON(nil)
}
