package rawjson_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func parse(t *testing.T, src string) *rawjson.Doc {
	t.Helper()
	d, err := rawjson.Parse([]byte(src))
	if err != nil {
		t.Fatalf("Parse(%s): %v", src, err)
	}
	return d
}

func TestParseRefuses(t *testing.T) {
	cases := []struct {
		name, src string
		offset    int
	}{
		{"nothing", "", 0},
		{"white space", " \n", 2},
		{"two values", "1 2", 2},
		{"a comma too many in an object", `{"a":1,}`, 7},
		{"a comma too many in an array", `[1,]`, 3},
		{"a comma missing", `[1 2]`, 3},
		{"a colon missing", `{"a" 1}`, 5},
		{"a key without quotes", `{a:1}`, 1},
		{"an open object", `{"a":1`, 6},
		{"an open array", `[[1]`, 4},
		{"an open string", `["abc`, 5},
		{"a leading zero", `[01]`, 1},
		{"a lone minus", `-`, 0},
		{"a point without digits", `[1.]`, 1},
		{"a point without whole part", `.5`, 0},
		{"an exponent without digits", `1e+`, 0},
		{"a plus", `+1`, 0},
		{"a literal cut short", `tru`, 0},
		{"a literal that goes on", `nullx`, 4},
		{"a wrong literal", `True`, 0},
		{"a control character in a string", "[\"a\nb\"]", 3},
		{"an unknown escape", `["\x41"]`, 2},
		{"a short escape", `["\u12g4"]`, 2},
		{"an escape at the end", `["\`, 2},
		{"a byte that is not UTF-8", "[\"long enough for a word \xff\"]", 25},
		{"a surrogate in UTF-8", "[\"\xed\xa0\x80\"]", 2},
		{"a byte order mark", "\ufeff1", 0},
		{"a NUL between tokens", "[1,\x002]", 3},
		{"deep nesting", strings.Repeat("[", 1001) + strings.Repeat("]", 1001), 1000},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := rawjson.Parse([]byte(c.src))
			var syntax *rawjson.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got error %v, want a *SyntaxError", err)
			}
			if syntax.Offset != c.offset {
				t.Errorf("got %v, want offset %d", err, c.offset)
			}
			if rawjson.Check([]byte(c.src)) == nil {
				t.Error("Check accepts it")
			}
		})
	}
}

func TestParseTakesNestingUpToTheLimit(t *testing.T) {
	src := []byte(strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth))
	if _, err := rawjson.Parse(src); err != nil {
		t.Error(err)
	}
	if err := rawjson.Check(src); err != nil {
		t.Error(err)
	}
}

func TestDocWalksInTheOrderOfTheSource(t *testing.T) {
	d := parse(t, ` {"b": [1, -2.50e1, true, false, null, "x\n", {}, []], "a\u0041": "π"} `)
	var got []string
	var walk func(n rawjson.Node)
	walk = func(n rawjson.Node) {
		got = append(got, d.Key(n)+"|"+string(d.Raw(n))+"|"+d.Str(n))
		for c := d.First(n); c != rawjson.None; c = d.Next(c) {
			walk(c)
		}
	}
	for c := d.First(d.Root()); c != rawjson.None; c = d.Next(c) {
		walk(c)
	}
	want := []string{
		`b|[1, -2.50e1, true, false, null, "x\n", {}, []]|`,
		"|1|", "|-2.50e1|", "|true|", "|false|", "|null|", "|\"x\\n\"|x\n", "|{}|", "|[]|",
		"aA|\"π\"|π",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := d.Get(d.Root(), "aA"); d.Offset(n) != strings.Index(string(d.Source()), `"π"`) {
		t.Errorf("offset of aA is %d", d.Offset(n))
	}
	if got := string(d.RawKey(d.Get(d.Root(), "aA"))); got != `a\u0041` {
		t.Errorf("raw key %q", got)
	}
}

func TestGetFindsTheLastDuplicate(t *testing.T) {
	var big strings.Builder
	for range 40 {
		big.WriteString(`"k":0,"\u006b":1,"a\"b":2,`)
	}
	for name, src := range map[string]string{
		"small object": `{"k":0,"a\"b":7,"\u006b":9,"x":3}`,
		"big object":   `{` + big.String() + `"a\"b":7,"\u006b":9,"x":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, src)
			for key, want := range map[string]string{"k": "9", `a"b`: "7", "x": "3", "": "", "y": ""} {
				if got := string(d.Raw(d.Get(d.Root(), key))); got != want {
					t.Errorf("Get(%q) = %q, want %q", key, got, want)
				}
			}
		})
	}
}

func TestGetFindsEveryKeyOfABigObject(t *testing.T) {
	members := map[string]int{}
	for i := range 3000 {
		members[strings.Repeat("k", i%7)+string(rune('a'+i))] = i
	}
	src, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, string(src))
	for key := range members {
		if n := d.Get(d.Root(), key); d.Key(n) != key {
			t.Fatalf("Get(%q) found %q", key, d.Key(n))
		}
		if n := d.Get(d.Root(), key+"~"); n != rawjson.None {
			t.Fatalf("Get(%q) found %q", key+"~", d.Key(n))
		}
	}
}

func TestPointer(t *testing.T) {
	d := parse(t, `{"a":{"b/c":[10,{"~1":"x"}],"":"empty"},"d":"text","0":"zero"}`)
	for ptr, want := range map[string]string{
		"":                string(d.Source()),
		"/a/b~1c/0":       "10",
		"/a/b~1c/1/~01":   `"x"`,
		"/a/":             `"empty"`,
		"/0":              `"zero"`,
		"/a/b~1c/2":       "",
		"/a/b~1c/-":       "",
		"/a/b~1c/00":      "",
		"/a/b~1c/":        "",
		"/a/b~1c/9999999": "",
		"/d/0":            "",
		"/a/b/c":          "",
		"a":               "",
		"/nothing/there":  "",
	} {
		if got := string(d.Raw(d.Pointer(ptr))); got != want {
			t.Errorf("Pointer(%q) = %s, want %s", ptr, got, want)
		}
	}
}

func TestNoneAnswersZero(t *testing.T) {
	d := parse(t, `{"a":1}`)
	n := d.Get(d.Root(), "b")
	if n != rawjson.None || d.Kind(n) != rawjson.Invalid || d.Len(n) != 0 || d.First(n) != rawjson.None ||
		d.Next(n) != rawjson.None || d.Get(n, "a") != rawjson.None || d.Key(n) != "" || d.RawKey(n) != nil ||
		d.Raw(n) != nil || d.Str(n) != "" || d.IsStr(n, "") || d.IsTrue(n) || d.Offset(n) != 0 || len(d.AppendCompact(nil, n)) != 0 {
		t.Error("None is something")
	}
}

func TestStrResolvesEscapes(t *testing.T) {
	for src, want := range map[string]string{
		`"\"\\\/\b\f\n\r\t"`:   "\"\\/\b\f\n\r\t",
		`"\u00e9\u20AC"`:       "é€",
		`"\ud83d\ude00!"`:      "😀!",
		`"\ud83d"`:             "\uFFFD",
		`"\ud83dx"`:            "\uFFFDx",
		`"\ud83d\u0041"`:       "\uFFFDA",
		`"\ude00\ud83d\ude00"`: "\uFFFD😀",
		`1`:                    "",
	} {
		d := parse(t, src)
		if got := d.Str(d.Root()); got != want {
			t.Errorf("Str of %s is %q, want %q", src, got, want)
		}
		if d.Kind(0) == rawjson.String && !d.IsStr(0, want) {
			t.Errorf("IsStr of %s", src)
		}
	}
}

func TestPosition(t *testing.T) {
	src := []byte("ab\ncd\n")
	for offset, want := range map[int][2]int{0: {1, 1}, 1: {1, 2}, 2: {1, 3}, 3: {2, 1}, 6: {3, 1}, 99: {3, 1}, -1: {1, 1}} {
		if line, column := rawjson.Position(src, offset); [2]int{line, column} != want {
			t.Errorf("offset %d is %d:%d, want %v", offset, line, column, want)
		}
	}
}

// FuzzParse: Parse and encoding/json agree on what JSON is, but for UTF-8 and
// depth, and what was parsed reads as encoding/json reads it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00",true,false,null,{}]}`, `[[[]]]`, " \t\r\n0 ", `{"a":1,"a":2}`,
		"\"a long string that spans several words \\\" and ends\"", `"\ud800"`, `-0`, `1E400`, "\"\xff\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := rawjson.Parse(src)
		want := json.Valid(src) && utf8.Valid(src) && depth(src) <= rawjson.MaxDepth
		if (err == nil) != want {
			t.Fatalf("Parse says %v, encoding/json says %v", err, want)
		}
		if err != nil {
			var syntax *rawjson.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(src) {
				t.Fatalf("bad error %v", err)
			}
			return
		}
		var theirs, ours any
		if json.Unmarshal(src, &theirs) != nil {
			return // a number beyond the range of a double
		}
		if err := json.Unmarshal(d.AppendCompact(nil, d.Root()), &ours); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Error(diff)
		}
		same(t, d, d.Root(), theirs)
	})
}

// same compares what a Doc answers with a decoded value.
func same(t *testing.T, d *rawjson.Doc, n rawjson.Node, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for key, v := range want {
			same(t, d, d.Get(n, key), v)
		}
		for c := d.First(n); c != rawjson.None; c = d.Next(c) {
			if _, ok := want[d.Key(c)]; !ok {
				t.Fatalf("key %q is invented", d.Key(c))
			}
		}
	case []any:
		if d.Len(n) != len(want) {
			t.Fatalf("%d elements, want %d", d.Len(n), len(want))
		}
		c := d.First(n)
		for _, v := range want {
			same(t, d, c, v)
			c = d.Next(c)
		}
	case string:
		if !d.IsStr(n, want) || d.Str(n) != want {
			t.Fatalf("string %q, want %q", d.Str(n), want)
		}
	case bool:
		if d.Kind(n) != rawjson.Bool || d.IsTrue(n) != want {
			t.Fatalf("%s, want %v", d.Raw(n), want)
		}
	case float64:
		if d.Kind(n) != rawjson.Number {
			t.Fatalf("%s, want %v", d.Raw(n), want)
		}
	case nil:
		if d.Kind(n) != rawjson.Null {
			t.Fatalf("%s, want null", d.Raw(n))
		}
	}
}

// depth counts how deep src nests, in the simplest way.
func depth(src []byte) int {
	deepest, now, inside := 0, 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

func BenchmarkParse(b *testing.B) {
	src := document(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rawjson.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}

// document is the file that TENON_OPENAPI_GITHUB names, else something like it.
func document(b *testing.B) []byte {
	b.Helper()
	name := os.Getenv("TENON_OPENAPI_GITHUB")
	if name == "" {
		b.Log("TENON_OPENAPI_GITHUB is not set: using a made-up document")
		item := `{
        "name": "full_name", "description": "The full, globally unique name of the repository.",
        "schema": {"type": "string", "nullable": true, "maxLength": 100}, "required": ["a", "b"]
      }`
		return []byte("[" + strings.Repeat(item+",\n      ", 4000) + item + "]")
	}
	src, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return src
}
