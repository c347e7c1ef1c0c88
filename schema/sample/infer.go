package sample

import (
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	// maxInferred bounds the locations in values that are distinguished.
	maxInferred = 20_000
	// maxNames is how many names an object can have before they are treated as
	// data, such as a map by identifier.
	maxNames = 200
)

// Infer returns a schema that all samples are valid against. It has the types,
// the members, and as required the members that every object has. It infers
// neither formats nor limits, and forbids no members. Without a sample it is
// {}.
//
// For objects with very many different names it has only the types of the
// members. The error names the sample that is not strict JSON.
func Infer(samples ...[]byte) ([]byte, error) {
	in := inferrer{}
	root := &observed{}
	for i, sample := range samples {
		if err := rawjson.Check(sample); err != nil {
			return nil, fmt.Errorf("sample %d: %w", i+1, err)
		}
		doc, err := rawjson.Parse(sample)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i+1, err)
		}
		in.doc = doc
		in.observe(root, doc.Root())
	}
	return root.schema(nil), nil
}

// observed is what the samples have at one location. A nil *seen was not inspected.
type observed struct {
	kinds     rawjson.Types
	typesOnly bool // only the types are recorded
	objects   int
	names     []string // in order of appearance
	members   map[string]*observedMember
	others    *observed // instead of members: the types of all of them
	items     *observed
}

type observedMember struct {
	*observed
	times int
}

type inferrer struct {
	doc   *rawjson.Doc
	count int
}

// newLocation returns a new location, nil if there are too many.
func (in *inferrer) newLocation() *observed {
	if in.count++; in.count > maxInferred {
		return nil
	}
	return &observed{}
}

func (in *inferrer) observe(s *observed, at rawjson.Node) {
	if s == nil {
		return
	}
	raw := in.doc.Raw(at)
	kind := rawjson.KindOf(raw[0])
	if kind == rawjson.IsNumber {
		kind = rawjson.IsFraction
		if d := rawjson.ParseDecimal(raw); d.IsInteger() {
			kind = rawjson.IsInteger
		}
	}
	s.kinds |= kind
	switch {
	case s.typesOnly:
	case kind == rawjson.IsArray:
		if in.doc.Len(at) > 0 && s.items == nil {
			s.items = in.newLocation()
		}
		for c := in.doc.First(at); c != rawjson.None; c = in.doc.Next(c) {
			in.observe(s.items, c)
		}
	case kind == rawjson.IsObject:
		s.objects++
		for c := in.doc.First(at); c != rawjson.None; c = in.doc.Next(c) {
			in.member(s, c)
		}
	}
}

func (in *inferrer) member(s *observed, at rawjson.Node) {
	if s.others != nil {
		in.observe(s.others, at)
		return
	}
	name := in.doc.Key(at)
	m := s.members[name]
	if m == nil {
		if s.members == nil {
			s.members = map[string]*observedMember{}
		}
		m = &observedMember{observed: in.newLocation()}
		s.members[name] = m
		s.names = append(s.names, name)
	}
	m.times++
	in.observe(m.observed, at)
	if len(s.names) > maxNames {
		s.others = &observed{typesOnly: true}
		for _, name := range s.names {
			s.others.join(s.members[name].observed)
		}
		s.names, s.members = nil, nil
	}
}

// join adds the types seen at another location.
func (s *observed) join(o *observed) {
	if o == nil { // not inspected
		s.kinds = rawjson.IsAny
		return
	}
	s.kinds |= o.kinds
}

// schema appends the inferred schema.
func (s *observed) schema(dst []byte) []byte {
	if s == nil || s.kinds == 0 || s.kinds == rawjson.IsAny {
		return append(dst, "{}"...)
	}
	dst = s.types(append(dst, '{'))
	dst = s.object(dst)
	if s.items != nil {
		dst = s.items.schema(append(dst, `,"items":`...))
	}
	return append(dst, '}')
}

func (s *observed) types(dst []byte) []byte {
	var names []string
	left := s.kinds
	if left&rawjson.IsFraction != 0 {
		left |= rawjson.IsInteger // number includes both
	}
	for _, name := range []string{"object", "array", "string", "number", "integer", "boolean", "null"} {
		if set := rawjson.TypeNamed(name); left&set == set {
			left &^= set
			names = append(names, name)
		}
	}
	dst = append(dst, `"type":`...)
	if len(names) == 1 {
		return rawjson.AppendString(dst, names[0])
	}
	return append(listNames(append(dst, '['), names), ']')
}

func (s *observed) object(dst []byte) []byte {
	if s.others != nil {
		return s.others.schema(append(dst, `,"additionalProperties":`...))
	}
	var required []string
	for i, name := range s.names {
		if i == 0 {
			dst = append(dst, `,"properties":{`...)
		} else {
			dst = append(dst, ',')
		}
		m := s.members[name]
		dst = m.schema(append(rawjson.AppendString(dst, name), ':'))
		if m.times == s.objects {
			required = append(required, name)
		}
	}
	if len(s.names) > 0 {
		dst = append(dst, '}')
	}
	if len(required) > 0 {
		dst = append(listNames(append(dst, `,"required":[`...), required), ']')
	}
	return dst
}

func listNames(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	return dst
}
