package publish_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
)

func TestDefinitionsUsedOnce(t *testing.T) {
	const a = `"$ref":"#/$defs/A"`
	object := func(members, defs string) string {
		if defs != "" {
			defs = `,"$defs":{` + defs + `}`
		}
		return `{"type":"object","properties":{` + members + `}` + defs + `}`
	}
	chain := ""
	for i := range 9 {
		chain += fmt.Sprintf(`"D%d":{"properties":{"d":{"$ref":"#/$defs/D%d"}}},`, i, i+1)
	}
	for name, tt := range map[string]struct{ doc, want string }{
		"once":                       {object(`"a":{`+a+`}`, `"A":{"type":"string"}`), object(`"a":{"type":"string"}`, "")},
		"twice":                      {object(`"a":{`+a+`},"b":{`+a+`}`, `"A":{"type":"string"}`), ""},
		"once in one that is used":   {object(`"b":{"$ref":"#/$defs/B"},"c":{"$ref":"#/$defs/B"}`, `"A":{"type":"string"},"B":{"additionalProperties":{`+a+`}}`), object(`"b":{"$ref":"#/$defs/B"},"c":{"$ref":"#/$defs/B"}`, `"B":{"additionalProperties":{"type":"string"}}`)},
		"one in the other":           {object(`"b":{"$ref":"#/$defs/B"}`, `"A":{"type":"string"},"B":{"additionalProperties":{`+a+`}}`), object(`"b":{"additionalProperties":{"type":"string"}}`, "")},
		"a reference to a reference": {object(`"b":{"$ref":"#/$defs/B"}`, `"B":{`+a+`},"A":{"enum":["$ref"]}`), object(`"b":{"enum":["$ref"]}`, "")},
		"recursive":                  {object(`"a":{`+a+`}`, `"A":{"additionalProperties":{`+a+`}}`), ""},
		"recursive by another":       {object(`"a":{`+a+`}`, `"A":{"additionalProperties":{"$ref":"#/$defs/B"}},"B":{"additionalProperties":{`+a+`}}`), object(`"a":{`+a+`}`, `"A":{"additionalProperties":{"additionalProperties":{`+a+`}}}`)},
		"used by nothing else":       {object(`"a":{}`, `"A":{"additionalProperties":{"$ref":"#/$defs/B"}},"B":{"additionalProperties":{`+a+`}}`), object(`"a":{}`, "")},
		"a part of it is used":       {object(`"a":{`+a+`},"b":{"$ref":"#/$defs/A/not"}`, `"A":{"not":{"type":"string"}}`), ""},
		"notes beside it":            {object(`"a":{"description":"mine",`+a+`,"default":1}`, `"A":{"type":"string","title":"T"}`), object(`"a":{"type":"string","title":"T","description":"mine","default":1}`, "")},
		"another description":        {object(`"a":{"description":"mine",`+a+`}`, `"A":{"description":"other"}`), ""},
		"the same type":              {object(`"a":{"type":"string",`+a+`}`, `"A":{"type":"string","maxLength":1}`), object(`"a":{"type":"string","maxLength":1}`, "")},
		"another type":               {object(`"a":{"type":"string",`+a+`}`, `"A":{"type":["string","null"]}`), ""},
		"a type beside none":         {object(`"a":{"type":"string",`+a+`}`, `"A":{"maxLength":1}`), object(`"a":{"maxLength":1,"type":"string"}`, "")},
		"a rule beside it":           {object(`"a":{"additionalProperties":false,`+a+`}`, `"A":{"properties":{"x":{}}}`), ""},
		"everything":                 {object(`"a":{`+a+`}`, `"A":true`), ""},
		"what means nothing":         {object(`"a":{`+a+`}`, `"A":{}`), object(`"a":{}`, "")},
		"a name of its own":          {object(`"a":{`+a+`}`, `"A":{"$anchor":"x"}`), ""},
		"another document":           {object(`"a":{`+a+`},"b":{"$ref":"http://127.0.0.1/b"}`, `"A":{}`), ""},
		"no JSON":                    {`{"$defs":`, ""},
		"the root":                   {`{"type":"object",` + a + `,"$defs":{"A":{"properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"additionalProperties":{"$ref":"#/$defs/B"}}}}`, `{"properties":{"b":{"$ref":"#/$defs/B"}},"type":"object","$defs":{"B":{"additionalProperties":{"$ref":"#/$defs/B"}}}}`},
		"a name with signs":          {object(`"a":{"$ref":"#/$defs/A~1B%20"}`, `"A/B ":{"type":"string"}`), object(`"a":{"type":"string"}`, "")},
		"no deeper than can be read": {object(`"d":{"$ref":"#/$defs/D0"}`, chain+`"D9":{}`), object(`"d":{"properties":{"d":{"properties":{"d":{"properties":{"d":{"$ref":"#/$defs/D3"}}}}}}}`,
			`"D3":{"properties":{"d":{`+strings.Repeat(`"properties":{"d":{`, 4)+`"properties":{"d":{}}`+strings.Repeat(`}}`, 4)+`}}}`)},
	} {
		if tt.want == "" {
			tt.want = tt.doc
		}
		if got := publish.InlineOnce([]byte(tt.doc)); string(got) != tt.want {
			t.Errorf("%s: %s\nbecame %s, want\n%s", name, tt.doc, got, tt.want)
		}
	}
}

// TestDefinitionsUsedOnceMeanTheSame holds, with another library as the judge, that a
// schema accepts the same values wherever its definitions stand, that none of its texts
// is lost, and that it never becomes longer.
func TestDefinitionsUsedOnceMeanTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }
		texts := 0
		note := func() string {
			texts++
			return fmt.Sprintf("text %d.", texts)
		}
		var schema func(depth int) string
		schema = func(depth int) string {
			var of []string
			for _, keyword := range []string{"$ref", "type", "description", "title", "properties", "items", "anyOf", "not", "additionalProperties", "unevaluatedProperties", "required"} {
				if rapid.IntRange(0, 3).Draw(t, "has "+keyword) > 0 && (keyword != "$ref" || depth > 1) {
					continue
				}
				var value string
				switch keyword {
				case "$ref":
					value = `"#/$defs/` + pick("A", "B", "C", "D", "E") + `"`
				case "type":
					value = pick(`"object"`, `["object","string"]`, `["array","object"]`, `"string"`)
				case "description", "title":
					value = `"` + note() + `"`
				case "required":
					value = `["x"]`
				case "additionalProperties", "unevaluatedProperties":
					value = "false"
				default:
					if depth == 0 {
						continue
					}
					value = schema(depth - 1)
					switch keyword {
					case "properties":
						value = `{"x":` + value + `}`
					case "anyOf":
						value = `[` + value + `,{"type":"null"}]`
					}
				}
				of = append(of, `"`+keyword+`":`+value)
			}
			return "{" + strings.Join(of, ",") + "}"
		}
		defs := map[string]string{}
		for _, name := range []string{"A", "B", "C", "D", "E"} {
			defs[name] = schema(2)
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			parts = append(parts, `"`+name+`":`+defs[name])
		}
		doc := `{"type":"object","properties":{"x":` + schema(2) + `,"y":` + schema(2) + `},"$defs":{` + strings.Join(parts, ",") + `}}`
		plain, _ := publish.Compatible([]byte(doc))
		made := publish.InlineOnce(plain)
		if !json.Valid(made) {
			t.Fatalf("%s\nbecame %s", plain, made)
		}
		if len(made) > len(plain) {
			t.Errorf("%s\nbecame longer: %s", plain, made)
		}
		for text := range strings.SplitSeq(string(plain), `"`) {
			if strings.HasPrefix(text, "text ") && !strings.Contains(string(made), text) && reachable(t, string(plain), text) {
				t.Errorf("%s\nlost %q: %s", plain, text, made)
			}
		}
		before, after := judge(t, string(plain)), judge(t, string(made))
		var value func(depth int) string
		value = func(depth int) string {
			switch {
			case depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0:
				return pick(`"a"`, `null`, `{}`, `[]`, `1`)
			case rapid.Bool().Draw(t, "list"):
				return `[` + value(depth-1) + `]`
			}
			return `{"` + pick("x", "y") + `":` + value(depth-1) + `}`
		}
		for range 12 {
			v := `{"x":` + value(3) + `,"y":` + value(3) + `}`
			if was, is := fits(t, before, v), fits(t, after, v); was != is {
				t.Fatalf("%s\nbecame %s\nand %s: fitted %v, fits %v", plain, made, v, was, is)
			}
		}
	})
}

// reachable reports whether a text stands in what the root of a schema refers to.
func reachable(t *rapid.T, doc, text string) bool {
	var whole map[string]any
	if err := json.Unmarshal([]byte(doc), &whole); err != nil {
		t.Fatal(err)
	}
	defs, _ := whole["$defs"].(map[string]any)
	delete(whole, "$defs")
	seen := map[string]bool{}
	var has func(v any) bool
	has = func(v any) bool {
		switch v := v.(type) {
		case string:
			name, is := strings.CutPrefix(v, "#/$defs/")
			if is && !seen[name] {
				seen[name] = true
				return has(defs[name])
			}
			return v == text
		case []any:
			return slices.ContainsFunc(v, has)
		case map[string]any:
			return slices.ContainsFunc(slices.Collect(maps.Values(v)), has)
		}
		return false
	}
	return has(whole)
}
