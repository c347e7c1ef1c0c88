package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// second is the second tier: a schema of the library, which knows every
// keyword of the specification and wants values decoded.
type second struct {
	doc   any
	o     Options
	chain int                       // how many schemas can apply to one value in a row
	meant map[string]*discriminator // by the place of its schema, as the library has it
	pool  sync.Pool                 // of *instance: one run at a time, because it counts its steps

	// Where patterns cannot be run: the schema without what hangs on them. What
	// breaks it breaks the schema, too. nil if nothing is known of that.
	loose *second
}

// base is where the library believes the document to be. Nothing is ever read
// from there.
const base = "tenon:///schema"

const (
	// maxSecond bounds the schemas of one document: the library looks through
	// all of them for each.
	maxSecond = 5000
	// maxStack bounds the calls of the library that can be open at once, of
	// which each takes about a kilobyte of stack.
	maxStack = 100_000
)

// instance is a compiled schema with the counter that its nodes count on.
type instance struct {
	schema *jsonschema.Schema
	left   int      // steps that the run may still take
	open   *matcher // the first pattern that the run came to and that cannot be run
}

func compileSecond(p *program, o Options) (*second, *Error) {
	if p.schemas > maxSecond {
		return nil, &Error{Message: fmt.Sprintf("%d schemas in one document with %s; at most %d are read", p.schemas, p.beyond, maxSecond)}
	}
	s, fault := newSecond(p.doc.Raw(p.doc.Root()), p.chain, o)
	if fault == nil {
		s.meant = p.meant
	}
	if fault == nil && len(p.open) > 0 {
		if doc := p.loosened(); doc != nil {
			s.loose, fault = newSecond(doc, p.chain, o)
		}
	}
	return s, fault
}

// loosened answers the document without the patterns that cannot be run and
// without all that could accept less because of that, nil if it is not known
// what that is.
func (p *program) loosened() []byte {
	x := findSites(p.doc)
	if p.apart || slices.ContainsFunc(x.refs, func(r reference) bool { return r.via == kwDynamicRef || r.kind == refForeign }) {
		return nil
	}
	l := newLoosener(x, func(int32, rawjson.Node, string) {})
	for _, u := range p.open {
		i := x.at(u.at)
		if i < 0 {
			return nil
		}
		l.drop(i, u.keyword, "")
	}
	l.settle()
	return l.patches.apply(p.doc.Root())
}

func newSecond(text []byte, chain int, o Options) (*second, *Error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	if !moderate(doc) {
		return nil, &Error{Message: "a number with an exponent that no double has"}
	}
	if root, ok := doc.(map[string]any); ok {
		delete(root, "$schema") // every document is read as 2020-12
	}
	s := &second{doc: doc, o: o, chain: chain}
	first, err := s.compile()
	if err != nil {
		return nil, secondError(err)
	}
	s.pool.Put(first)
	return s, nil
}

func (s *second) compile() (*instance, error) {
	in := &instance{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(in.regexp)
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: base + "/steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return in, nil
		},
	})
	c.AssertVocabs()
	if s.o.AssertFormat {
		c.AssertFormat()
	}
	if err := c.AddResource(base, s.doc); err != nil {
		return nil, err
	}
	var err error
	in.schema, err = c.Compile(base)
	return in, err
}

// errSteps stops a run of the library that takes too long.
var errSteps = errors.New("too many steps")

// Validate is called by the library for every schema that it applies.
func (in *instance) Validate(*jsonschema.ValidatorContext, any) {
	if in.left--; in.left < 0 {
		panic(errSteps)
	}
}

// run validates a decoded value of a size.
func (in *instance) run(v any, size int) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case errSteps:
			err = errSteps
		default:
			panic(p)
		}
	}()
	in.left, in.open = 1<<16+4*size, nil
	return in.schema.Validate(v)
}

func (s *second) check(value []byte) (found, open []Violation) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil || !moderate(doc) || nesting(doc)*s.chain > maxStack {
		return tooMuch(), nil
	}
	found, m := s.validate(doc, value)
	if m == nil {
		return found, nil
	}
	if s.loose != nil {
		if found, _ = s.loose.validate(doc, value); found != nil {
			return found, nil
		}
	}
	return nil, []Violation{{Keyword: "pattern", Expected: m.words(), Got: excerpt(value)}}
}

// validate answers what is wrong with a decoded value, and the first pattern
// that this hangs on and that cannot be run.
func (s *second) validate(doc any, value []byte) ([]Violation, *matcher) {
	in, ok := s.pool.Get().(*instance)
	if !ok {
		var err error
		if in, err = s.compile(); err != nil { // it compiled before
			return tooMuch(), nil
		}
	}
	err := in.run(doc, len(value))
	open := in.open
	s.pool.Put(in)
	var broken *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil, open
	case errors.As(err, &broken):
		return explain(broken, value, s.meant), open
	}
	return tooMuch(), nil
}

// moderate reports whether the library can calculate with all numbers: it
// writes out the zeros of an exponent.
func moderate(v any) bool {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(string(v), "eE") {
			return true
		}
		d := parseDecimal([]byte(v))
		return d.point > -2000
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !moderate(e) })
	case map[string]any:
		for _, e := range v {
			if !moderate(e) {
				return false
			}
		}
	}
	return true
}

// nesting answers how deep a decoded value is.
func nesting(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, nesting(e))
		}
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, nesting(e))
		}
	}
	return deepest + 1
}

// noLoader refuses every document that is not compiled into the library.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s, which is another document", url)
}

// regexp compiles a pattern, and counts what it costs.
func (in *instance) regexp(pattern string) (jsonschema.Regexp, error) {
	return &counted{newMatcher(pattern), in}, nil
}

// stepsOfMatch is what it costs to match a short text at all.
const stepsOfMatch = 3

type counted struct {
	*matcher
	in *instance
}

func (c *counted) String() string { return c.source }

// MatchString lets a pattern that cannot be run match, and notes that.
func (c *counted) MatchString(s string) bool {
	if c.run == nil {
		c.in.open = cmp.Or(c.in.open, c.matcher)
		return true
	}
	c.in.left -= stepsOfMatch
	left := 64 * c.in.left
	matched, done := c.run.Match([]byte(s), &left)
	if c.in.left = left / 64; !done {
		panic(errSteps)
	}
	return matched
}

// secondError translates an error of the library's compiler.
func secondError(err error) *Error {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			for len(v.Causes) > 0 {
				v = v.Causes[0]
			}
			var ptr []byte
			for _, t := range v.InstanceLocation {
				ptr = appendToken(ptr, t)
			}
			return &Error{Pointer: string(ptr), Message: message(v.ErrorKind)}
		}
	}
	return &Error{Message: strings.ReplaceAll(err.Error(), base, "")}
}
