package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxGuess bounds the memory that is taken for a text before it is known how
// long it will be.
const maxGuess = 1 << 20

// Codec says what the values of a Go type look like as JSON, and writes or
// reads them so. Schema and text come from one plan of the type, so the text
// always fits. A Codec is immutable and safe for concurrent use.
type Codec struct {
	plan *plan
	doc  func() []byte // made when it is first asked for
	size atomic.Int64  // of the last text, as a guess at the next
}

// ForOptions are the choices of [For]. The zero value describes what is
// written.
type ForOptions struct {
	Arguments bool                        // the type is read, not written: see For
	Name      string                      // of the tool whose value it is, for titles; empty: none is derived from it
	Form      bool                        // the arguments are the fields of a form: no object is inside, and nothing refers to a definition
	Foreign   bool                        // the schema is not wanted: a type that has none is left to encoding/json
	NoTitles  bool                        // no titles at all; false: types and members have titles made of their names
	Unions    []Union                     // the types that stand for interfaces
	Types     []TypeSchema                // the schemas of types that cannot bring one
	Refuse    func(t reflect.Type) string // why a type has no place in a value; nil or empty: it has
}

// TypeError says why a Go type has no schema.
type TypeError struct {
	Path    string // from the type that was asked for, as in "main.Station.Readings[].Value"
	Message string // what stands there, and what would help
}

// Error formats e as "path: what".
func (e *TypeError) Error() string { return e.Path + ": " + e.Message }

// ValueError says why a value cannot be written as JSON, or JSON not be read
// into a value.
type ValueError struct {
	Path string // JSON Pointer into the value; empty: the value itself
	What string
}

// Error formats e as "member.0.member: what".
func (e *ValueError) Error() string {
	if e.Path == "" {
		return e.What
	}
	path := strings.ReplaceAll(strings.TrimPrefix(e.Path, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(path) + ": " + e.What
}

// For returns the codec of a type. What is written follows encoding/json, but
// for three things: nil slices and maps are empty lists and objects; a method
// of a pointer counts wherever the value stands; characters of HTML are not
// escaped. Members are required unless omitempty or omitzero can drop them,
// pointers may be null.
//
// Two struct tags add to the schema. The tag doc has the description; the tag
// jsonschema, as other libraries use it, means the same. The tag check is a
// list of words with commas between them, a comma inside a word written as
// "\\,":
//
//	min=, max=                of the value, or of its length
//	above=, below=, multiple= of a number
//	format=, pattern=         of a string; pattern takes the rest of the tag
//	unique                    the items of a list differ
//	enum=a|b|c, example=, default=
//	required, optional        whatever the type says; optional for arguments only
//	each.WORD                 the same of what a list or a map holds
//
// A type can bring descriptions of itself and its fields: see [Docs].
//
// With o.Arguments the schema is that of a tool's arguments: no other members
// are allowed than those that the type has, and pointers, members with a
// default and those that could be dropped need not be sent.
//
// With o.Form it is that of a form which a person fills in.
//
// Which method counts is as encoding/json has it: MarshalJSON before
// MarshalText, be they promoted from an embedded type or not; a key of a map
// is its text if it is a string, then what MarshalText writes, then an integer.
// A value of any may be whatever encoding/json makes of it: its schema is open.
//
// The error is a *[TypeError]. Nothing is guessed: a type with methods of its
// own, of which nobody can tell what they write, has no schema until it is
// registered with [Of] or is a [Provider].
func For(t reflect.Type, o ForOptions) (*Codec, error) {
	c, err := newCodec(t, o)
	if err == nil && o.Arguments && !o.Foreign && !c.IsObject() {
		return nil, typeError(t.String(), "arguments are an object: take a struct, or a map with string keys")
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
	if o.Arguments { // the tool's description says what they are
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
// keys are no strings are not.
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
	if c.plan.kind == planJSON { // checked as a whole afterwards: nothing stands around it yet
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

// title is the title of the whole document.
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
