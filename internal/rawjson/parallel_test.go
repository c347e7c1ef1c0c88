package rawjson_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// halves are texts whose middle is where a second reader may begin wrongly, and
// some where it begins well.
func halves() map[string]string {
	path := `"/a":{"get":{"id":[1,{"x":2}]},"put":{}},`
	return map[string]string{
		"members of one object":             `{"paths":{` + strings.Repeat(path, 8) + `"/z":{}},"info":{"a":1},"b":[{},"c"]}`,
		"white space between them":          `{"paths" : {` + strings.Repeat(`"/a" : {"get" : {} } , `+"\n\t", 8) + `"/z" : {} } , "info" : {} } `,
		"an array around":                   `[` + strings.Repeat(`{"a":{},"b":{"c":{},"d":1}},`, 8) + `{}]`,
		"strings that follow objects":       `[` + strings.Repeat(`{},"a",`, 8) + `{},"a"]`,
		"a string that looks like JSON":     `{"a":{},"b":"` + strings.Repeat(`},\"c\":{},`, 9) + `","d":{},"e":1}`,
		"a string of what follows objects":  `{"a":"},","b":"},","c":"},","d":"},","e":"},","f":"},"}`,
		"a error in the second half":        `{` + strings.Repeat(`"a":{},`, 9) + `"b":{},"c":tru,"d":1}`,
		"a error in the first half":         `{"c":tru,` + strings.Repeat(`"a":{},`, 9) + `"b":{}}`,
		"the end is missing":                `{"p":{` + strings.Repeat(`"a":{},`, 9) + `"b":{}`,
		"something follows":                 `{"p":{` + strings.Repeat(`"a":{},`, 9) + `"b":{}}}}`,
		"nested deeper than is supposed":    strings.Repeat(`{"a":`, 80) + `{` + strings.Repeat(`"b":{},`, 99) + `"c":1}` + strings.Repeat(`}`, 80),
		"nested too deep in the second":     `{` + strings.Repeat(`"a":{},`, 3000) + `"b":` + strings.Repeat(`[`, rawjson.MaxDepth) + strings.Repeat(`]`, rawjson.MaxDepth) + `}`,
		"as deep as may be in the second":   `{` + strings.Repeat(`"a":{},`, 3000) + `"b":` + strings.Repeat(`[`, rawjson.MaxDepth-1) + strings.Repeat(`]`, rawjson.MaxDepth-1) + `}`,
		"the middle is the only member":     `{"aaaaaaaaaaaaaaaaaaa":{}}`,
		"nothing":                           ``,
		"a key that is the same everywhere": `{"a":{"a":{"a":{},"a":{}},"a":{"a":{},"a":{}}},"a":{"a":{"a":{},"a":{}},"a":{}}}`,
	}
}

func TestParseHalvesIsParse(t *testing.T) {
	for name, src := range halves() {
		t.Run(name, func(t *testing.T) { asParse(t, []byte(src)) })
	}
}

// FuzzParseHalves: two readers find what one finds, errors included.
func FuzzParseHalves(f *testing.F) {
	for _, src := range halves() {
		f.Add([]byte(src))
	}
	f.Fuzz(asParse)
}

func asParse(t *testing.T, src []byte) {
	want, wantErr := rawjson.Parse(src)
	got, err := rawjson.ParseParallel(src)
	if wantErr != nil || err != nil {
		if err == nil || wantErr == nil || err.Error() != wantErr.Error() {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		return
	}
	alike(t, want, want.Root(), got, got.Root())
}

// alike compares two values. Their numbers differ: two readers leave gaps.
func alike(t *testing.T, want *rawjson.Doc, w rawjson.Node, got *rawjson.Doc, g rawjson.Node) {
	t.Helper()
	for w != rawjson.None && g != rawjson.None {
		if told, as := nodeOf(want, w), nodeOf(got, g); told != as {
			t.Fatalf("node %d: %s", w, cmp.Diff(told, as))
		}
		alike(t, want, want.First(w), got, got.First(g))
		next := got.Next(g)
		if next < g {
			t.Fatalf("node %d comes before %d, which it follows", next, g)
		}
		w, g = want.Next(w), next
	}
	if w != g {
		t.Fatalf("node %d is %d", w, g)
	}
}

type nodeTold struct {
	Kind        rawjson.Kind
	Len, Offset int
	Key, Raw    string
}

func nodeOf(d *rawjson.Doc, n rawjson.Node) nodeTold {
	return nodeTold{d.Kind(n), d.Len(n), d.Offset(n), string(d.RawKey(n)), string(d.Raw(n))}
}
