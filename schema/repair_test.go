package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

func TestRepair(t *testing.T) {
	const book = `{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"price":{"type":["number","null"]},` +
		`"tags":{"type":"array","items":{"type":"string"}},"sold":{"type":"boolean"},"by":{"$ref":"#/$defs/by"}},` +
		`"required":["id","tags"],"additionalProperties":false,"$defs":{"by":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	tests := map[string]struct {
		doc, value string
		want       string // the value as it came: not repaired
		fixes      []string
	}{
		"a value that fits":                       {book, `{"id":1, "tags":[]}`, `{"id":1, "tags":[]}`, nil},
		"null where a member may be missing":      {book, `{"id":1,"title":null,"tags":[],"sold":true}`, `{"id":1,"tags":[],"sold":true}`, []string{`/title drop-null: null → nothing`}},
		"null where null is fine":                 {book, `{"id":"1","price":null,"tags":[]}`, `{"id":1,"price":null,"tags":[]}`, []string{`/id parse-scalar: "1" → 1`}},
		"null where an array is required":         {book, `{"id":1,"tags":null}`, `{"id":1,"tags":[]}`, []string{`/tags empty-null: null → []`}},
		"null where an object is required":        {`{"items":{"type":"object"}}`, `[{},null]`, `[{},{}]`, []string{`/1 empty-null: null → {}`}},
		"null for the whole value":                {`{"type":"array"}`, ` null `, `[]`, []string{` empty-null: null → []`}},
		"null where one of two is required":       {`{"properties":{"a":{"type":["array","object"]}},"required":["a"]}`, `{"a":null}`, `{"a":null}`, nil},
		"null where an array of one is required":  {`{"type":"array","minItems":1}`, `null`, `null`, nil},
		"null where a string is required":         {`{"type":"string"}`, `null`, `null`, nil},
		"a number in quotes":                      {book, `{"id":"-12e1","tags":[]}`, `{"id":-12e1,"tags":[]}`, []string{`/id parse-scalar: "-12e1" → -12e1`}},
		"a number in quotes, beyond 2^53":         {book, `{"id":"9007199254740993","tags":[]}`, `{"id":9007199254740993,"tags":[]}`, []string{`/id parse-scalar: "9007199254740993" → 9007199254740993`}},
		"a number with escapes in it":             {book, `{"id":"\u0031","tags":[]}`, `{"id":1,"tags":[]}`, []string{`/id parse-scalar: "\u0031" → 1`}},
		"a number that is not valid JSON":         {book, `{"id":"01","tags":[]}`, `{"id":"01","tags":[]}`, nil},
		"a number with a blank":                   {book, `{"id":"1 ","tags":[]}`, `{"id":"1 ","tags":[]}`, nil},
		"a number that breaks another rule":       {`{"type":"integer","maximum":5}`, `"7"`, `"7"`, nil},
		"a fraction where an integer is required": {`{"type":"integer"}`, `"1.5"`, `"1.5"`, nil},
		"a number where null is fine too":         {book, `{"id":1,"price":"1.5","tags":[]}`, `{"id":1,"price":"1.5","tags":[]}`, nil},
		"a boolean in quotes":                     {book, `{"id":1,"tags":[],"sold":"true"}`, `{"id":1,"tags":[],"sold":true}`, []string{`/sold parse-scalar: "true" → true`}},
		"a boolean in capitals":                   {book, `{"id":1,"tags":[],"sold":"True"}`, `{"id":1,"tags":[],"sold":"True"}`, nil},
		"a number where a string is required":     {book, `{"id":1,"title":5,"tags":[]}`, `{"id":1,"title":5,"tags":[]}`, nil},
		"a forbidden member":                      {book, `{"x":{"y":1},"id":1,"tags":[]}`, `{"id":1,"tags":[]}`, []string{`/x drop-property: {"y":1} → nothing`}},
		"a forbidden member that a pattern knows": {`{"patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"x-a":1,"y":2}`, `{"x-a":1}`, []string{`/y drop-property: 2 → nothing`}},
		"a member that a schema forbids":          {`{"additionalProperties":{"type":"string"}}`, `{"a":1}`, `{"a":1}`, nil},
		"a member forbidden by unevaluated":       {`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"a":1,"b":1}`, `{"a":1,"b":1}`, nil},
		"one error that stays spoils it all":      {book, `{"id":"1","title":5,"tags":[]}`, `{"id":"1","title":5,"tags":[]}`, nil},
		"several, deep and in order": {
			book, `{"by":{"name":null},"tags":null,"z":0,"id":"5"}`, `{"by":{},"tags":[],"id":5}`,
			[]string{`/by/name drop-null: null → nothing`, `/tags empty-null: null → []`, `/z drop-property: 0 → nothing`, `/id parse-scalar: "5" → 5`},
		},
		"below a union of objects":                    {`{"anyOf":[{"$ref":"#/$defs/a"},{"required":["x"]}],"$defs":{"a":{"properties":{"n":{"type":"integer"}}}}}`, `{"n":"5"}`, `{"n":"5"}`, nil},
		"below a union of an object and null":         {`{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"type":"object","properties":{"n":{"type":"integer"}}}}}`, `{"n":"5"}`, `{"n":5}`, []string{`/n parse-scalar: "5" → 5`}},
		"a union that lets two types in":              {`{"anyOf":[{"type":"integer"},{"type":"array"}]}`, `"5"`, `"5"`, nil},
		"a union of numbers":                          {`{"oneOf":[{"type":"integer","maximum":3},{"type":"number","minimum":5}]}`, `"5"`, `5`, []string{` parse-scalar: "5" → 5`}},
		"a member that allOf forbids null":            {`{"allOf":[{"properties":{"a":{"type":["string","null"]}}},{"properties":{"a":{"not":{},"type":"string"}}}]}`, `{"a":null}`, `{}`, []string{`/a drop-null: null → nothing`}},
		"enum of numbers":                             {`{"enum":[1,2]}`, `"2"`, `2`, []string{` parse-scalar: "2" → 2`}},
		"enum of numbers and strings":                 {`{"enum":[1,"2"]}`, `"1"`, `"1"`, nil},
		"below prefixItems":                           {`{"prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"boolean"}}`, `["1","2","true"]`, `[1,"2",true]`, []string{`/0 parse-scalar: "1" → 1`, `/2 parse-scalar: "true" → true`}},
		"where the fallback validator needs a member": {`{"properties":{"a":{"type":"string"}},"dependentRequired":{"b":["a"]}}`, `{"a":null,"b":1}`, `{"a":null,"b":1}`, nil},
		"where the fallback validator has no say":     {`{"properties":{"a":{"type":"string"}},"dependentRequired":{"b":["c"]}}`, `{"a":null}`, `{}`, []string{`/a drop-null: null → nothing`}},
		"not JSON": {book, `{"id":`, `{"id":`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := compile(t, test.doc)
			fixed, fixes, left := s.Repair([]byte(test.value))
			var got []string
			for _, f := range fixes {
				got = append(got, fmt.Sprintf("%s %s: %s → %s", f.Path, f.Kind, f.Old, f.New))
			}
			if diff := cmp.Diff(test.want, string(fixed)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.fixes, got); diff != "" {
				t.Errorf("fixes (-want +got):\n%s", diff)
			}
			var want []schema.Violation
			if fixes == nil {
				want = s.Validate([]byte(test.value))
			}
			if diff := cmp.Diff(want, left); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// A repaired value fits, nothing but the listed changes was made, and none of
// them could be left out.
func TestRepairProperty(t *testing.T) {
	kinds := map[schema.FixKind]int{}
	rapid.Check(t, func(t *rapid.T) { repairHolds(t, kinds) })
	t.Logf("fixes by kind: %v", kinds)
	for _, kind := range []schema.FixKind{schema.DropNull, schema.EmptyNull, schema.ParseScalar, schema.DropProperty} {
		if kinds[kind] == 0 {
			t.Errorf("%s was never needed: the property was not tried", kind)
		}
	}
}

func FuzzRepair(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { repairHolds(t, map[schema.FixKind]int{}) }))
}

func repairHolds(t *rapid.T, kinds map[schema.FixKind]int) {
	m := maker{T: t}
	doc := m.plain(3)
	if m.chance(30) {
		doc = m.document(m.pick("", `"type":"object"`, `"type":"array"`, `"additionalProperties":false`))
	}
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		return
	}
	g := m.guided(doc, true)
	for range 20 {
		value := g.like(g.root, 5)
		fixed, fixes, left := s.Repair([]byte(value))
		if len(fixes) == 0 {
			if string(fixed) != value || (left == nil) != (s.Validate([]byte(value)) == nil) {
				t.Fatalf("%s\nmade of %s without a fix: %s\nleft %v", doc, value, fixed, left)
			}
			continue
		}
		if bad := s.Validate(fixed); bad != nil || left != nil {
			t.Fatalf("%s\nrepaired %s to %s, which breaks %v", doc, value, fixed, bad)
		}
		if redone := redo(t, value, fixes, len(fixes)); redone != canonical(t, fixed) {
			t.Fatalf("%s\nrepaired %s to %s, but the fixes make %s: %v", doc, value, fixed, redone, fixes)
		}
		for i, f := range fixes {
			kinds[f.Kind]++
			if without := redo(t, value, fixes, i); s.Validate([]byte(without)) == nil {
				t.Fatalf("%s\nrepaired %s to %s, but without %v it fits as well", doc, value, fixed, f)
			}
		}
	}
}

// redo makes the fixes, but one, in its own way.
func redo(t *rapid.T, value string, fixes []schema.Fix, but int) string {
	text := []byte(value)
	for i, f := range fixes {
		if i == but {
			continue
		}
		doc, err := rawjson.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		at := doc.Pointer(f.Path)
		raw := string(doc.Raw(at))
		if !strings.HasPrefix(raw, strings.TrimSuffix(f.Old, "…")) {
			t.Fatalf("%s: %v, but there is %s", text, f, raw)
		}
		now := f.New
		switch f.Kind {
		case schema.DropNull, schema.DropProperty:
			text = without(text, doc, at)
			continue
		case schema.EmptyNull:
			if raw != "null" || now != "[]" && now != "{}" {
				t.Fatalf("%v", f)
			}
		case schema.ParseScalar:
			if plain := strings.Trim(raw, `"`); plain != now {
				t.Fatalf("%v", f)
			}
		default:
			t.Fatalf("%v is of no kind that is listed", f)
		}
		text = []byte(string(text[:doc.Offset(at)]) + now + string(text[doc.Offset(at)+len(raw):]))
	}
	return canonical(t, text)
}

// without takes a member out of a text.
func without(text []byte, doc *rawjson.Doc, at rawjson.Node) []byte {
	end := doc.Offset(at) + len(doc.Raw(at))
	start := strings.LastIndex(string(text[:doc.Offset(at)]), `"`+string(doc.RawKey(at))+`"`)
	left, right := strings.TrimRight(string(text[:start]), " "), strings.TrimLeft(string(text[end:]), " ")
	if strings.HasPrefix(right, ",") {
		right = right[1:]
	} else {
		left = strings.TrimSuffix(left, ",")
	}
	return []byte(left + right)
}

// plain makes a schema as most are, with now and then another in it.
func (m *maker) plain(depth int) string {
	if depth == 0 || m.chance(10) {
		m.refs = []string{"#"}
		return m.pick(`{"type":"integer"}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"type":"string"}`, `{"type":["number","null"]}`, m.schema(1))
	}
	below := m.plain(depth - 1)
	switch m.pick("object", "object", "object", "array", "nullable", "all") {
	case "array":
		return `{"type":"array","items":` + below + `}`
	case "nullable":
		return `{"anyOf":[` + below + `,{"type":"null"}]}`
	case "all":
		return `{"allOf":[` + below + `],"description":"all"}`
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s%s}`,
		strings.Join(unique([]string{fmt.Sprintf("%q:%s", m.name(), below), fmt.Sprintf("%q:%s", m.name(), m.plain(depth-1))}), ","),
		m.pick(`[]`, `[]`, `["a"]`), m.pick("", `,"additionalProperties":false`))
}
