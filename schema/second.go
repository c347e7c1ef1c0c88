package schema

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// second is the second tier: a schema of the library, which knows every
// keyword of the specification and wants values decoded.
type second struct {
	doc  any
	o    Options
	pool sync.Pool // of *instance: one run at a time, because it counts its steps
}

// base is where the library believes the document to be. Nothing is ever read
// from there.
const base = "tenon:///schema"

// instance is a compiled schema with the counter that its nodes count on.
type instance struct {
	schema *jsonschema.Schema
	left   int // steps that the run may still take
}

func compileSecond(doc []byte, o Options) (*second, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, &Error{What: err.Error()}
	}
	s := &second{doc: v, o: o}
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
	c.UseRegexpEngine(lenientRegexp)
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

// run validates a value that is known to be JSON.
func (in *instance) run(value []byte) (err error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	defer func() {
		switch p := recover(); p {
		case nil:
		case errSteps: //nolint:errorlint // the very value that was thrown
			err = errSteps
		default:
			panic(p)
		}
	}()
	in.left = 1<<20 + 64*len(value)
	return in.schema.Validate(v)
}

func (s *second) validate(value []byte) []Violation {
	in, ok := s.pool.Get().(*instance)
	if !ok {
		var err error
		if in, err = s.compile(); err != nil { // it compiled before
			return tooMuch()
		}
	}
	err := in.run(value)
	s.pool.Put(in)
	var broken *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &broken):
		return explain(broken, value)
	}
	return tooMuch()
}

// noLoader refuses every document that is not compiled into the library.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s, which is another document", url)
}

// lenientRegexp compiles a pattern. What RE2 cannot run matches everything,
// which leaves the pattern unchecked.
func lenientRegexp(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return anything(pattern), nil
	}
	return re, nil
}

type anything string

func (a anything) String() string          { return string(a) }
func (a anything) MatchString(string) bool { return true }

// secondError translates an error of the library's compiler.
func secondError(err error) error {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var v *jsonschema.ValidationError
		if errors.As(invalid.Err, &v) {
			for len(v.Causes) > 0 {
				v = v.Causes[0]
			}
			var ptr []byte
			for _, t := range v.InstanceLocation {
				ptr = appendToken(ptr, t)
			}
			return &Error{Pointer: string(ptr), What: message(v.ErrorKind)}
		}
	}
	return &Error{What: strings.ReplaceAll(err.Error(), base, "")}
}
