package rawjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func TestCheckRefusesWhatReadersDisagreeOn(t *testing.T) {
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"key %d":%d,`, i, i)
	}
	cases := []struct {
		name, src string
		offset    int
	}{
		{"a duplicate key", `{"a":1,"b":2,"a":3}`, 13},
		{"a duplicate key with another escape", `{"a":1,"\u0061":3}`, 7},
		{"a duplicate key inside", `[{"a":{"b":1,"b":2}}]`, 13},
		{"an empty duplicate key", `{"":1,"":2}`, 6},
		{"a duplicate key in a big object", `{` + many.String() + `"key \u0034":0}`, 1 + many.Len()},
		{"a lone high surrogate", `["a\ud83d"]`, 3},
		{"a lone low surrogate", `["\ude00"]`, 2},
		{"a high surrogate before something else", `["\ud83d\u0041"]`, 2},
		{"a lone surrogate in a key", `{"\ud83d":1}`, 2},
		{"a number beyond a double", `[1,1e309]`, 3},
		{"a negative number beyond a double", `-1E999`, 0},
		{"a long number beyond a double", "[" + strings.Repeat("9", 310) + "]", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := rawjson.Parse([]byte(c.src)); err != nil {
				t.Fatalf("not even JSON: %v", err)
			}
			var syntax *rawjson.SyntaxError
			if err := rawjson.Check([]byte(c.src)); !errors.As(err, &syntax) || syntax.Offset != c.offset {
				t.Errorf("got %v, want offset %d", err, c.offset)
			}
		})
	}
}

func TestCheckAccepts(t *testing.T) {
	for name, src := range map[string]string{
		"a key again in another object":  `{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}`,
		"a surrogate pair":               `"\ud83d\ude00"`,
		"the replacement character":      `"\ufffd �"`,
		"an escaped backslash before u":  `"\\ud83d"`,
		"the largest double":             `1.7976931348623157e308`,
		"a number too small to be told":  `1e-999`,
		"an integer beyond 64 bits":      `123456789012345678901234567890`,
		"keys that begin alike":          `{"a":1,"aa":2,"aaa":3,"":4}`,
		"keys that differ in case":       `{"a":1,"A":2}`,
		"a big object after another one": `[{"a":1,"b":2},{"a":1,"b":2}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := rawjson.Check([]byte(src)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckAllocatesNothing(t *testing.T) {
	src := []byte(`{"id":12,"name":"a \"name\" \ud83d\ude00","tags":["x","y"],"nested":{"a":[1.5e3,true,null]}}`)
	if n := testing.AllocsPerRun(100, func() {
		if err := rawjson.Check(src); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzCheck: what Check accepts, Parse and encoding/json accept; nothing in it
// is ambiguous, so that canonical bytes are a fixed point and decode to the
// same value.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"a":2}`, `{"é":1,"\u00e9":2}`, `["\ud800"]`, `[1e309,-0.0]`, `{"b":{"d":1,"c":2},"a":[" "]}`,
		"{\"\\ud83d\\ude00\":1,\"\ue000\":2,\"\\u0000\":3}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		canonical, err := rawjson.AppendCanonical(nil, src)
		if (err == nil) != (rawjson.Check(src) == nil) {
			t.Fatalf("AppendCanonical says %v, Check does not", err)
		}
		if err != nil {
			return
		}
		if _, err := rawjson.Parse(src); err != nil {
			t.Fatal(err)
		}
		again, err := rawjson.AppendCanonical(nil, canonical)
		if err != nil || string(again) != string(canonical) {
			t.Fatalf("%s becomes %s, %v", canonical, again, err)
		}
		var a, b any
		if err := errors.Join(json.Unmarshal(src, &a), json.Unmarshal(canonical, &b)); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v became %v", a, b)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for name, text := range map[string]string{
		"200 B": `{"city":"Lisbon","temperature":21.5,"humidity":60,"wind":{"speed":3.2,"direction":"NW"},` +
			`"tags":["sunny","mild"],"observed":"2024-05-01T12:00:00Z","station":"LIS-0042","source":"gauge","ok":true}`,
		"50 KB": "[" + strings.Repeat(`{"id":12,"name":"a name","tags":["x","y"],"text":"a longer text of words"},`, 640) + "{}]",
	} {
		b.Run(name, func(b *testing.B) {
			src := []byte(text)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := rawjson.Check(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
