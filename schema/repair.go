package schema

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Fix is one change that [Schema.Repair] made.
type Fix struct {
	Path string  `json:"path"` // JSON Pointer into the original value
	Kind FixKind `json:"kind"`
	Old  string  `json:"old"` // the beginning of the original JSON text
	New  string  `json:"new"` // the beginning of the new JSON text, or "nothing"
}

// FixKind is the kind of a change.
type FixKind string

// The kinds of changes.
const (
	DropNull     FixKind = "drop-null"     // a null was removed where the member is optional and never null
	EmptyNull    FixKind = "empty-null"    // null became [] or {}, where nothing else is allowed
	ParseScalar  FixKind = "parse-scalar"  // the string "1.5" became 1.5 or "true" true, where only that type is allowed
	DropProperty FixKind = "drop-property" // a member that additionalProperties: false forbids was removed

	// ReplaceSurrogate is made by [ReplaceSurrogates], not by Repair: half of a
	// surrogate pair, which JSON in UTF-8 cannot hold, became U+FFFD.
	ReplaceSurrogate FixKind = "replace-surrogate"
)

// Repair repairs a value that violates s, with changes of the four kinds only
// and only where the schema leaves no alternative. Everything else is kept,
// including the order of members.
//
// It returns the valid value and the changes in document order; or, where that
// is not enough, the original value and its violations, as [Schema.Validate]
// does. A valid value is returned itself.
func (s *Schema) Repair(value []byte) (fixed []byte, fixes []Fix, left []Violation) {
	left = s.Validate(value)
	if left == nil || left[0].Keyword == "syntax" || left[0].Keyword == "limit" {
		return value, nil, left
	}
	m := repairer{schemaCollector: schemaCollector{validation: s.acquire(), necessary: true}}
	fixed, fixes = m.repair(s.root, value)
	s.release(m.validation)
	if len(fixes) == 0 {
		return value, nil, left
	}
	if wrong, open := s.Check(fixed); wrong != nil || open != nil {
		return value, nil, left
	}
	return fixed, fixes, nil
}

// maxFixes bounds the list of changes.
const maxFixes = 20_000

// repairer repairs a value that is strict JSON in one pass. One is enough: which
// schemas apply at a location depends on the types above it, and no change
// inserts a container with contents.
type repairer struct {
	schemaCollector
	coerce bool // coerces instead; see Coerce
	edits  schemadoc.Edits
	fixes  []Fix
	path   []byte
}

// repair returns the value with all changes, none if the schemas that apply
// cannot be determined.
func (m *repairer) repair(root *node, value []byte) (fixed []byte, fixes []Fix) {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return nil, nil // unreachable: the syntax was checked
	}
	m.reset(value, false)
	m.edits.Doc = doc
	at := doc.Root()
	m.visit(at, m.collect(nil, root, m.kind(at), doc.Offset(at)), false)
	if m.Stop != 0 || len(m.fixes) == 0 || len(m.fixes) > maxFixes {
		return nil, nil
	}
	return m.edits.Apply(at), m.fixes
}

func (m *repairer) kind(at rawjson.Node) rawjson.Types { return rawjson.KindOf(m.edits.Doc.Raw(at)[0]) }

// visit repairs the value at a location; optional reports that it can be left
// out.
func (m *repairer) visit(at rawjson.Node, rules []*node, optional bool) {
	if m.left -= len(rules); m.left < 0 {
		m.Stop = limit
	}
	if len(rules) == 0 || m.Stop != 0 {
		return
	}
	kind := m.kind(at)
	switch admitted := admits(rules); {
	case kind == rawjson.IsNull && m.coerce && optional && bytes.Count(m.path, []byte{'/'}) == 1 && m.violates(at, rules):
		m.edits.Drop(at)
		m.record(at, DropNull, nothing)
	case kind&admitted == 0 && m.coerce:
		m.parseString(at, kind, admitted)
	case kind&admitted == 0:
		m.replace(at, kind, admitted, optional)
	case kind == rawjson.IsObject:
		m.members(at, rules)
	case kind == rawjson.IsArray:
		m.items(at, rules)
	}
}

// violates reports whether the value at a location violates one of the schemas.
func (m *repairer) violates(at rawjson.Node, rules []*node) bool {
	return slices.ContainsFunc(rules, func(n *node) bool {
		fits, _ := m.try(n, m.edits.Doc.Offset(at))
		return !fits
	})
}

// admits returns the types that all schemas allow.
func admits(rules []*node) rawjson.Types {
	t := rawjson.IsAny
	for _, n := range rules {
		t &= n.accepts
	}
	return t
}

// replace repairs a value of a type that is not allowed.
func (m *repairer) replace(at rawjson.Node, kind, admitted rawjson.Types, optional bool) {
	switch {
	case kind == rawjson.IsNull && optional:
		m.edits.Drop(at)
		m.record(at, DropNull, nothing)
	case kind == rawjson.IsNull && admitted == rawjson.IsArray:
		m.replaceWith(at, EmptyNull, "[]")
	case kind == rawjson.IsNull && admitted == rawjson.IsObject:
		m.replaceWith(at, EmptyNull, "{}")
	case kind == rawjson.IsString && admitted != 0:
		raw := m.edits.Doc.Raw(at)
		text := rawjson.AppendUnescaped(nil, raw[1:len(raw)-1])
		if admitted&^rawjson.IsNumber == 0 && isNumeral(text) || admitted == rawjson.IsBool && (string(text) == "true" || string(text) == "false") {
			m.replaceWith(at, ParseScalar, string(text))
		}
	}
}

// isNumeral reports whether text is exactly a JSON number.
func isNumeral(text []byte) bool {
	r := rawjson.Scanner{B: text}
	if rawjson.KindOf(r.Next()) != rawjson.IsNumber || r.I != 0 {
		return false
	}
	_, ok := r.Num()
	return ok && r.I == len(text)
}

func (m *repairer) replaceWith(at rawjson.Node, kind FixKind, text string) {
	m.edits.Replace(at, []byte(text))
	m.record(at, kind, rawjson.Excerpt([]byte(text)))
}

func (m *repairer) record(at rawjson.Node, kind FixKind, now string) {
	m.fixes = append(m.fixes, Fix{string(m.path), kind, rawjson.Excerpt(m.edits.Doc.Raw(at)), now})
}

func (m *repairer) members(object rawjson.Node, rules []*node) {
	doc, outer := m.edits.Doc, len(m.path)
	for at := doc.First(object); at != rawjson.None && m.Stop == 0; at = doc.Next(at) {
		key := doc.Key(at)
		name := []byte(key)
		m.path = rawjson.AppendToken(m.path[:outer], key)
		if !m.coerce && m.forbidden(rules, name) {
			m.edits.Drop(at)
			m.record(at, DropProperty, nothing)
			continue
		}
		var below []*node
		for _, n := range rules {
			below = m.collectForMember(below, n, name, m.kind(at), doc.Offset(at))
		}
		m.visit(at, below, !m.required(rules, name) && (!m.coerce || !m.forbidden(rules, name)))
	}
	m.path = m.path[:outer]
}

func (m *repairer) items(array rawjson.Node, rules []*node) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(n *node) bool { return n.array == nil })
	if len(rules) == 0 {
		return
	}
	doc, outer, index := m.edits.Doc, len(m.path), 0
	for at := doc.First(array); at != rawjson.None && m.Stop == 0; at = doc.Next(at) {
		var below []*node
		for _, n := range rules {
			below = m.collect(below, n.array.at(index), m.kind(at), doc.Offset(at))
		}
		m.path = strconv.AppendInt(append(m.path[:outer], '/'), int64(index), 10)
		m.visit(at, below, false)
		index++
	}
	m.path = m.path[:outer]
}

// forbidden reports whether additionalProperties: false forbids a member.
func (m *repairer) forbidden(rules []*node, name []byte) bool {
	return slices.ContainsFunc(rules, func(n *node) bool {
		o := n.object
		if o == nil || !o.forbidden {
			return false
		}
		i := o.members.find(name, m.seed)
		return (i < 0 || !o.members.list[i].declared) &&
			!slices.ContainsFunc(o.patterns, func(p patternRule) bool { matched, _ := p.match.matches(m.validation, name); return matched })
	})
}

func (m *repairer) required(rules []*node, name []byte) bool {
	return slices.ContainsFunc(rules, func(n *node) bool {
		if n.object == nil {
			return false
		}
		set := &n.object.members
		i := set.find(name, m.seed)
		return i >= 0 && set.required[i/64]&(1<<(i%64)) != 0
	})
}

// ParseJSON is the kind of fix that [Schema.Coerce] makes: a string was
// replaced by the JSON in it.
const ParseJSON FixKind = "parse-json"

// Coerce replaces strings by the JSON that they contain, only where the schema
// admits no string but the type of that JSON: some models send an object, a
// list or a number as text. A top-level member that is null, optional and never
// null is removed: some clients send null for each argument that is left out.
// Deeper down null may mean that something is to be removed, so it is kept.
// Nothing else is changed, and the result need not be valid: validate it again.
func (s *Schema) Coerce(value []byte) (coerced []byte, fixes []Fix) {
	if rawjson.Check(value) != nil {
		return value, nil
	}
	const rounds = 4 // parsed JSON can contain such strings again
	for range rounds {
		m := repairer{schemaCollector: schemaCollector{validation: s.acquire(), necessary: true}, coerce: true}
		text, more := m.repair(s.root, value)
		s.release(m.validation)
		if len(more) == 0 {
			break
		}
		value, fixes = text, append(fixes, more...)
	}
	return value, fixes
}

// parseString replaces a string by the JSON that it contains.
func (m *repairer) parseString(at rawjson.Node, kind, admitted rawjson.Types) {
	if kind != rawjson.IsString {
		return
	}
	raw := m.edits.Doc.Raw(at)
	text := rawjson.AppendUnescaped(nil, raw[1:len(raw)-1])
	if rawjson.Check(text) != nil {
		return
	}
	inner, err := rawjson.Parse(text)
	if err != nil {
		return
	}
	if text = inner.Raw(inner.Root()); rawjson.KindOf(text[0])&admitted != 0 {
		m.replaceWith(at, ParseJSON, string(text))
	}
}
