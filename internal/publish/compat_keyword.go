package publish

import (
	"bytes"
	"math"
	"math/big"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

const (
	wrongType = "left out: a value of the wrong type"
	emptyList = "left out: the list is empty"
	elsewhere = "left out: it has another meaning in other dialects"
)

// checkSchema checks the schema at location i.
func (s *compatPass) checkSchema(i int32) {
	p := s.List[i]
	switch s.Doc.Kind(p.Node) {
	case rawjson.Object:
		for m := s.Doc.First(p.Node); m != rawjson.None; m = s.Doc.Next(m) {
			if !s.Removed[m] {
				s.member(i, m)
			}
		}
	case rawjson.Bool:
		if p.Parent == 0 && p.Via == schemadoc.KwProperties {
			s.booleanSchema(i)
		}
	default:
		if p.Holder == p.Node {
			s.Drop(p.Parent, p.Node, wrongType)
			return
		}
		s.record(i, p.Node, "became {}: not a schema")
		s.Clear(i, []byte(`{}`))
	}
}

// booleanSchema writes a boolean schema as an object: clients reject booleans there.
func (s *compatPass) booleanSchema(i int32) {
	n := s.List[i].Node
	text := `{"not":{}}`
	if s.Doc.IsTrue(n) {
		text = `{}`
	}
	s.Edits.Replace(n, []byte(text))
	s.record(i, n, "became "+text+": clients accept no boolean here")
}

// member checks the keyword of location i whose value is m.
func (s *compatPass) member(i int32, m rawjson.Node) {
	k := s.Keyword(m)
	switch k {
	case schemadoc.NoKeyword:
		s.unknown(i, m)
	case schemadoc.KwConst, schemadoc.KwThen, schemadoc.KwElse, schemadoc.KwNot, schemadoc.KwIf, schemadoc.KwAdditionalProperties, schemadoc.KwPropertyNames,
		schemadoc.KwUnevaluatedItems, schemadoc.KwUnevaluatedProperties, schemadoc.KwContentSchema:
	case schemadoc.KwSchema, schemadoc.KwID, schemadoc.KwForeign, schemadoc.KwAdditionalItems, schemadoc.KwAnchor, schemadoc.KwDynamicAnchor:
		s.remove(i, m, elsewhere)
	case schemadoc.KwNote, schemadoc.KwText:
		s.annotation(i, m, rawjson.String)
	case schemadoc.KwFlag:
		s.annotation(i, m, rawjson.Bool)
	case schemadoc.KwExamples:
		s.annotation(i, m, rawjson.Array)
	case schemadoc.KwRef, schemadoc.KwDynamicRef:
		s.reference(i, m, k)
	case schemadoc.KwItems, schemadoc.KwContains:
		s.array(i, m, k)
	default:
		if k.Form() != schemadoc.HoldsNone {
			s.holder(i, m, k)
			return
		}
		s.assertion(i, m, k)
	}
}

// remove removes a keyword that means nothing in 2020-12. Although the specification
// lets readers ignore it, some clients do not: they read it as their dialect does,
// or refuse the schema and with it the whole list of tools. Without it the schema
// means the same.
func (s *compatPass) remove(i int32, m rawjson.Node, why string) {
	s.Edits.Drop(m)
	s.record(i, m, why)
}

func (s *compatPass) annotation(i int32, m rawjson.Node, want rawjson.Kind) {
	if s.Doc.Kind(m) != want {
		s.remove(i, m, wrongType)
	}
}

// unknown checks an unknown keyword: clients collect identities there anyway,
// and reject a schema with duplicates.
func (s *compatPass) unknown(i int32, m rawjson.Node) {
	if s.Doc.Kind(m) != rawjson.Object {
		return
	}
	raw := s.Doc.Raw(m)
	for _, name := range []string{`"$id"`, `"$anchor"`, `"$dynamicAnchor"`, `"\u00`} {
		if s.Doc.Key(m) != "default" && bytes.Contains(raw, []byte(name)) {
			s.remove(i, m, "left out: clients read its contents as schemas with identities")
			return
		}
	}
}

// holder checks a keyword that contains several schemas.
func (s *compatPass) holder(i int32, m rawjson.Node, k schemadoc.Keyword) {
	want := rawjson.Object
	if k.Form() == schemadoc.HoldsList {
		want = rawjson.Array
	}
	switch {
	case s.Doc.Kind(m) != want:
		s.Drop(i, m, wrongType)
	case want == rawjson.Array && s.Doc.Len(m) == 0:
		s.Drop(i, m, emptyList)
	case k == schemadoc.KwPatternProperties:
		s.patternKeys(i, m)
	case k == schemadoc.KwDependencies:
		s.nameLists(i, m, rawjson.Object, rawjson.Bool)
	case k == schemadoc.KwDefs, k == schemadoc.KwDependentSchemas:
		// Ajv takes a member $id of these for an identity when it follows a
		// reference through them.
		if id := s.Doc.Get(m, "$id"); id != rawjson.None {
			s.MarkRemoved(id)
			s.Edits.Drop(id)
			s.record(i, m, "member $id left out: clients read it as an identity")
			s.DropUnevaluated(k)
			s.Widen(i)
		}
	}
}

// assertion checks a keyword that contains no schema.
func (s *compatPass) assertion(i int32, m rawjson.Node, k schemadoc.Keyword) {
	ok := true
	switch k {
	case schemadoc.KwType:
		if i > 0 { // the root's type is handled by rootType
			s.typeName(i, m)
		}
	case schemadoc.KwEnum:
		s.enum(i, m)
	case schemadoc.KwRequired:
		s.names(i, m, m)
	case schemadoc.KwDependentRequired:
		if ok = s.Doc.Kind(m) == rawjson.Object; ok {
			s.nameLists(i, m)
		}
	case schemadoc.KwPattern:
		s.pattern(i, m)
	case schemadoc.KwNumber:
		ok = s.Doc.Kind(m) == rawjson.Number
	case schemadoc.KwMultipleOf:
		ok = s.Doc.Kind(m) == rawjson.Number && s.float(m) > 0
	case schemadoc.KwCount, schemadoc.KwMaxItems, schemadoc.KwMinContains, schemadoc.KwMaxContains:
		ok = s.isCount(m)
	case schemadoc.KwUniqueItems:
		ok = s.Doc.Kind(m) == rawjson.Bool
	}
	if !ok {
		s.Drop(i, m, "left out: not an allowed value")
	}
}

func (s *compatPass) float(m rawjson.Node) float64 {
	f, err := strconv.ParseFloat(string(s.Doc.Raw(m)), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// isCount reports whether m is an integer that a double holds exactly.
func (s *compatPass) isCount(m rawjson.Node) bool {
	raw := s.Doc.Raw(m)
	if s.Doc.Kind(m) != rawjson.Number {
		return false
	}
	if f := s.float(m); !(f >= 0 && f <= 1<<53) {
		return false
	}
	if !bytes.ContainsAny(raw, ".eE") {
		return true
	}
	// The exponent is small: the number is in the range of a double, and a tiny
	// one is not worth an exact result.
	if s.float(m) < 1 {
		return s.float(m) == 0 && len(bytes.Trim(raw, "-0.")) == 0
	}
	r, ok := new(big.Rat).SetString(string(raw))
	return ok && r.IsInt()
}

func (s *compatPass) pattern(i int32, m rawjson.Node) {
	if s.Doc.Kind(m) != rawjson.String {
		s.Drop(i, m, wrongType)
		return
	}
	text := s.Doc.Text(m)
	if s.cache.isPortable(text) {
		return
	}
	p := string(text)
	switch fixed, ok := ecmaregexp.PortablePattern(p); {
	case ok && fixed == p:
		s.cache.addPortable(p)
	case !ok:
		s.Drop(i, m, "left out: not every client can run "+rawjson.Excerpt([]byte(p)))
	default:
		s.Edits.Replace(m, rawjson.AppendString(nil, fixed))
		s.record(i, m, "written in another way: not every client can run "+rawjson.Excerpt([]byte(p)))
	}
}

// patternKeys checks the keys of patternProperties.
func (s *compatPass) patternKeys(i int32, m rawjson.Node) {
	var made map[string]bool
	for e := s.Doc.First(m); e != rawjson.None; e = s.Doc.Next(e) {
		p := s.Doc.Key(e)
		fixed, ok := ecmaregexp.PortablePattern(p)
		switch {
		case ok && fixed == p:
			continue
		case ok && !made[fixed] && s.Doc.Get(m, fixed) == rawjson.None:
			if made == nil {
				made = map[string]bool{}
			}
			made[fixed] = true
			s.MarkRemoved(e) // references to it no longer resolve
			s.Edits.Rename(e, fixed)
			s.record(i, m, "key written in another way: not every client can run "+rawjson.Excerpt([]byte(p)))
			continue
		}
		s.MarkRemoved(e)
		s.Edits.Drop(e)
		s.record(i, m, "member left out: not every client can run "+rawjson.Excerpt([]byte(p)))
		s.Drop(i, s.Doc.Get(s.List[i].Node, "additionalProperties"), schemadoc.BecauseClosed)
		s.DropUnevaluated(schemadoc.KwPatternProperties)
		s.Widen(i)
	}
}

// reference checks a $ref and removes any other kind of reference.
func (s *compatPass) reference(i int32, m rawjson.Node, k schemadoc.Keyword) {
	r := s.RefAt(m)
	switch {
	case k == schemadoc.KwDynamicRef, r == nil:
		s.Drop(i, m, "left out: clients do not support it")
	case r.Target < 0:
		s.Drop(i, m, "left out: not a schema in this document: "+rawjson.Excerpt(s.Doc.Raw(m)))
	case !legalReference(s.Doc.Raw(m)):
		plain, _ := schemadoc.UnescapeFragment(s.Doc.Str(m)[1:])
		s.Edits.Replace(m, rawjson.AppendString(nil, schemadoc.FragmentOf(plain)))
		s.record(i, m, "percent-encoded")
	}
}

// legalReference reports whether the raw text of a reference is a URI
// reference.
func legalReference(raw []byte) bool {
	for _, c := range raw[len(`"#`) : len(raw)-1] {
		if !schemadoc.InFragment(c) && c != '%' {
			return false
		}
	}
	return true
}
