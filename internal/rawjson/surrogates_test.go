package rawjson_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func TestReplaceSurrogates(t *testing.T) {
	for _, tt := range []struct {
		name, src, want string
		at              []int
	}{
		{"none", `{"a":"\u0041\ud83d\ude00\\ud800"}`, `{"a":"\u0041\ud83d\ude00\\ud800"}`, nil},
		{"high", `["\ud83d"]`, `["\ufffd"]`, []int{2}},
		{"low, in capitals", `["x\uDE00y"]`, `["x\ufffdy"]`, []int{3}},
		{"the wrong way round", `"\ude00\ud83d"`, `"\ufffd\ufffd"`, []int{1, 7}},
		{"before a pair", `"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`, []int{1}},
		{"in a key", `{"\ud83d":1}`, `{"\ufffd":1}`, []int{2}},
	} {
		got, at := rawjson.ReplaceSurrogates([]byte(tt.src))
		if string(got) != tt.want || !slices.Equal(at, tt.at) {
			t.Errorf("%s: %s %v, want %s %v", tt.name, got, at, tt.want, tt.at)
		}
	}
}

// FuzzReplaceSurrogates: what comes out means what encoding/json read before,
// has no half of a pair, and the input stays as it was.
func FuzzReplaceSurrogates(f *testing.F) {
	for _, s := range []string{`["\ud83d"]`, `{"\ude00":"\ud83d\ude00"}`, `"\\ud800"`, `1`, `"\u"`, `\`, `"\ud8`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		got, at := rawjson.ReplaceSurrogates(src)
		if !bytes.Equal(before, src) || len(got) != len(src) {
			t.Fatalf("%q became %q", before, src)
		}
		var want, have any
		if json.Unmarshal(src, &want) != nil {
			return
		}
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(have)
		if !bytes.Equal(a, b) {
			t.Errorf("%s became %s", a, b)
		}
		if again, more := rawjson.ReplaceSurrogates(got); more != nil || !bytes.Equal(again, got) {
			t.Errorf("%v were left of %v", more, at)
		}
	})
}
