package profile

import (
	"fmt"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Needs are what the rules of a client ask of the schemas of one direction. The zero
// value asks for nothing.
type Needs struct {
	Inline            bool // no $ref: what a reference names is written in its place
	SplitTypes        bool // no list of types: a branch of anyOf for each
	TextEnums         bool // the values of an enum are texts
	NoOneOf           bool // anyOf in place of oneOf
	NoRootCombinators bool // no allOf, anyOf or oneOf at the root
	Closed            bool // objects have the members that are declared, and no others
	AllRequired       bool // every property is required; those that were optional may be null
	NullOptional      bool // arguments that are optional may be null
}

// Any reports whether anything is asked for.
func (n Needs) Any() bool { return n != Needs{} }

// Absent reports whether null stands for an argument that is left out: see [Absent].
func (n Needs) Absent() bool { return n.AllRequired || n.NullOptional }

// maxNotes bounds the notes on a schema.
const maxNotes = 20

// Rewrite returns doc, an object schema as package publish makes it, as n wants it,
// within limit bytes if references are written out and limit is positive. Notes say
// what could not be expressed exactly, for people, with JSON Pointers into the result
// or the names of definitions. A document that needs nothing is returned itself.
func (n Needs) Rewrite(doc []byte, limit int) (made []byte, notes []string) {
	if !n.Any() {
		return doc, nil
	}
	parsed, err := rawjson.Parse(doc)
	if err != nil || parsed.Kind(parsed.Root()) != rawjson.Object {
		return doc, []string{"is not rewritten: it is no JSON object"}
	}
	w := &rewriter{Needs: n, doc: parsed, under: map[rawjson.Node]bool{}}
	root := read(parsed, parsed.Root())
	if n.Inline {
		w.left = maxInlined
		w.under[parsed.Root()] = true
		root.drop("$defs", "definitions") // each is written out where it is named
		root = w.inline(root, 0)
	}
	if n.NoRootCombinators || n.Closed {
		w.merge(root)
	}
	w.below(root)
	if w.NoOneOf {
		w.anyOfForOneOf(root)
	}
	if _, listed := root.enum(); listed && w.TextEnums {
		w.note("has an enum at the root, which is left out")
		root.drop("enum")
	}
	w.object(root, true)
	made = root.append(make([]byte, 0, len(doc)+len(doc)/4))
	if n.Inline && limit > 0 && len(made) > limit {
		small, how := publish.Relax(made, limit)
		w.note("is larger than %d bytes with references written out: %s are left out", limit, how)
		made = small
	}
	return made, w.notes
}

// rewriter rewrites one document.
type rewriter struct {
	Needs
	doc     *rawjson.Doc
	path    []byte                // JSON Pointer of the schema that is rewritten
	under   map[rawjson.Node]bool // definitions that are being written out
	fixed   bool                  // what is rewritten must accept neither less nor more
	merging int                   // merged objects that are being rewritten
	merges  int                   // how often forms were merged
	left    int                   // bytes that may still be written out
	notes   []string
}

func (w *rewriter) note(format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case len(w.notes) < maxNotes:
		w.notes = append(w.notes, text)
	case len(w.notes) == maxNotes:
		w.notes = append(w.notes, "and more")
	}
}

func (w *rewriter) at() string {
	if len(w.path) == 0 {
		return "the root"
	}
	return string(w.path)
}

// below rewrites the schemas below s, the deepest first.
func (w *rewriter) below(s *schema) {
	for i := range s.members {
		m := &s.members[i]
		mark, kept := len(w.path), w.fixed
		w.path = rawjson.AppendToken(w.path, m.key)
		// What is negated, a condition or counted would mean more if it were narrowed.
		w.fixed = kept || m.key == "not" || m.key == "if" || m.key == "contains"
		if m.one != nil {
			m.one = w.rewrite(m.one)
		}
		for j := range m.list {
			w.in(fmt.Sprint(j), &m.list[j])
		}
		for j := range m.named {
			w.in(m.named[j].name, &m.named[j].schema)
		}
		w.path, w.fixed = w.path[:mark], kept
	}
}

func (w *rewriter) in(token string, s **schema) {
	mark := len(w.path)
	w.path = rawjson.AppendToken(w.path, token)
	*s = w.rewrite(*s)
	w.path = w.path[:mark]
}

// rewrite returns what s becomes below the root.
func (w *rewriter) rewrite(s *schema) *schema {
	if s.always != nil {
		return s
	}
	if w.Closed && !w.fixed && w.mergeForms(s) {
		w.merging++
		w.below(s)
		w.merging--
	} else {
		w.below(s)
	}
	if w.NoOneOf {
		w.anyOfForOneOf(s)
	}
	if w.TextEnums {
		s = w.textEnum(s)
	}
	if w.SplitTypes {
		s = w.split(s)
	}
	if w.fixed {
		return s
	}
	return w.object(s, false)
}
