package schema

import (
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	// maxInferred is how many places of values are told apart.
	maxInferred = 20_000
	// maxNames is how many names an object can have before they are taken for
	// data: a map by identifier, say.
	maxNames = 200
)

// Infer answers a schema that all samples fit. It names the types that were
// seen, the members, and as required those that no object was without. It
// guesses neither formats nor limits, and forbids no member. Without a sample
// it is {}.
//
// Of the members of objects with very many different names only the types are
// told. The error names the sample that is not strict JSON.
func Infer(samples ...[]byte) ([]byte, error) {
	in := inferrer{}
	root := &seen{}
	for i, sample := range samples {
		if err := rawjson.Check(sample); err != nil {
			return nil, fmt.Errorf("sample %d: %w", i+1, err)
		}
		doc, err := rawjson.Parse(sample)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i+1, err)
		}
		in.doc = doc
		in.see(root, doc.Root())
	}
	return root.schema(nil), nil
}

// seen is what was seen at one place of all samples. A nil *seen was not
// looked at.
type seen struct {
	kinds   types
	flat    bool // nothing but the types is told
	objects int
	names   []string // in the order in which they came
	members map[string]*seenMember
	others  *seen // instead of members: the types of all of them
	items   *seen
}

type seenMember struct {
	*seen
	times int
}

type inferrer struct {
	doc   *rawjson.Doc
	count int
}

// place answers a new place, nil if there are enough.
func (in *inferrer) place() *seen {
	if in.count++; in.count > maxInferred {
		return nil
	}
	return &seen{}
}

func (in *inferrer) see(s *seen, at rawjson.Node) {
	if s == nil {
		return
	}
	raw := in.doc.Raw(at)
	kind := kindOf(raw[0])
	if kind == isNumber {
		kind = isFraction
		if d := parseDecimal(raw); d.isInteger() {
			kind = isInteger
		}
	}
	s.kinds |= kind
	switch {
	case s.flat:
	case kind == isArray:
		if in.doc.Len(at) > 0 && s.items == nil {
			s.items = in.place()
		}
		for c := in.doc.First(at); c != rawjson.None; c = in.doc.Next(c) {
			in.see(s.items, c)
		}
	case kind == isObject:
		s.objects++
		for c := in.doc.First(at); c != rawjson.None; c = in.doc.Next(c) {
			in.member(s, c)
		}
	}
}

func (in *inferrer) member(s *seen, at rawjson.Node) {
	if s.others != nil {
		in.see(s.others, at)
		return
	}
	name := in.doc.Key(at)
	m := s.members[name]
	if m == nil {
		if s.members == nil {
			s.members = map[string]*seenMember{}
		}
		m = &seenMember{seen: in.place()}
		s.members[name] = m
		s.names = append(s.names, name)
	}
	m.times++
	in.see(m.seen, at)
	if len(s.names) > maxNames {
		s.others = &seen{flat: true}
		for _, name := range s.names {
			s.others.join(s.members[name].seen)
		}
		s.names, s.members = nil, nil
	}
}
