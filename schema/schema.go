package schema

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	doc         []byte
	root        *node
	seed        maphash.Seed // of the names in it
	validations sync.Pool    // of *run
	fallback    *fallback    // the fallback validator; nil: not needed
	open        []UncheckedPattern
}

// UncheckedPattern is a pattern that cannot be run.
type UncheckedPattern struct {
	Pointer string // JSON Pointer of its keyword in the document
	Pattern string
}

// Options of [Compile]. The zero value treats format as an annotation.
type Options struct {
	AssertFormat bool // a string that does not match its format is a violation; false: format is an annotation
}

// Error is the reason why a document is not a schema.
type Error struct {
	Pointer string // JSON Pointer into the document; empty: the document itself
	Message string // what is wrong there
}

// Error formats e as "pointer: message".
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// maxDocument is the size of the largest document that is compiled.
const maxDocument = 8 << 20

// Compile checks a schema document and prepares it for validation. The Schema
// keeps doc, which must not change afterwards. The error is an *[Error].
//
// References must stay inside the document: "#", "#/…" and "#anchor". Patterns
// are regular expressions of ECMA-262 with the u flag, or of RE2 where they are
// not valid in ECMA-262. One that is valid in neither is not an error:
// [Schema.Unchecked] lists it, and [Schema.Check] reports where it left a
// result open.
func Compile(doc []byte, o Options) (*Schema, error) {
	if len(doc) > maxDocument {
		return nil, &Error{Message: fmt.Sprintf("a schema of %d bytes; at most %d are read", len(doc), maxDocument)}
	}
	if err := rawjson.Check(doc); err != nil {
		return nil, &Error{Message: err.Error()}
	}
	tape, err := rawjson.Parse(doc)
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	s := &Schema{doc: doc, seed: maphash.MakeSeed()}
	p, invalid := compileProgram(tape, s.seed, o)
	if invalid != nil {
		return nil, invalid
	}
	s.root = p.root
	for _, u := range p.unrunnable[:min(len(p.unrunnable), maxViolations)] {
		s.open = append(s.open, UncheckedPattern{pointerOf(tape, u.keyword), u.pattern})
	}
	if p.fallbackKeyword != "" {
		if s.fallback, invalid = compileFallback(p, o); invalid != nil {
			return nil, invalid
		}
	}
	return s, nil
}

// Validate returns the violations of value, nil if it is valid, in document
// order and at most 100. Input that is not strict JSON (RFC 8259 with the rules
// of I-JSON, nested at most 1000 deep) is one violation of the keyword
// "syntax"; a check that would cost too much is one of "limit".
func (s *Schema) Validate(value []byte) []Violation {
	found, _ := s.Check(value)
	return found
}

// Check is [Schema.Validate] with more detail about a value without violations:
// open lists the locations where the result depends on a pattern that cannot be
// run, in the form of violations.
func (s *Schema) Check(value []byte) (found, open []Violation) {
	if s.fallback != nil {
		if v := checkSyntax(value); v != nil {
			return v, nil
		}
		return s.fallback.check(value)
	}
	r := s.acquire()
	r.reset(value, false)
	switch {
	case !r.matches(s.root):
		found = r.collectViolations(s.root)
	case r.open:
		open = r.collectOpen(s.root)
	}
	s.release(r)
	return found, open
}

// Unchecked returns the patterns that cannot be run.
func (s *Schema) Unchecked() []UncheckedPattern { return s.open }

// acquire returns an idle run.
func (s *Schema) acquire() *validation {
	if r, ok := s.validations.Get().(*validation); ok {
		return r
	}
	return &validation{seed: s.seed}
}

func (s *Schema) release(r *validation) {
	r.release()
	s.validations.Put(r)
}

// Bytes reports whether values are validated in one pass over their bytes.
// Other schemas use keywords that need the value decoded, which costs about
// twenty times as much.
func (s *Schema) Bytes() bool { return s.fallback == nil }

// Doc returns the document that s was compiled from.
func (s *Schema) Doc() []byte { return s.doc }
