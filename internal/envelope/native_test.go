package envelope_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/envelope"
)

func textsOf(data []byte) []string {
	return envelope.AppendTexts([]string{}, envelope.JSON, data, func(text []byte) string { return string(text) })
}

func TestTextsOfAList(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 8<<10) + `"}`
	many := "[" + strings.Repeat("1,", 1000) + "1]"
	cases := []struct {
		name, data string
		want       []string
	}{
		{"nothing", `null`, []string{}},
		{"no items", `[ ]`, []string{}},
		{"scalars, and null has no block", `[1, "a\n\u00e9 \"]", null ,-2.50e3,true]`, []string{"1", "a\né \"]", "-2.50e3", "true"}},
		{"lists in the list", `[[1,[[],["x"]]],{"y":[1, {"z":"}"}]}]`, []string{"1", "x", "{\n  \"y\": [\n    1,\n    {\n      \"z\": \"}\"\n    }\n  ]\n}"}},
		{"a long object is as it came", "[" + long + "]", []string{long}},
		{"as many as there may be", "[" + many[3:], slices.Repeat([]string{"1"}, 1000)},
		{"too many", many, []string{many}},
		{"an object", `{"a":{},"b":[ ]}`, []string{"{\n  \"a\": {},\n  \"b\": []\n}"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, textsOf([]byte(c.data))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTextsAreThoseOfEncodingJSON: whatever the list, its blocks are what
// encoding/json makes of the items.
func TestTextsAreThoseOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(list(t, 3))
		want := items(t, []string{}, data)
		if diff := cmp.Diff(want, textsOf(data)); diff != "" {
			t.Fatalf("%s\n%s", data, diff)
		}
	})
}

func list(t *rapid.T, depth int) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "items") {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(space(t) + value(t, depth-1) + space(t))
	}
	return "[" + b.String() + "]"
}

func value(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	switch {
	case kind == 0 && depth > 0:
		return list(t, depth)
	case kind == 1 && depth > 0:
		return fmt.Sprintf("{%s%q:%s%s}", space(t), "key", space(t), value(t, depth-1))
	case kind <= 2:
		text, err := json.Marshal(rapid.StringOf(rapid.SampledFrom([]rune("aé\"\\[]{},: \n\u2028😀"))).Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return rapid.SampledFrom([]string{"null", "true", "{}", "[]", "-1.50", "12345678901234567890", `"\u00e9\ud83d\ude00\/"`}).Draw(t, "scalar")
}

func space(t *rapid.T) string { return rapid.SampledFrom([]string{"", " ", "\n\t "}).Draw(t, "space") }

// items is the slow way to the same.
func items(t *rapid.T, texts []string, data []byte) []string {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list {
		switch item[0] {
		case 'n':
		case '[':
			texts = items(t, texts, item)
		case '"':
			var s string
			if err := json.Unmarshal(item, &s); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, s)
		default:
			var b bytes.Buffer
			if err := json.Indent(&b, item, "", "  "); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, b.String())
		}
	}
	return texts
}
