package schema

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	doc    []byte
	root   *node        // what the byte tier checks with
	seed   maphash.Seed // of the names in it
	runs   sync.Pool    // of *run
	second *second      // the second tier; nil: the byte tier serves the schema
	open   []Unchecked
}

// Unchecked is a pattern that cannot be run.
type Unchecked struct {
	Pointer string // JSON Pointer of its keyword in the document
	Pattern string
}

// Options of [Compile]. The zero value treats format as an annotation.
type Options struct {
	AssertFormat bool // a string that breaks its format is a violation; false: format is an annotation
}

// Error says why a document is not a schema.
type Error struct {
	Pointer string // JSON Pointer to the place in the document; empty: the document itself
	Message string // what is wrong there
}

// Error formats e as "pointer: what".
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// maxDocument is the size of the largest document that is compiled.
const maxDocument = 8 << 20

// Compile checks a schema document and makes it ready for use. The Schema
// keeps doc, which must not change any more. The error is an *[Error].
//
// References must stay inside the document: "#", "#/…" and "#anchor". Patterns
// are regular expressions of ECMA-262 with the u flag, or of RE2 where they are
// none of ECMA-262. One that is neither is no error: [Schema.Unchecked] tells
// it, and [Schema.Check] where it left something open.
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
	p, fault := compileProgram(tape, s.seed, o)
	if fault != nil {
		return nil, fault
	}
	s.root = p.root
	for _, u := range p.open[:min(len(p.open), maxViolations)] {
		s.open = append(s.open, Unchecked{pointerOf(tape, u.keyword), u.pattern})
	}
	if p.beyond != "" {
		if s.second, fault = compileSecond(p, o); fault != nil {
			return nil, fault
		}
	}
	return s, nil
}

// Validate answers what is wrong with value, nil if it fits, in the order of
// the value and at most 100 of it. Input that is not strict JSON (RFC 8259 with
// the rules of I-JSON, nested at most 1000 deep) is one violation of the
// keyword "syntax"; a check that would cost too much is one of "limit".
func (s *Schema) Validate(value []byte) []Violation {
	found, _ := s.Check(value)
	return found
}

// Check is [Schema.Validate] that tells more of a value in which nothing is
// found to be wrong: open are the places where that hangs on a pattern that
// cannot be run. They are read as violations, of which it is not known whether
// they are any.
func (s *Schema) Check(value []byte) (found, open []Violation) {
	if s.second != nil {
		if v := checkSyntax(value); v != nil {
			return v, nil
		}
		return s.second.check(value)
	}
	r := s.borrow()
	r.reset(value, false)
	switch {
	case !r.fits(s.root):
		found = r.account(s.root)
	case r.open:
		open = r.unjudged(s.root)
	}
	s.giveBack(r)
	return found, open
}

// Unchecked returns the patterns that cannot be run.
func (s *Schema) Unchecked() []Unchecked { return s.open }

// borrow answers a run that is not in use.
func (s *Schema) borrow() *run {
	if r, ok := s.runs.Get().(*run); ok {
		return r
	}
	return &run{seed: s.seed}
}

func (s *Schema) giveBack(r *run) {
	r.release()
	s.runs.Put(r)
}

// Bytes reports whether values are checked in one pass over their bytes. The
// other schemas use keywords that need the value decoded, which costs some
// twenty times as much.
func (s *Schema) Bytes() bool { return s.second == nil }

// Doc returns the document that s was compiled from.
func (s *Schema) Doc() []byte { return s.doc }
