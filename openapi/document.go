package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/yaml"
)

// version is the line of OpenAPI that a document follows.
type version uint8

const (
	v20 version = iota + 1
	v30
	v31
	v32
)

// document is an OpenAPI document over its bytes. Nothing in it is read before
// it is asked for, and nothing but its version is checked: what is wrong with
// a part shows when that part is used. It is safe for concurrent use.
type document struct {
	name    string // file or URL as the operator named it
	version version
	root    value

	library       *library
	marked        func() bool // the words readOnly or writeOnly may be somewhere in the document
	discriminated func() bool // so may discriminator
	defs          definitions
	circles       circles

	targets targets
	scratch sync.Pool // of *[]byte
	told    faultList
}

// file is one file of a document.
type file struct {
	name  string  // as reports have it
	at    address // where its references are relative to
	doc   *rawjson.Doc
	lines *lineIndex   // of a JSON file
	yaml  *yaml.Result // of a YAML file, whose Doc is over the JSON made of it

	hasIDs     func() bool // the word $id or $self is somewhere in the file
	identities func() identities
	lineage    func() lineage
	leftItems  func() bool // the word unevaluatedItems is somewhere in the file
	extended   func() bool // there may be members x-mcp-…
}

// value is a place in a document. The zero value is no place: it is not ok
// and all its methods answer zero.
type value struct {
	file *file
	node rawjson.Node
}

func (v value) ok() bool { return v.file != nil && v.node != rawjson.None }

func (v value) kind() rawjson.Kind {
	if v.file == nil {
		return rawjson.Invalid
	}
	return v.file.doc.Kind(v.node)
}

func (v value) get(key string) value {
	if v.file == nil {
		return value{}
	}
	return value{v.file, v.file.doc.Get(v.node, key)}
}

func (v value) str() string {
	if v.file == nil {
		return ""
	}
	return v.file.doc.Str(v.node)
}

func (v value) strAt(key string) string { return v.get(key).str() }

// isTrue reports whether the member is literally true.
func (v value) isTrue(key string) bool {
	m := v.get(key)
	return m.ok() && m.file.doc.IsTrue(m.node)
}

// each goes over the members of an object or the elements of an array, in
// order. The key of an element is empty.
func (v value) each() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.file == nil {
			return
		}
		d := v.file.doc
		for c := d.First(v.node); c != rawjson.None; c = d.Next(c) {
			if !yield(d.Key(c), value{v.file, c}) {
				return
			}
		}
	}
}

func (v value) len() int {
	if v.file == nil {
		return 0
	}
	return v.file.doc.Len(v.node)
}

// raw is the value's JSON text.
func (v value) raw() []byte {
	if v.file == nil {
		return nil
	}
	return v.file.doc.Raw(v.node)
}

// parseDocument reads a document that consists of one file, which must not
// change any more. It is JSON where it parses as JSON, else YAML.
func parseDocument(name string, raw []byte) (*document, error) {
	f, err := parseFile(name, raw)
	if err != nil {
		return nil, err
	}
	return documentOf(f, address{}, &library{})
}

// documentOf is the document whose main file is f.
func documentOf(f *file, at address, l *library) (*document, error) {
	name, raw := f.name, f.doc.Source()
	f.at = at
	l.holds(f)
	var err error
	d := &document{name: name, root: value{f, f.doc.Root()}, library: l}
	if d.version, err = versionOf(d.root); err != nil {
		return nil, sourceError(name, d.position(d.root), err.Error())
	}
	d.marked = sync.OnceValue(func() bool {
		return mayMark(raw) || refersElsewhere(f.doc) // the words may be in another file
	})
	d.discriminated = sync.OnceValue(func() bool {
		return bytes.Contains(raw, []byte(`"discriminator"`)) || refersElsewhere(f.doc)
	})
	if f.yaml != nil {
		for _, n := range f.yaml.Notes {
			d.told.add(place{line: n.Line, what: n.What}, tenon.Diagnostic{File: name, Line: n.Line, Message: n.What})
		}
	}
	return d, nil
}

// mayMark reports whether one of the words readOnly and writeOnly is in raw. Both
// end in a letter that is rarer than those they begin with.
func mayMark(raw []byte) bool {
	for {
		before, after, found := bytes.Cut(raw, []byte("Only"))
		if !found || bytes.HasSuffix(before, []byte("read")) || bytes.HasSuffix(before, []byte("write")) {
			return found
		}
		raw = after
	}
}

func parseFile(name string, raw []byte) (*file, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // a mark with which some editors begin a file
	if !looksLikeJSON(raw) {
		return parseYAML(name, raw)
	}
	doc, err := parseJSON(raw)
	if err == nil {
		f := newFile(&file{name: name, doc: doc, lines: newLineIndex(raw)})
		if len(raw) >= long {
			// Both will be asked for, and one processor is idle.
			incident.Go(nil, "reading "+name, func() { f.extended(); f.lines.blocks() }, nil)
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
		what = syntax.What
	}
	return nil, sourceError(name, line, "not JSON: "+what)
}

// long documents are read by two processors.
const long = 1 << 20

// parseJSON has long documents, for which a client waits when tenon starts,
// read by two processors.
func parseJSON(raw []byte) (*rawjson.Doc, error) {
	if len(raw) >= long && runtime.GOMAXPROCS(0) > 1 {
		return rawjson.ParseParallel(raw)
	}
	return rawjson.Parse(raw)
}

func parseYAML(name string, raw []byte) (*file, error) {
	result, err := yaml.ToJSON(raw)
	if err != nil {
		line, what := 0, err.Error()
		if e, ok := errors.AsType[*yaml.Error](err); ok {
			line, what = e.Line, e.What
		}
		return nil, sourceError(name, line, "not YAML: "+what)
	}
	doc, err := rawjson.Parse(result.JSON)
	if err != nil {
		return nil, sourceError(name, 0, "not YAML that JSON can hold: "+err.Error())
	}
	return newFile(&file{name: name, doc: doc, yaml: &result}), nil
}

func newFile(f *file) *file {
	f.hasIDs = sync.OnceValue(func() bool {
		if strings.HasPrefix(f.doc.Str(f.doc.Get(f.doc.Root(), "openapi")), "3.0") {
			return false // schemas have no $id yet
		}
		src := f.doc.Source()
		return bytes.Contains(src, []byte(`"$id"`)) || bytes.Contains(src, []byte(`"$self"`))
	})
	f.leftItems = sync.OnceValue(func() bool { return bytes.Contains(f.doc.Source(), []byte(`"unevaluatedItems"`)) })
	f.lineage = sync.OnceValue(func() lineage { return lineageOf(f.doc) })
	f.identities = sync.OnceValue(func() identities { return identitiesOf(f.doc) })
	f.extended = sync.OnceValue(func() bool { return bytes.Contains(f.doc.Source(), []byte("x-mcp-")) })
	return f
}

// looksLikeJSON reports whether the first thing in raw opens an object or an
// array.
func looksLikeJSON(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[')
}

// versionOf reads the member that every OpenAPI document begins with.
func versionOf(root value) (version, error) {
	v := root.get("openapi")
	if !v.ok() {
		v = root.get("swagger")
	}
	if !v.ok() {
		return 0, errors.New("not an OpenAPI document: it has neither a member openapi nor a member swagger")
	}
	text := v.str()
	if v.kind() == rawjson.Number { // openapi: 3.1
		text = string(v.raw())
	}
	major, rest, _ := strings.Cut(text, ".")
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case major == "2":
		return v20, nil
	case major == "3" && (minor == "0" || minor == ""):
		return v30, nil
	case major == "3" && minor == "1":
		return v31, nil
	case major == "3" && minor == "2":
		return v32, nil
	}
	return 0, fmt.Errorf("OpenAPI version %.40q is not known; 2.0, 3.0, 3.1 and 3.2 are", text)
}

// sourceError is what stops the reading of a whole document.
func sourceError(name string, line int, what string) error {
	if line > 0 {
		name = fmt.Sprintf("%s:%d", name, line)
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: name + ": " + what}
}

// legacy reports whether schemas are of the dialects before JSON Schema
// 2020-12, in which null is nullable and nothing may stand beside $ref.
func (d *document) legacy() bool { return d.version == v20 || d.version == v30 }

// position is the line of v, from 1; 0 if v is no place.
func (d *document) position(v value) int { return v.line() }

// line is the line of v in its file, from 1; 0 where it has none: an overlay
// changed the file.
func (v value) line() int {
	switch {
	case !v.ok():
		return 0
	case v.file.yaml != nil:
		return v.file.yaml.Line(v.file.doc.Offset(v.node))
	case v.file.lines == nil:
		return 0
	}
	return v.file.lines.line(v.file.doc.Offset(v.node))
}

// fault is a fault at v.
func (d *document) fault(v value, what, do string) tenon.Diagnostic {
	name := d.name
	if v.ok() {
		name = v.file.name
	}
	return tenon.Diagnostic{File: name, Line: d.position(v), Message: what, Hint: do}
}
