package schema

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Fix is one change that [Schema.Repair] made.
type Fix struct {
	Path string  `json:"path"` // JSON Pointer into the value as it came
	Kind FixKind `json:"kind"`
	Old  string  `json:"old"` // the beginning of the JSON text that was there
	New  string  `json:"new"` // that of what stands there now, or "nothing"
}

// FixKind says what was done.
type FixKind string

// The kinds. There are no others.
const (
	DropNull     FixKind = "drop-null"   // null, where the member is optional and never null, went
	EmptyNull    FixKind = "empty-null"  // null became [] or {}, where something must stand and nothing else can
	ParseScalar  FixKind = "read-text"   // the string "1.5" became 1.5 and "true" true, where only that type fits
	DropProperty FixKind = "drop-member" // a member that additionalProperties: false forbids went

	// ReplaceSurrogate is no change of Repair but of [ReplaceSurrogates]: half of
	// a surrogate pair, which JSON in UTF-8 cannot hold, became U+FFFD.
	ReplaceSurrogate FixKind = "replace-surrogate"
)

// Repair repairs a value that does not fit s, with changes of the four kinds
// only and only where the schema leaves no other meaning. All the rest stays
// as it came, members in their order.
//
// It answers the value that fits and what was changed, in the order of the
// value; or, where that is not enough, the value as it came and what is wrong
// with it, as [Schema.Validate] does. A value that fits comes back itself.
func (s *Schema) Repair(value []byte) (fixed []byte, fixes []Fix, left []Violation) {
	left = s.Validate(value)
	if left == nil || left[0].Keyword == "syntax" || left[0].Keyword == "limit" {
		return value, nil, left
	}
	m := mender{guide: guide{run: s.borrow(), must: true}}
	fixed, fixes = m.mend(s.root, value)
	s.giveBack(m.run)
	if len(fixes) == 0 {
		return value, nil, left
	}
	if wrong, open := s.Check(fixed); wrong != nil || open != nil {
		return value, nil, left
	}
	return fixed, fixes, nil
}

// maxFixes bounds the list of what was changed.
const maxFixes = 20_000

// mender goes once over a value that is strict JSON. Once is enough: which rules
// hold at a place depends on the types above it, and no change makes a place
// with something below it.
type mender struct {
	guide
	heals   bool // reads text as JSON and changes nothing else; see Heal
	patches patches
	fixes   []Fix
	path    []byte
}

// repair answers the value with all changes, none if the schema is not to be
// understood.
func (m *mender) mend(root *node, value []byte) (fixed []byte, fixes []Fix) {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return nil, nil // cannot be: the syntax was checked
	}
	m.reset(value, false)
	m.patches.doc = doc
	at := doc.Root()
	m.visit(at, m.gather(nil, root, m.kind(at), doc.Offset(at)), false)
	if m.stop != 0 || len(m.fixes) == 0 || len(m.fixes) > maxFixes {
		return nil, nil
	}
	return m.patches.apply(at), m.fixes
}

func (m *mender) kind(at rawjson.Node) types { return kindOf(m.patches.doc.Raw(at)[0]) }

// visit repairs the value at a place; optional says that it can be left out.
func (m *mender) visit(at rawjson.Node, rules []*node, optional bool) {
	if m.left -= len(rules); m.left < 0 {
		m.stop = limit
	}
	if len(rules) == 0 || m.stop != 0 {
		return
	}
	kind := m.kind(at)
	switch admitted := admits(rules); {
	case kind == isNull && m.heals && optional && bytes.Count(m.path, []byte{'/'}) == 1 && m.unfit(at, rules):
		m.patches.drop(at)
		m.note(at, DropNull, nothing)
	case kind&admitted == 0 && m.heals:
		m.read(at, kind, admitted)
	case kind&admitted == 0:
		m.replace(at, kind, admitted, optional)
	case kind == isObject:
		m.members(at, rules)
	case kind == isArray:
		m.items(at, rules)
	}
}

// unfit reports whether the value at a place breaks one of the rules.
func (m *mender) unfit(at rawjson.Node, rules []*node) bool {
	return slices.ContainsFunc(rules, func(n *node) bool {
		fits, _ := m.try(n, m.patches.doc.Offset(at))
		return !fits
	})
}

// admits answers the types that all rules let pass.
func admits(rules []*node) types {
	t := isAny
	for _, n := range rules {
		t &= n.accepts
	}
	return t
}

// replace repairs a value of a type that cannot fit.
func (m *mender) replace(at rawjson.Node, kind, admitted types, optional bool) {
	switch {
	case kind == isNull && optional:
		m.patches.drop(at)
		m.note(at, DropNull, nothing)
	case kind == isNull && admitted == isArray:
		m.put(at, EmptyNull, "[]")
	case kind == isNull && admitted == isObject:
		m.put(at, EmptyNull, "{}")
	case kind == isString && admitted != 0:
		raw := m.patches.doc.Raw(at)
		text := rawjson.AppendUnescaped(nil, raw[1:len(raw)-1])
		if admitted&^isNumber == 0 && isNumeral(text) || admitted == isBool && (string(text) == "true" || string(text) == "false") {
			m.put(at, ParseScalar, string(text))
		}
	}
}

// isNumeral reports whether text is a JSON number and nothing else.
func isNumeral(text []byte) bool {
	r := run{b: text}
	if kindOf(r.next()) != isNumber || r.i != 0 {
		return false
	}
	_, ok := r.num()
	return ok && r.i == len(text)
}

func (m *mender) put(at rawjson.Node, kind FixKind, text string) {
	m.patches.replace(at, []byte(text))
	m.note(at, kind, excerpt([]byte(text)))
}

func (m *mender) note(at rawjson.Node, kind FixKind, now string) {
	m.fixes = append(m.fixes, Fix{string(m.path), kind, excerpt(m.patches.doc.Raw(at)), now})
}

func (m *mender) members(object rawjson.Node, rules []*node) {
	doc, outer := m.patches.doc, len(m.path)
	for at := doc.First(object); at != rawjson.None && m.stop == 0; at = doc.Next(at) {
		key := doc.Key(at)
		name := []byte(key)
		m.path = appendToken(m.path[:outer], key)
		if !m.heals && m.forbidden(rules, name) {
			m.patches.drop(at)
			m.note(at, DropProperty, nothing)
			continue
		}
		var below []*node
		for _, n := range rules {
			below = m.follow(below, n, name, m.kind(at), doc.Offset(at))
		}
		m.visit(at, below, !m.required(rules, name) && (!m.heals || !m.forbidden(rules, name)))
	}
	m.path = m.path[:outer]
}

func (m *mender) items(array rawjson.Node, rules []*node) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(n *node) bool { return n.array == nil })
	if len(rules) == 0 {
		return
	}
	doc, outer, index := m.patches.doc, len(m.path), 0
	for at := doc.First(array); at != rawjson.None && m.stop == 0; at = doc.Next(at) {
		var below []*node
		for _, n := range rules {
			below = m.gather(below, n.array.at(index), m.kind(at), doc.Offset(at))
		}
		m.path = strconv.AppendInt(append(m.path[:outer], '/'), int64(index), 10)
		m.visit(at, below, false)
		index++
	}
	m.path = m.path[:outer]
}

// forbidden reports whether additionalProperties: false forbids a member.
func (m *mender) forbidden(rules []*node, name []byte) bool {
	return slices.ContainsFunc(rules, func(n *node) bool {
		o := n.object
		if o == nil || !o.forbidden {
			return false
		}
		i := o.members.find(name, m.seed)
		return (i < 0 || !o.members.list[i].declared) &&
			!slices.ContainsFunc(o.patterns, func(p patternRule) bool { matched, _ := p.match.matches(m.run, name); return matched })
	})
}

func (m *mender) required(rules []*node, name []byte) bool {
	return slices.ContainsFunc(rules, func(n *node) bool {
		if n.object == nil {
			return false
		}
		set := &n.object.members
		i := set.find(name, m.seed)
		return i >= 0 && set.required[i/64]&(1<<(i%64)) != 0
	})
}
