// Package toolcase has test cases of tools: a call and what is expected of its
// result, read from YAML, and reports of what became of them.
//
// It does not know where a case comes from otherwise, who makes the call, and what
// stands behind the tool.
//
// It is beside the path of a call: it sees arguments before, and results after the
// gateway.
package toolcase

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonpath"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/internal/yaml"
	"github.com/tenon-mcp/tenon/schema"
)

// Case is a call and what is expected of its result.
type Case struct {
	Name   string // for people; may be empty
	Tool   string
	Args   []byte // JSON object
	Expect Expect
}

// Expect is what is expected of a result. The zero value: it succeeds and fits its
// schema.
type Expect struct {
	Error   tenon.Code    // it fails with this code; empty: it succeeds
	Verdict tenon.Verdict // empty: any but violated
	Status  int           // of the upstream's response; 0: any
	Values  []Value       // of the data
	Schema  *schema.Schema
	NotNull bool // it has data
	// Failure: a failure is as good as a success, such as a recorded response with an
	// error status.
	Failure bool
}

// Value is what a query of JSONPath selects: one value, or a list of several.
type Value struct {
	Path *jsonpath.Path
	Want []byte
}

// Bounds of a file of cases.
const (
	maxFile  = 16 << 20
	maxCases = 10_000
)

// Error is a mistake in a file of cases.
type Error struct {
	Line    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Parse reads a file of cases. Its error is an [*Error], or one of YAML with its line.
func Parse(text []byte) ([]Case, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the file has %d bytes; at most %d are read", len(text), maxFile)
	}
	read, err := yaml.ToJSON(text)
	if err != nil {
		return nil, err
	}
	doc, err := rawjson.Parse(read.JSON)
	if err != nil {
		return nil, err
	}
	p := parser{doc, read}
	if err := p.members(doc.Root(), "a file of cases", "cases"); err != nil {
		return nil, err
	}
	list := doc.Get(doc.Root(), "cases")
	if doc.Kind(list) != rawjson.Array {
		return nil, p.errorf(doc.Root(), "a file of cases has a list cases")
	}
	if doc.Len(list) > maxCases {
		return nil, p.errorf(list, "%d cases; at most %d are read", doc.Len(list), maxCases)
	}
	var all []Case
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		c, err := p.one(n)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

type parser struct {
	doc  *rawjson.Doc
	text yaml.Result
}

func (p *parser) errorf(n rawjson.Node, format string, args ...any) error {
	return &Error{p.text.Line(p.doc.Offset(n)), fmt.Sprintf(format, args...)}
}

// members refuses members with other names.
func (p *parser) members(n rawjson.Node, what string, known ...string) error {
	if p.doc.Kind(n) != rawjson.Object {
		return p.errorf(n, "%s is an object with %s", what, rawjson.Alternatives(known))
	}
	for m := p.doc.First(n); m != rawjson.None; m = p.doc.Next(m) {
		if name := p.doc.Key(m); !slices.Contains(known, name) {
			return p.errorf(m, "%s has no member %q%s", what, name, suggest.Question(suggest.Near(name, known, 1)))
		}
	}
	return nil
}

func (p *parser) one(n rawjson.Node) (c Case, err error) {
	if err := p.members(n, "a case", "name", "call", "arguments", "expect"); err != nil {
		return c, err
	}
	c.Name, c.Tool, c.Args = p.doc.Str(p.doc.Get(n, "name")), p.doc.Str(p.doc.Get(n, "call")), []byte("{}")
	if c.Tool == "" {
		return c, p.errorf(n, "a case has the name of a tool as call")
	}
	if args := p.doc.Get(n, "arguments"); args != rawjson.None {
		if p.doc.Kind(args) != rawjson.Object {
			return c, p.errorf(args, "arguments is an object")
		}
		c.Args = p.doc.Raw(args)
	}
	if e := p.doc.Get(n, "expect"); e != rawjson.None {
		c.Expect, err = p.expect(e)
	}
	return c, err
}

func (p *parser) expect(n rawjson.Node) (e Expect, err error) {
	if err := p.members(n, "expect", "error", "verdict", "status", "values", "schema"); err != nil {
		return e, err
	}
	if code := p.doc.Get(n, "error"); code != rawjson.None {
		e.Error = tenon.Code(p.doc.Str(code))
		var known []string
		for _, c := range tenon.Codes() {
			known = append(known, string(c.Code))
		}
		if !slices.Contains(known, string(e.Error)) {
			return e, p.errorf(code, "error is one of %s", rawjson.Alternatives(known))
		}
	}
	if v := p.doc.Get(n, "verdict"); v != rawjson.None {
		e.Verdict = tenon.Verdict(p.doc.Str(v))
		known := []string{string(tenon.Fits), string(tenon.Repaired), string(tenon.Violated), string(tenon.Undeclared), string(tenon.Unchecked)}
		if !slices.Contains(known, string(e.Verdict)) {
			return e, p.errorf(v, "verdict is one of %s", rawjson.Alternatives(known))
		}
	}
	if s := p.doc.Get(n, "status"); s != rawjson.None {
		d := rawjson.ParseDecimal(p.doc.Raw(s))
		if p.doc.Kind(s) != rawjson.Number || !d.IsInteger() {
			return e, p.errorf(s, "status is a number such as 200")
		}
		e.Status = d.Int()
	}
	if s := p.doc.Get(n, "schema"); s != rawjson.None {
		if e.Schema, err = schema.Compile(p.doc.Raw(s), schema.Options{AssertFormat: true}); err != nil {
			return e, p.errorf(s, "schema: %v", err)
		}
	}
	e.Values, err = p.values(p.doc.Get(n, "values"))
	return e, err
}

func (p *parser) values(values rawjson.Node) (all []Value, err error) {
	if values != rawjson.None && p.doc.Kind(values) != rawjson.Object {
		return nil, p.errorf(values, "values is an object with queries such as $.title and what they select")
	}
	for v := p.doc.First(values); v != rawjson.None; v = p.doc.Next(v) {
		path, err := jsonpath.Parse(p.doc.Key(v))
		if err != nil {
			return nil, p.errorf(v, "%s is not JSONPath: %v", p.doc.Key(v), err)
		}
		all = append(all, Value{path, p.doc.Raw(v)})
	}
	return all, nil
}

// check reports how a value differs.
func (v *Value) check(doc *rawjson.Doc) error {
	nodes, err := v.Path.Select(doc)
	if err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	var got []byte
	if len(nodes) == 1 {
		got = doc.Raw(nodes[0])
	} else {
		got = append(got, '[')
		for i, n := range nodes {
			if i > 0 {
				got = append(got, ',')
			}
			got = append(got, doc.Raw(n)...)
		}
		got = append(got, ']')
	}
	want := rawjson.AppendEqualityKey(nil, v.Want)
	if bytes.Equal(rawjson.AppendEqualityKey(nil, got), want) {
		return nil
	}
	// One value can be what a query for several selects.
	if len(nodes) == 1 && bytes.Equal(rawjson.AppendEqualityKey(nil, slices.Concat([]byte("["), got, []byte("]"))), want) {
		return nil
	}
	if len(nodes) == 0 {
		return errors.New(v.Path.String() + " selects nothing, expected " + rawjson.Excerpt(v.Want))
	}
	return errors.New(v.Path.String() + " is " + rawjson.Excerpt(got) + ", expected " + rawjson.Excerpt(v.Want))
}
