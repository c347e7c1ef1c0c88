package rawjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func TestFormat(t *testing.T) {
	const src = " { \"b\" : [ 1.0 , 12345678901234567890 , { } , [ ] ,\n\"a \\\" b\\u00e9 <\" ] ,\"a\":{\"x\":null} } "
	cases := []struct {
		name   string
		format func(dst, src []byte) ([]byte, error)
		want   string
	}{
		{"compact", rawjson.AppendCompact, `{"b":[1.0,12345678901234567890,{},[],"a \" b\u00e9 <"],"a":{"x":null}}`},
		{"canonical", rawjson.AppendCanonical, `{"a":{"x":null},"b":[1.0,12345678901234567890,{},[],"a \" bé <"]}`},
		{
			"indented",
			func(dst, src []byte) ([]byte, error) { return rawjson.AppendIndent(dst, src, "  ") },
			`{
  "b": [
    1.0,
    12345678901234567890,
    {},
    [],
    "a \" b\u00e9 <"
  ],
  "a": {
    "x": null
  }
}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.format([]byte("before "), []byte(src))
			if err != nil || string(got) != "before "+c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
			if got, err := c.format([]byte("x"), []byte(`{"a":}`)); err == nil || string(got) != "x" {
				t.Errorf("bad input gave %q, %v", got, err)
			}
		})
	}
}

func TestDocAppendCompactWritesOneValue(t *testing.T) {
	d := parse(t, `{"a" : { "b" : [ 1, 2 ] } }`)
	if got := string(d.AppendCompact(nil, d.Pointer("/a"))); got != `{"b":[1,2]}` {
		t.Error(got)
	}
}

func TestCanonicalSortsByUTF16(t *testing.T) {
	// The order of RFC 8785 section 3.2.3: U+1F600 is D83D DE00 and so before U+FB33.
	const src = `{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7,"1a":8}`
	const want = "{\"\\r\":2,\"1\":4,\"1a\":8,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"
	if got, err := rawjson.AppendCanonical(nil, []byte(src)); err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// FuzzFormat: AppendCompact and AppendIndent change only white space, as
// encoding/json does it.
func FuzzFormat(f *testing.F) {
	f.Add([]byte(` { "a" : [ 1 , "x y" , { } , [ ] ] , "b\" c" : null } `))
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := rawjson.AppendCompact(nil, src)
		indented, err2 := rawjson.AppendIndent(nil, src, "\t")
		if (err == nil) != (err2 == nil) {
			t.Fatalf("AppendCompact says %v, AppendIndent %v", err, err2)
		}
		if err != nil {
			return
		}
		var compact, pretty bytes.Buffer
		if json.Compact(&compact, src) != nil || json.Indent(&pretty, bytes.TrimSpace(src), "", "\t") != nil {
			t.Fatal("encoding/json rejects it")
		}
		if compact.String() != string(got) {
			t.Fatalf("got %s, want %s", got, compact.String())
		}
		if pretty.String() != string(indented) {
			t.Fatalf("got %s, want %s", indented, pretty.String())
		}
	})
}
