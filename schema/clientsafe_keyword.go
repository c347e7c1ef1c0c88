package schema

import (
	"bytes"
	"math"
	"math/big"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	wrongType = "left out: a value of the wrong type"
	emptyList = "left out: the list is empty"
	elsewhere = "left out: clients read it as another dialect does"
)

// site checks the schema at place i.
func (s *safety) site(i int32) {
	p := s.list[i]
	switch s.doc.Kind(p.node) {
	case rawjson.Object:
		for m := s.doc.First(p.node); m != rawjson.None; m = s.doc.Next(m) {
			if !s.gone[m] {
				s.member(i, m)
			}
		}
	case rawjson.Bool:
		if p.parent == 0 && p.via == kwProperties {
			s.bare(i)
		}
	default:
		if p.holder == p.node {
			s.drop(p.parent, p.node, wrongType)
			return
		}
		s.record(i, p.node, "became {}: no schema")
		s.clear(i, []byte(`{}`))
	}
}

// bare writes a boolean schema as an object: clients refuse it there.
func (s *safety) bare(i int32) {
	n := s.list[i].node
	text := `{"not":{}}`
	if s.doc.IsTrue(n) {
		text = `{}`
	}
	s.patches.replace(n, []byte(text))
	s.record(i, n, "became "+text+": clients take no boolean here")
}

// member checks the keyword of place i whose value is m.
func (s *safety) member(i int32, m rawjson.Node) {
	k := s.keyword(m)
	switch k {
	case noKeyword:
		s.unknown(i, m)
	case kwConst, kwThen, kwElse, kwNot, kwIf, kwAdditionalProperties, kwPropertyNames,
		kwUnevaluatedItems, kwUnevaluatedProperties, kwContentSchema:
	case kwSchema, kwID, kwForeign, kwAdditionalItems, kwAnchor, kwDynamicAnchor:
		s.ignore(i, m, elsewhere)
	case kwNote, kwText:
		s.annotation(i, m, rawjson.String)
	case kwFlag:
		s.annotation(i, m, rawjson.Bool)
	case kwExamples:
		s.annotation(i, m, rawjson.Array)
	case kwRef, kwDynamicRef:
		s.reference(i, m, k)
	case kwItems, kwContains:
		s.array(i, m, k)
	default:
		if k.form() != holdsNone {
			s.holder(i, m, k)
			return
		}
		s.assertion(i, m, k)
	}
}

// ignore takes out a keyword that means nothing in 2020-12.
func (s *safety) ignore(i int32, m rawjson.Node, why string) {
	s.patches.drop(m)
	s.record(i, m, why)
}

func (s *safety) annotation(i int32, m rawjson.Node, want rawjson.Kind) {
	if s.doc.Kind(m) != want {
		s.ignore(i, m, wrongType)
	}
}

// unknown looks into a keyword that nobody knows: clients collect identities
// there anyway, and refuse them when they find one twice.
func (s *safety) unknown(i int32, m rawjson.Node) {
	if s.doc.Kind(m) != rawjson.Object {
		return
	}
	raw := s.doc.Raw(m)
	for _, name := range []string{`"$id"`, `"$anchor"`, `"$dynamicAnchor"`, `"\u00`} {
		if s.doc.Key(m) != "default" && bytes.Contains(raw, []byte(name)) {
			s.ignore(i, m, "left out: clients take what is in it for schemas with names")
			return
		}
	}
}

// holder checks a keyword that holds several schemas.
func (s *safety) holder(i int32, m rawjson.Node, k keyword) {
	want := rawjson.Object
	if k.form() == holdsList {
		want = rawjson.Array
	}
	switch {
	case s.doc.Kind(m) != want:
		s.drop(i, m, wrongType)
	case want == rawjson.Array && s.doc.Len(m) == 0:
		s.drop(i, m, emptyList)
	case k == kwPatternProperties:
		s.patternKeys(i, m)
	case k == kwDependencies:
		s.nameLists(i, m, rawjson.Object, rawjson.Bool)
	case k == kwDefs, k == kwDependentSchemas:
		// Ajv takes a member $id of these for an identity when it follows a
		// reference through them.
		if id := s.doc.Get(m, "$id"); id != rawjson.None {
			s.lose(id)
			s.patches.drop(id)
			s.record(i, m, "member $id left out: clients take it for an identity")
			s.taint(k)
			s.loosen(i)
		}
	}
}

// assertion checks a keyword that holds no schema.
func (s *safety) assertion(i int32, m rawjson.Node, k keyword) {
	ok := true
	switch k {
	case kwType:
		if i > 0 { // the root's is seen to
			s.typeName(i, m)
		}
	case kwEnum:
		s.enum(i, m)
	case kwRequired:
		s.names(i, m, m)
	case kwDependentRequired:
		if ok = s.doc.Kind(m) == rawjson.Object; ok {
			s.nameLists(i, m)
		}
	case kwPattern:
		s.pattern(i, m)
	case kwNumber:
		ok = s.doc.Kind(m) == rawjson.Number
	case kwMultipleOf:
		ok = s.doc.Kind(m) == rawjson.Number && s.float(m) > 0
	case kwCount, kwMaxItems, kwMinContains, kwMaxContains:
		ok = s.isCount(m)
	case kwUniqueItems:
		ok = s.doc.Kind(m) == rawjson.Bool
	}
	if !ok {
		s.drop(i, m, "left out: not a value that it can have")
	}
}

func (s *safety) float(m rawjson.Node) float64 {
	f, err := strconv.ParseFloat(string(s.doc.Raw(m)), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// isCount reports whether m is an integer that a double holds exactly.
func (s *safety) isCount(m rawjson.Node) bool {
	raw := s.doc.Raw(m)
	if s.doc.Kind(m) != rawjson.Number {
		return false
	}
	if f := s.float(m); !(f >= 0 && f <= 1<<53) {
		return false
	}
	if !bytes.ContainsAny(raw, ".eE") {
		return true
	}
	// The exponent is small: the number is in the range of a double, and a
	// tiny one is not worth an exact answer.
	if s.float(m) < 1 {
		return s.float(m) == 0 && len(bytes.Trim(raw, "-0.")) == 0
	}
	r, ok := new(big.Rat).SetString(string(raw))
	return ok && r.IsInt()
}

func (s *safety) pattern(i int32, m rawjson.Node) {
	if s.doc.Kind(m) != rawjson.String {
		s.drop(i, m, wrongType)
		return
	}
	text := s.doc.Text(m)
	if s.known.isPortable(text) {
		return
	}
	p := string(text)
	switch fixed, ok := portablePattern(p); {
	case ok && fixed == p:
		s.known.keep(p)
	case !ok:
		s.drop(i, m, "left out: not every client can run "+excerpt([]byte(p)))
	default:
		s.patches.replace(m, rawjson.AppendString(nil, fixed))
		s.record(i, m, "written in another way: not every client can run "+excerpt([]byte(p)))
	}
}

// patternKeys checks the keys of patternProperties.
func (s *safety) patternKeys(i int32, m rawjson.Node) {
	var made map[string]bool
	for e := s.doc.First(m); e != rawjson.None; e = s.doc.Next(e) {
		p := s.doc.Key(e)
		fixed, ok := portablePattern(p)
		switch {
		case ok && fixed == p:
			continue
		case ok && !made[fixed] && s.doc.Get(m, fixed) == rawjson.None:
			if made == nil {
				made = map[string]bool{}
			}
			made[fixed] = true
			s.lose(e) // references to it no longer find the way
			s.patches.rename(e, fixed)
			s.record(i, m, "key written in another way: not every client can run "+excerpt([]byte(p)))
			continue
		}
		s.lose(e)
		s.patches.drop(e)
		s.record(i, m, "member left out: not every client can run "+excerpt([]byte(p)))
		s.drop(i, s.doc.Get(s.list[i].node, "additionalProperties"), becauseClosed)
		s.taint(kwPatternProperties)
		s.loosen(i)
	}
}

// reference checks a $ref; whatever else refers goes.
func (s *safety) reference(i int32, m rawjson.Node, k keyword) {
	r := s.refAt(m)
	switch {
	case k == kwDynamicRef, r == nil:
		s.drop(i, m, "left out: clients do not know it")
	case r.target < 0:
		s.drop(i, m, "left out: it leads to no schema in this document: "+excerpt(s.doc.Raw(m)))
	case !legalReference(s.doc.Raw(m)):
		plain, _ := unescapeFragment(s.doc.Str(m)[1:])
		s.patches.replace(m, rawjson.AppendString(nil, fragmentOf(plain)))
		s.record(i, m, "percent-encoded")
	}
}

// legalReference reports whether a reference, given as it stands in the
// document, is a URI reference.
func legalReference(raw []byte) bool {
	for _, c := range raw[len(`"#`) : len(raw)-1] {
		if !inFragment(c) && c != '%' {
			return false
		}
	}
	return true
}
