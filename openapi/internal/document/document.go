// Package document reads OpenAPI documents: JSON or YAML in one or several
// files, from disk or the web, with overlays. A [Document] is a flat tape of
// nodes over the bytes, and a [Value] is one of them with its file and line.
// Only the version is checked; parts are read when they are needed.
//
// It does not know what operations, parameters or schemas mean, nor tools or
// requests. It follows references and reports where something is.
//
// It is the start of the path of a description: bytes → document → operation →
// tool. The operator's options decide which files and hosts a document may
// refer to.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/yaml"
)

// Version is the minor version of OpenAPI that a document follows.
type Version uint8

// The versions of OpenAPI.
const (
	V20 Version = iota + 1
	V30
	V31
	V32
)

// Document is an OpenAPI document over its bytes. Parts are read when they are
// needed, and only the version is checked: an error in a part is reported when
// that part is used. It is safe for concurrent use.
type Document struct {
	Name    string // file or URL as the operator named it
	Version Version
	Root    Value

	library              *library
	MayHaveReadOnly      func() bool // the words readOnly or writeOnly may occur in the document
	MayHaveDiscriminator func() bool // the word discriminator may occur in it

	targets     targets
	diagnostics diagnosticList
}

// File is one file of a document.
type File struct {
	name    string  // for reports
	Address address // base of its references
	Doc     *rawjson.Doc
	lines   *lineIndex   // of a JSON file
	YAML    *yaml.Result // of a YAML file, whose Doc is over the JSON made of it

	mayHaveIDs        func() bool // the word $id or $self occurs in the file
	identities        func() identities
	lineage           func() lineage
	MayHaveExtensions func() bool // members x-mcp-… may occur in the file
}

// Value is a node of a document. The zero value is no node: ok reports false
// and all other methods return zero values.
type Value struct {
	File *File
	Node rawjson.Node
}

// OK reports whether v is a node.
func (v Value) OK() bool { return v.File != nil && v.Node != rawjson.None }

// Kind returns the kind of the JSON value.
func (v Value) Kind() rawjson.Kind {
	if v.File == nil {
		return rawjson.Invalid
	}
	return v.File.Doc.Kind(v.Node)
}

// Get returns a member of an object.
func (v Value) Get(key string) Value {
	if v.File == nil {
		return Value{}
	}
	return Value{v.File, v.File.Doc.Get(v.Node, key)}
}

// Str returns the text of a string, "" for any other value.
func (v Value) Str() string {
	if v.File == nil {
		return ""
	}
	return v.File.Doc.Str(v.Node)
}

// StrAt is Str of a member.
func (v Value) StrAt(key string) string { return v.Get(key).Str() }

// IsTrue reports whether the member is literally true.
func (v Value) IsTrue(key string) bool {
	m := v.Get(key)
	return m.OK() && m.File.Doc.IsTrue(m.Node)
}

// Each iterates over the members of an object or the elements of an array, in
// order. The key of an element is empty.
func (v Value) Each() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.File == nil {
			return
		}
		d := v.File.Doc
		for c := d.First(v.Node); c != rawjson.None; c = d.Next(c) {
			if !yield(d.Key(c), Value{v.File, c}) {
				return
			}
		}
	}
}

// Len returns the number of members or elements.
func (v Value) Len() int {
	if v.File == nil {
		return 0
	}
	return v.File.Doc.Len(v.Node)
}

// Raw returns the value's JSON text.
func (v Value) Raw() []byte {
	if v.File == nil {
		return nil
	}
	return v.File.Doc.Raw(v.Node)
}

// Parse reads a document that consists of one file, as JSON if it
// parses as JSON, else as YAML. raw must not change afterwards.
func Parse(name string, raw []byte) (*Document, error) {
	f, err := parseFile(name, raw)
	if err != nil {
		return nil, err
	}
	return documentOf(f, address{}, &library{})
}

// documentOf returns the document whose main file is f.
func documentOf(f *File, at address, l *library) (*Document, error) {
	name, raw := f.name, f.Doc.Source()
	f.Address = at
	l.add(f)
	var err error
	d := &Document{Name: name, Root: Value{f, f.Doc.Root()}, library: l}
	if d.Version, err = versionOf(d.Root); err != nil {
		return nil, sourceError(name, d.position(d.Root), err.Error())
	}
	d.MayHaveReadOnly = sync.OnceValue(func() bool {
		return mentionsReadOnly(raw) || refersElsewhere(f.Doc) // the words may be in another file
	})
	d.MayHaveDiscriminator = sync.OnceValue(func() bool {
		return bytes.Contains(raw, []byte(`"discriminator"`)) || refersElsewhere(f.Doc)
	})
	if f.YAML != nil {
		for _, n := range f.YAML.Notes {
			d.diagnostics.add(diagnosticKey{line: n.Line, what: n.What}, tenon.Diagnostic{File: name, Line: n.Line, Message: n.What})
		}
	}
	return d, nil
}

// URL returns the URL of the main file; nil: it is on disk.
func (d *Document) URL() *url.URL { return d.Root.File.Address.url }

// mentionsReadOnly reports whether one of the words readOnly and writeOnly is in raw. It
// searches for their common, rarer ending.
func mentionsReadOnly(raw []byte) bool {
	for {
		before, after, found := bytes.Cut(raw, []byte("Only"))
		if !found || bytes.HasSuffix(before, []byte("read")) || bytes.HasSuffix(before, []byte("write")) {
			return found
		}
		raw = after
	}
}

// long is the size in bytes from which an idle processor finds out what will be
// needed of a document.
const long = 1 << 20

func parseFile(name string, raw []byte) (*File, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // byte order mark
	if !looksLikeJSON(raw) {
		return parseYAML(name, raw)
	}
	doc, err := rawjson.Parse(raw)
	if err == nil {
		f := newFile(&File{name: name, Doc: doc, lines: newLineIndex(raw)})
		if len(raw) >= long {
			// Both will be needed, and one processor is idle.
			incident.Go(nil, "reading "+name, func() { f.MayHaveExtensions(); f.lines.blocks() }, nil)
		}
		return f, nil
	}
	if len(raw) <= yaml.MaxSize { // a YAML document may begin with a brace
		if f, err := parseYAML(name, raw); err == nil {
			return f, nil
		}
	}
	line, what := 0, err.Error()
	if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
		line, _ = rawjson.Position(raw, syntax.Offset)
		what = syntax.Message
	}
	return nil, sourceError(name, line, "not JSON: "+what)
}

func parseYAML(name string, raw []byte) (*File, error) {
	result, err := yaml.ToJSON(raw)
	if err != nil {
		line, what := 0, err.Error()
		if e, ok := errors.AsType[*yaml.Error](err); ok {
			line, what = e.Line, e.Message
		}
		return nil, sourceError(name, line, "not YAML: "+what)
	}
	doc, err := rawjson.Parse(result.JSON)
	if err != nil {
		return nil, sourceError(name, 0, "not YAML that JSON can hold: "+err.Error())
	}
	return newFile(&File{name: name, Doc: doc, YAML: &result}), nil
}

func newFile(f *File) *File {
	f.mayHaveIDs = sync.OnceValue(func() bool {
		if strings.HasPrefix(f.Doc.Str(f.Doc.Get(f.Doc.Root(), "openapi")), "3.0") {
			return false // schemas have no $id yet
		}
		src := f.Doc.Source()
		return bytes.Contains(src, []byte(`"$id"`)) || bytes.Contains(src, []byte(`"$self"`))
	})
	f.lineage = sync.OnceValue(func() lineage { return lineageOf(f.Doc) })
	f.identities = sync.OnceValue(func() identities { return identitiesOf(f.Doc) })
	f.MayHaveExtensions = sync.OnceValue(func() bool { return bytes.Contains(f.Doc.Source(), []byte("x-mcp-")) })
	return f
}

// looksLikeJSON reports whether raw begins with an object or an array.
func looksLikeJSON(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[')
}

// versionOf reads the version from the member openapi or swagger.
func versionOf(root Value) (Version, error) {
	v := root.Get("openapi")
	if !v.OK() {
		v = root.Get("swagger")
	}
	if !v.OK() {
		return 0, errors.New("not an OpenAPI document: neither openapi nor swagger is set")
	}
	text := v.Str()
	if v.Kind() == rawjson.Number { // openapi: 3.1
		text = string(v.Raw())
	}
	major, rest, _ := strings.Cut(text, ".")
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case major == "2":
		return V20, nil
	case major == "3" && (minor == "0" || minor == ""):
		return V30, nil
	case major == "3" && minor == "1":
		return V31, nil
	case major == "3" && minor == "2":
		return V32, nil
	}
	return 0, fmt.Errorf("OpenAPI version %.40q is not supported; use 2.0, 3.0, 3.1 or 3.2", text)
}

// sourceError is an error that makes a whole document unreadable.
func sourceError(name string, line int, what string) error {
	if line > 0 {
		name = fmt.Sprintf("%s:%d", name, line)
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: name + ": " + what}
}

// Legacy reports whether schemas are of the dialects before JSON Schema
// 2020-12, in which null is nullable and $ref has no siblings.
func (d *Document) Legacy() bool { return d.Version == V20 || d.Version == V30 }

// position returns the 1-based line of v, or 0.
func (d *Document) position(v Value) int { return v.Line() }

// Line returns the 1-based line of v in its file, or 0 if it has none because
// an overlay changed the file.
func (v Value) Line() int {
	switch {
	case !v.OK():
		return 0
	case v.File.YAML != nil:
		return v.File.YAML.Line(v.File.Doc.Offset(v.Node))
	case v.File.lines == nil:
		return 0
	}
	return v.File.lines.line(v.File.Doc.Offset(v.Node))
}

// Diagnostic returns a diagnostic at v.
func (d *Document) Diagnostic(v Value, what, do string) tenon.Diagnostic {
	name := d.Name
	if v.OK() {
		name = v.File.name
	}
	return tenon.Diagnostic{File: name, Line: d.position(v), Message: what, Hint: do}
}
