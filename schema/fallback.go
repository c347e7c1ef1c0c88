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
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// fallback is the fallback validator: a schema of the library, which implements
// every keyword of the specification and needs values decoded.
type fallback struct {
	doc            any
	o              Options
	chain          int                       // the longest chain of schemas that apply to one value
	discriminators map[string]*discriminator // by the library's URL of the schema
	pool           sync.Pool                 // of *instance: each serves one validation at a time, because it counts steps

	// Where patterns cannot be run: the schema without everything that depends
	// on them. What violates it violates the schema, too. nil if that is not
	// known.
	wider *fallback
}

// base is the URL under which the library knows the document. Nothing is ever
// loaded from it.
const base = "tenon:///schema"

const (
	// maxFallbackSchemas bounds the schemas of one document: the library searches all of
	// them for each.
	maxFallbackSchemas = 5000
	// maxStack bounds the nested calls of the library, each of which takes
	// about a kilobyte of stack.
	maxStack = 100_000
)

// instance is a compiled schema with its step counter.
type instance struct {
	schema *jsonschema.Schema
	left   int      // remaining steps
	open   *matcher // the first pattern met that cannot be run
}

func compileFallback(p *program, o Options) (*fallback, *Error) {
	if p.schemas > maxFallbackSchemas {
		return nil, &Error{Message: fmt.Sprintf("%d schemas in one document with %s; at most %d are read", p.schemas, p.fallbackKeyword, maxFallbackSchemas)}
	}
	s, invalid := newFallback(p.doc.Raw(p.doc.Root()), p.longestChain, o)
	if invalid == nil {
		s.discriminators = p.discriminators
	}
	if invalid == nil && len(p.unrunnable) > 0 {
		if doc := p.widened(); doc != nil {
			s.wider, invalid = newFallback(doc, p.longestChain, o)
		}
	}
	return s, invalid
}

// widened returns the document without the patterns that cannot be run and
// without everything that could accept less because of that, nil if that is not
// known.
func (p *program) widened() []byte {
	x := schemadoc.FindLocations(p.doc)
	if p.hiddenRefs || slices.ContainsFunc(x.Refs, func(r schemadoc.Reference) bool {
		return r.Via == schemadoc.KwDynamicRef || r.Kind == schemadoc.RefForeign
	}) {
		return nil
	}
	l := schemadoc.NewWidener(x, func(int32, rawjson.Node, string) {})
	for _, u := range p.unrunnable {
		i := x.At(u.at)
		if i < 0 {
			return nil
		}
		l.Drop(i, u.keyword, "")
	}
	l.DropDanglingRefs()
	return l.Edits.Apply(p.doc.Root())
}

func newFallback(text []byte, chain int, o Options) (*fallback, *Error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	if !moderate(doc) {
		return nil, &Error{Message: "a number whose exponent is beyond the range of a double"}
	}
	if root, ok := doc.(map[string]any); ok {
		delete(root, "$schema") // every document is read as 2020-12
	}
	s := &fallback{doc: doc, o: o, chain: chain}
	first, err := s.compile()
	if err != nil {
		return nil, fallbackError(err)
	}
	s.pool.Put(first)
	return s, nil
}

func (s *fallback) compile() (*instance, error) {
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

// errSteps stops a validation of the library that takes too many steps.
var errSteps = errors.New("too many steps")

// Validate is called by the library for every schema that it applies.
func (in *instance) Validate(*jsonschema.ValidatorContext, any) {
	if in.left--; in.left < 0 {
		panic(errSteps)
	}
}

// run validates a decoded value. Size is the length of its JSON.
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

func (s *fallback) check(value []byte) (found, open []Violation) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil || !moderate(doc) || nesting(doc)*s.chain > maxStack {
		return limitViolation(), nil
	}
	found, m := s.validate(doc, value)
	if m == nil {
		return found, nil
	}
	if s.wider != nil {
		if found, _ = s.wider.validate(doc, value); found != nil {
			return found, nil
		}
	}
	return nil, []Violation{{Keyword: "pattern", Expected: m.words(), Got: rawjson.Excerpt(value)}}
}

// validate returns the violations of a decoded value, and the first pattern met
// that cannot be run.
func (s *fallback) validate(doc any, value []byte) ([]Violation, *matcher) {
	in, ok := s.pool.Get().(*instance)
	if !ok {
		var err error
		if in, err = s.compile(); err != nil { // unreachable: it compiled before
			return limitViolation(), nil
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
		return explain(broken, value, s.discriminators), open
	}
	return limitViolation(), nil
}

// moderate reports whether the library can handle all numbers: it writes out
// the zeros of an exponent.
func moderate(v any) bool {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(string(v), "eE") {
			return true
		}
		d := rawjson.ParseDecimal([]byte(v))
		return d.Point > -2000
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

// nesting returns the depth of a decoded value.
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

// noLoader rejects every document that is not compiled into the library.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s, which is another document", url)
}

// regexp compiles a pattern that counts its cost.
func (in *instance) regexp(pattern string) (jsonschema.Regexp, error) {
	return &counted{newMatcher(pattern), in}, nil
}

// stepsOfMatch is the cost of matching a short string.
const stepsOfMatch = 3

type counted struct {
	*matcher
	in *instance
}

func (c *counted) String() string { return c.source }

// MatchString reports a match for a pattern that cannot be run, and records it.
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

// fallbackError translates an error of the library's compiler.
func fallbackError(err error) *Error {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			for len(v.Causes) > 0 {
				v = v.Causes[0]
			}
			var ptr []byte
			for _, t := range v.InstanceLocation {
				ptr = rawjson.AppendToken(ptr, t)
			}
			return &Error{Pointer: string(ptr), Message: message(v.ErrorKind)}
		}
	}
	return &Error{Message: strings.ReplaceAll(err.Error(), base, "")}
}
