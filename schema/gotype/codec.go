package gotype

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxGuess bounds the memory that is reserved for a text of unknown length.
const maxGuess = 1 << 20

// Codec describes the JSON of a Go type by a schema, and encodes and decodes
// its values. Schema and encoding come from one plan of the type, so the
// encoded value is always valid. A Codec is immutable and safe for concurrent
// use.
type Codec struct {
	plan *plan
	doc  func() []byte // made on first use
	size atomic.Int64  // of the last text, as an estimate of the next
}

// ForOptions are the options of [For]. The zero value describes what is
// written.
type ForOptions struct {
	Arguments bool                        // the type is decoded, not encoded: see For
	Name      string                      // of the tool whose value it is, for titles; empty: none is derived from it
	Form      bool                        // the arguments are the fields of a form: no nested objects, no references
	Foreign   bool                        // the schema is not needed: a type without one is left to encoding/json
	NoTitles  bool                        // no titles; false: titles are derived from the names of types and members
	Unions    []Union                     // the member types of interfaces
	Types     []TypeSchema                // the schemas of types that cannot provide one
	Refuse    func(t reflect.Type) string // returns why a type is not allowed in a value; empty: it is allowed
}

// TypeError is the reason why a Go type has no schema.
type TypeError struct {
	Path    string // from the type given to For, as in "main.Station.Readings[].Value"
	Message string // what is wrong there, and what would help
}

// Error formats e as "path: what".
func (e *TypeError) Error() string { return e.Path + ": " + e.Message }

// ValueError is the reason why a value cannot be encoded as JSON, or JSON not
// be decoded into a value.
type ValueError struct {
	Path    string // JSON Pointer into the value; empty: the value itself
	Message string
}

// Error formats e as "member.0.member: what".
func (e *ValueError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	path := strings.ReplaceAll(strings.TrimPrefix(e.Path, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(path) + ": " + e.Message
}

// For returns the codec of a type. The encoding follows encoding/json, with
// three exceptions: nil slices and maps are empty lists and objects; a method
// of a pointer applies to addressable and other values alike; characters of
// HTML are not escaped. Members are required unless omitempty or omitzero can
// drop them; pointers may be null.
//
// Two struct tags add to the schema. The tag doc has the description; the tag
// jsonschema, as other libraries use it, means the same. The tag check is a
// list of words separated by commas; a comma inside a word is written as "\\,":
//
//	min=, max=                of the value, or of its length
//	above=, below=, multiple= of a number
//	format=, pattern=         of a string; pattern extends to the end of the tag
//	unique                    the items of a list differ
//	enum=a|b|c, example=, default=
//	required, optional        overrides the type; optional for arguments only
//	each.WORD                 the same for the items of a list or the values of a map
//
// A type can provide descriptions of itself and its fields: see [Docs].
//
// With o.Arguments the schema is that of a tool's arguments: members that the
// type does not have are forbidden, and pointers, members with a default and
// those that could be dropped are optional.
//
// With o.Form it is the schema of a form for a person.
//
// Methods have the precedence of encoding/json: MarshalJSON before MarshalText,
// whether promoted from an embedded type or not; a key of a map is its text if
// it is a string, else the result of MarshalText, else an integer. A value of
// any can be whatever encoding/json makes of it: its schema is open.
//
// The error is a *[TypeError]. Nothing is guessed: a type with methods for
// JSON, whose output cannot be known, has no schema until it is registered with
// [Of] or is a [Provider].
func For(t reflect.Type, o ForOptions) (*Codec, error) {
	c, err := newCodec(t, o)
	if err == nil && o.Arguments && !o.Foreign && !c.IsObject() {
		return nil, typeError(t.String(), "arguments are an object: use a struct, or a map with string keys")
	}
	return c, err
}

func newCodec(t reflect.Type, o ForOptions) (*Codec, error) {
	o.Arguments = o.Arguments || o.Form
	b := &planner{o: o, is: newInterfaces(), named: map[reflect.Type]*plan{}, described: map[reflect.Type]map[string]string{}}
	root, err := b.root(t)
	if err != nil {
		if o.Foreign && (o.Arguments || writable(t)) {
			return &Codec{plan: &plan{kind: planProvided, typ: t, write: writeForeign}, doc: func() []byte { return []byte("{}") }}, nil
		}
		return nil, err
	}
	if o.Form {
		if err := root.flat(); err != nil {
			return nil, err
		}
	}
	w, err := newDescriber(o, b)
	if err != nil {
		return nil, err
	}
	if err := w.checkValues(b.valued); err != nil {
		return nil, err
	}
	if err := w.compileChoices(b.choices); err != nil {
		return nil, err
	}
	if o.Arguments { // the tool's description describes them
		root.comment = ""
	}
	title := b.title(root)
	return &Codec{plan: root, doc: sync.OnceValue(func() []byte { return w.document(root, nil, title) })}, nil
}

// Doc returns the schema document. It is the same bytes on every call; the
// caller must not change them.
func (c *Codec) Doc() []byte { return c.doc() }

// IsObject reports whether the values are objects whose members have names of
// their own. Lists, scalars, unions, values that may be null and maps whose
// keys are not strings are not.
func (c *Codec) IsObject() bool {
	switch p := c.plan.value(); p.kind {
	case planStruct:
		return true
	case planMap:
		return p.key.kind == planString || p.key.kind == planText
	case planProvided:
		return declaresObject(p.doc)
	default:
		return false
	}
}

// Append appends the JSON of the value that ptr, a pointer to the codec's
// type, points to. The error is a *[ValueError].
func (c *Codec) Append(dst []byte, ptr any) ([]byte, error) {
	v := reflect.ValueOf(ptr).Elem()
	if c.plan.kind == planJSON { // validated as a whole afterwards
		if raw := bytes.TrimSpace(v.Field(0).Bytes()); len(raw) > 0 {
			return append(dst, raw...), nil
		}
	}
	guess := c.size.Load()
	w := writer{buf: slices.Grow(dst, int(guess+guess/8+64))}
	if err := c.plan.write(c.plan, &w, v); err != nil {
		return dst, valueError(err)
	}
	c.size.Store(int64(min(len(w.buf)-len(dst), maxGuess)))
	return w.buf, nil
}

// title returns the title of the whole document.
func (b *planner) title(p *plan) string {
	switch {
	case b.o.NoTitles || b.o.Form:
		return ""
	case b.o.Arguments && b.o.Name != "":
		return b.o.Name + "Arguments"
	case p.value().kind == planStruct && p.value().label != "":
		return p.value().label
	case b.o.Name == "":
		return ""
	case p.kind == planStruct:
		return b.o.Name + "Output"
	case (&Codec{plan: p}).IsObject():
		return b.o.Name + "DictOutput"
	}
	return "Result"
}

func typeError(path, format string, args ...any) *TypeError {
	return &TypeError{Path: path, Message: fmt.Sprintf(format, args...)}
}
