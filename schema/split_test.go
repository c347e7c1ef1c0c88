package schema_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

func compile(t testing.TB, doc string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return s
}

func TestCut(t *testing.T) {
	const none = "none"
	pages := `{"next":"abc","rows":[1,2,3,4,5,6,7,8,9],"tags":["a","b"]}`
	tests := map[string]struct {
		doc, value string
		limit      int
		want       string // pointer and slices
	}{
		"a value within the limit":                    {`{}`, `[1,2,3]`, 7, none},
		"an array at the root":                        {`{}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"without a schema any array goes":             {``, `{"a":[1,2,3,4]}`, 11, `/a: {"a":[1,2]} | {"a":[3,4]}`},
		"the rest of the object stays":                {`{}`, pages, 48, `/rows: {"next":"abc","rows":[1,2,3,4],"tags":["a","b"]} | {"next":"abc","rows":[5,6,7,8],"tags":["a","b"]} | {"next":"abc","rows":[9],"tags":["a","b"]}`},
		"the largest array is the one":                {`{}`, `{"a":[1,2],"b":[1,2,3]}`, 21, `/b: {"a":[1,2],"b":[1,2]} | {"a":[1,2],"b":[3]}`},
		"of two that are as large, the first":         {`{}`, `{"a":[1,2],"b":[3,4]}`, 20, `/a: {"a":[1],"b":[3,4]} | {"a":[2],"b":[3,4]}`},
		"the largest must stay whole, another may go": {`{"properties":{"b":{"minItems":3}}}`, `{"a":[1,2],"b":[1,2,3]}`, 22, `/a: {"a":[1],"b":[1,2,3]} | {"a":[2],"b":[1,2,3]}`},
		"an item that stays whole has its own part":   {`{"properties":{"a":{"items":{"pattern":""}}}}`, `{"a":[1,"more than there is room",2,3]}`, 16, `/a: {"a":[1]} | {"a":["more than there is room"]} | {"a":[2,3]}`},
		"a text in an item":                           {`{}`, `{"a":[1,"more than there is room for",2,3]}`, 26, `/a /a/1: {"a":[1]} | {"a":["more than there "]} | {"a":["is room for",2,3]}`},
		"an object in an item":                        {`{"properties":{"a":{"items":{"required":["id"]}}}}`, `{"a":[{"id":7,"b":"words","c":"words"},{"id":8}]}`, 32, `/a /a/0: {"a":[{"id":7,"b":"words"}]} | {"a":[{"id":7,"c":"words"}]} | {"a":[{"id":8}]}`},
		"a map beside what is required":               {`{"required":["id","t"]}`, `{"a":"words","id":1,"b":"words","t":2,"c":"words"}`, 36, `: {"a":"words","id":1,"t":2} | {"id":1,"b":"words","t":2} | {"id":1,"t":2,"c":"words"}`},
		"two lists that must not be empty":            {`{"properties":{"a":{"minItems":1},"b":{"minItems":1}}}`, `{"a":[11,12,13],"b":[21,22,23]}`, 20, `/a /b: {"a":[11],"b":[21]} | {"a":[12],"b":[21]} | {"a":[13],"b":[21]} | {"a":[11],"b":[22]} | {"a":[11],"b":[23]}`},
		"white space between items stays":             {`{}`, "[ 1 ,\n 2 , 3 ]", 8, ": [1 ,\n 2] | [3]"},
		"keys with slashes and escapes":               {`{}`, `{"a\/b~":{"\u00e9":[1,2,3]}}`, 26, `/a~1b~0/é: {"a\/b~":{"\u00e9":[1,2]}} | {"a\/b~":{"\u00e9":[3]}}`},
		"an object where a list is not enough":        {`{}`, `{"a":"a long text that stays","b":[1,2,3]}`, 20, `: {"a":"a long text that stays"} | {"b":[1,2,3]}`},
		"several lists, if one is not enough":         {`{}`, `{"a":[1,2,3,4,5,6],"b":[1,2,3,4,5,6],"c":1}`, 30, `/a /b: {"a":[1,2,3,4,5],"b":[],"c":1} | {"a":[6],"b":[1,2,3,4],"c":1} | {"a":[],"b":[5,6],"c":1}`},
		"the members of a map":                        {`{"additionalProperties":{"type":"integer"}}`, `{"a":1,"b":2,"c":3}`, 14, `: {"a":1,"b":2} | {"c":3}`},
		"a map in an object":                          {`{"required":["m"],"properties":{"m":{"additionalProperties":{"type":"integer"}}}}`, `{"t":1,"m":{"a":1,"b":2,"c":3}}`, 26, `/m: {"t":1,"m":{"a":1,"b":2}} | {"t":1,"m":{"c":3}}`},
		"a list in a member of a map":                 {`{"required":["m"]}`, `{"m":{"a":{"n":1,"rows":[1,2,3,4,5,6,7,8]},"b":"as long as a row or two","c":3}}`, 40, `/m /m/a/rows: {"m":{"a":{"n":1,"rows":[1,2,3,4,5,6]}}} | {"m":{"a":{"n":1,"rows":[7,8]}}} | {"m":{"b":"as long as a row or two"}} | {"m":{"c":3}}`},
		"a map whose members are required":            {`{"required":["a","b"]}`, `{"a":"some text","b":"more of it"}`, 20, none},
		"a map that needs two members":                {`{"minProperties":2}`, `{"a":1,"b":2,"c":3,"d":4}`, 20, `: {"a":1,"b":2,"c":3} | {"a":1,"b":2,"d":4}`},
		"a map of which some members need others":     {`{"dependentRequired":{"a":["c"]}}`, `{"a":1,"b":2,"c":3}`, 14, none},
		"a list beside what is above the limit":       {`{"required":["a"]}`, `{"a":"a long text that stays","b":[1,2,3]}`, 10, none},
		"an array in an array":                        {`{}`, `[[1,2,3,4,5,6,7,8,9]]`, 10, ` /0: [[1,2,3]] | [[4,5,6]] | [[7,8,9]]`},
		"one item cannot be divided":                  {`{}`, `{"a":["a long text"]}`, 12, none},
		"not JSON":                                    {`{}`, `{"a":[1,2,3,4,5}`, 10, none},
		"a key that is duplicated":                    {`{}`, `{"a":[1,2,3],"a":[1,2,3]}`, 20, none},

		"minItems":                                {`{"minItems":1}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"minItems of two":                         {`{"minItems":2}`, `[1,2,3,4,5]`, 6, `: [1,2] | [3,4,5]`},
		"minItems that need all":                  {`{"minItems":2}`, `[1,2,3]`, 5, none},
		"minItems behind a reference":             {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"minItems":2}]}}}`, `[1,2,3]`, 5, none},
		"minItems of zero":                        {`{"minItems":0}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"prefixItems":                             {`{"prefixItems":[{}]}`, `[1,2,3]`, 5, none},
		"maxItems, uniqueItems and items":         {`{"maxItems":3,"uniqueItems":true,"items":{"type":"integer"}}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"contains that every part has":            {`{"contains":{"type":"integer"}}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"contains that one part lacks":            {`{"contains":{"const":1}}`, `[1,2,3]`, 5, none},
		"an array that may be null":               {`{"anyOf":[{"type":"array"},{"type":"null"}]}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"one of several types":                    {`{"oneOf":[{"type":"array"},{"type":"object"}]}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"a branch that fits whatever is sliced":   {`{"anyOf":[{"items":{"type":"string"}},{"items":{"type":"integer"}}]}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"a part that fits two of oneOf":           {`{"oneOf":[{"items":{"type":"number"}},{"items":{"enum":[1,2]}}]}`, `[1,2,3]`, 5, none},
		"parts that fit one of oneOf":             {`{"oneOf":[{"items":{"type":"number"}},{"items":{"type":"string"}}]}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"not, and parts are rejected by it":       {`{"not":{"maxItems":2}}`, `[1,2,3]`, 5, none},
		"not, and parts are fine":                 {`{"not":{"type":"object"}}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"if, and parts are fine":                  {`{"if":{"maxItems":2},"then":{"items":{"type":"integer"}}}`, `[1,2,3]`, 5, `: [1,2] | [3]`},
		"const above the array":                   {`{"properties":{"a":{"const":{"b":[1,2,3]}}}}`, `{"a":{"b":[1,2,3]}}`, 17, none},
		"a pattern for the member":                {`{"patternProperties":{"^a":{"minItems":1}}}`, `{"a1":[1,2,3]}`, 12, `/a1: {"a1":[1,2]} | {"a1":[3]}`},
		"additionalProperties for the member":     {`{"properties":{"a":{}},"additionalProperties":{"minItems":1}}`, `{"b":[1,2,3]}`, 11, `/b: {"b":[1,2]} | {"b":[3]}`},
		"additionalProperties for another":        {`{"properties":{"a":{}},"additionalProperties":{"minItems":1}}`, `{"a":[1,2,3]}`, 11, `/a: {"a":[1,2]} | {"a":[3]}`},
		"dependentSchemas that ask for the whole": {`{"dependentSchemas":{"a":{"properties":{"a":{"minItems":3}}}}}`, `{"a":[1,2,3]}`, 11, none},
		"a schema that refers to itself":          {`{"$ref":"#"}`, `[1,2,3]`, 5, none},
		"a bomb of unions":                        {bomb(40, `{"items":{"type":"integer"}}`), `[1,2,3]`, 5, `: [1,2] | [3]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s *schema.Schema
			if test.doc != "" {
				s = compile(t, test.doc)
			}
			got := none
			if c := s.Split([]byte(test.value), test.limit); c != nil {
				var texts []string
				for i := range c.Parts {
					texts = append(texts, string(c.AppendPart(nil, []byte(test.value), i)))
				}
				got = strings.Join(c.Pointers, " ") + ": " + strings.Join(texts, " | ")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every part fits the schema, is within the limit where one item allows, and
// all together are the value again.
func TestCutProperty(t *testing.T) {
	cuts, doubtful := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		made, checked := cutHolds(t)
		cuts += made
		doubtful += checked
	})
	t.Logf("%d values were cut, %d of them under a schema for the fallback validator", cuts, doubtful)
	if cuts < 10 {
		t.Errorf("only %d values were cut: the property was hardly tried", cuts)
	}
}

func FuzzCut(f *testing.F) { f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { cutHolds(t) })) }

func cutHolds(t *rapid.T) (cuts, second int) {
	m := maker{T: t}
	doc := m.document("")
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		return 0, 0
	}
	for range 10 {
		value := []byte(m.long(3))
		limit := rapid.IntRange(1, len(value)).Draw(t, "limit")
		if s.Validate(value) != nil {
			continue
		}
		c := s.Split(value, limit)
		if c == nil {
			continue
		}
		if cuts++; !s.Bytes() {
			second++
		}
		checkParts(t, s, c, value, limit)
	}
	return cuts, second
}

func checkParts(t *rapid.T, s *schema.Schema, c *schema.Split, value []byte, limit int) {
	var parts []schema.Part
	for i := range c.Parts {
		part := c.Part(i)
		part.Value = c.AppendPart(nil, value, i)
		parts = append(parts, part)
		if bad := s.Validate(part.Value); bad != nil {
			t.Fatalf("%s\ncut %s at %q\ninto %s, which does not fit: %v", s.Doc(), value, c.Pointers, part.Value, bad)
		}
		if size := len(part.Value); size != c.Size(value, i) || size > limit && c.Parts[i].Items > 1 && !c.Text {
			t.Fatalf("%s\nas part %d of %s has %d bytes, said to be %d, with a limit of %d", part.Value, i, value, size, c.Size(value, i), limit)
		}
	}
	whole, err := schema.Join(parts...)
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	if want, got := canonical(t, value), canonical(t, whole); want != got {
		t.Fatalf("%s\nbecame %s\nfrom %s", want, got, parts)
	}
}

// Where the schema forbids nothing, no part is above a limit that leaves space
// for the names on the way and a piece of a text.
func TestNoPartIsAboveTheLimit(t *testing.T) {
	inside, open := 0, compile(t, `{}`)
	schemas := []*schema.Schema{nil, open, compile(t, `{"contains":{}}`)}
	rapid.Check(t, func(t *rapid.T) {
		m := maker{T: t}
		value := []byte(m.deep(4))
		limit := rapid.IntRange(100, 600).Draw(t, "limit")
		s := rapid.SampledFrom(schemas).Draw(t, "schema")
		c := s.Split(value, limit)
		if c == nil {
			if len(value) > limit {
				t.Fatalf("%s is not cut at %d", value, limit)
			}
			return
		}
		if c.Inside() {
			inside++
		}
		for i := range c.Parts {
			if size := c.Size(value, i); size > limit {
				t.Fatalf("%s: part %d has %d of %d bytes: %s", value, i, size, limit, c.AppendPart(nil, value, i))
			}
		}
		checkParts(t, open, c, value, limit)
	})
	if inside < 10 {
		t.Errorf("only %d values were cut inside of items", inside)
	}
}

// deep makes a value with long texts, lists in lists and maps.
func (m *maker) deep(depth int) string {
	var all []string
	n := rapid.IntRange(0, 8).Draw(m.T, "children")
	switch kind := m.pick("object", "array", "text", "number"); {
	case kind == "text" || depth == 0:
		return fmt.Sprintf("%q", strings.Repeat(m.pick("word ", "x\n", "\u00e9\"\\"), rapid.IntRange(0, 100).Draw(m.T, "length")))
	case kind == "number":
		return m.pick("0", "-1.5e3", "true", "null")
	case kind == "array":
		for range n {
			all = append(all, m.deep(depth-1))
		}
		return "[" + strings.Join(all, m.pick(",", " , ")) + "]"
	}
	for range n {
		all = append(all, fmt.Sprintf("%q:%s", m.name(), m.deep(depth-1)))
	}
	return "{" + strings.Join(unique(all), m.pick(",", ",\n")) + "}"
}

func canonical(t *rapid.T, value []byte) string {
	c, err := rawjson.AppendCanonical(nil, value)
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return string(c)
}

// long makes a value with arrays that are worth cutting.
func (m *maker) long(depth int) string {
	if depth == 0 || m.chance(15) {
		var items []string
		for range rapid.IntRange(0, 9).Draw(m.T, "items") {
			items = append(items, m.value(1))
		}
		return "[" + strings.Join(items, m.pick(",", " ,\n")) + "]"
	}
	members := []string{fmt.Sprintf("%q:%s", m.name(), m.long(depth-1))}
	for range rapid.IntRange(0, 2).Draw(m.T, "members") {
		members = append(members, fmt.Sprintf("%q: %s", m.name(), m.pick(m.value(1), m.long(depth-1))))
	}
	return "{" + strings.Join(unique(members), ",") + "}"
}

func TestJoinRefusesWhatIsNoPart(t *testing.T) {
	for name, values := range map[string][]string{
		"nothing":           nil,
		"no JSON":           {`{"a":`},
		"no array":          {`{"a":[1]}`, `{"a":2}`},
		"not at that place": {`[1]`},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []schema.Part
			for _, v := range values {
				parts = append(parts, schema.Part{Value: []byte(v), Cuts: []string{"/a"}})
			}
			if whole, err := schema.Join(parts...); err == nil {
				t.Errorf("became %s", whole)
			}
		})
	}
}

// Finding a cut and writing its parts one by one costs little more memory than
// the part that is written.
func TestCutAllocatesLittle(t *testing.T) {
	rows := map[string]string{
		"rows":         `{"id":12345,"name":"a name","tags":["a","b"],"more":{"x":1.5,"y":null}},`,
		"small values": `1,`,
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			const size, limit = 10 << 20, 100 << 10
			value := []byte(`{"total":7,"rows":[` + strings.Repeat(row, size/len(row)) + `{}],"next":null}`)
			s := compile(t, `{"type":"object","properties":{"rows":{"type":"array","items":{"type":["object","integer"]}}},"required":["rows"]}`)
			var parts, written int
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := s.Split(value, limit)
			part := make([]byte, 0, limit)
			parts = len(c.Parts)
			for i := range c.Parts {
				part = c.AppendPart(part[:0], value, i)
				written += len(part)
			}
			runtime.ReadMemStats(&after)
			bytesUsed := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes in %d parts of %d bytes in all: %d bytes allocated", len(value), parts, written, bytesUsed)
			if bytesUsed > size/10 {
				t.Errorf("%d bytes allocated to cut %d", bytesUsed, len(value))
			}
		})
	}
}

func BenchmarkCut(b *testing.B) {
	value := []byte(`{"rows":[` + strings.Repeat(repository+",", 5000) + repository + `]}`)
	s := compile(b, `{"type":"object","properties":{"rows":{"type":"array"}}}`)
	for name, run := range map[string]func(){
		"cut":      func() { s.Split(value, 100<<10) },
		"validate": func() { s.Validate(value) },
		"copy":     func() { bytes.Clone(value) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
