package rawjson_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// FuzzMembers: the members of an object are those that Parse finds; the locations
// in other input lie in it, one behind the other.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, "{ \"a\" : [ {\"b\":\"]}\"} , \"\\\\\" ] ,\n\"\\u0061\":{\"x\":[{}]},\"c\":-1.5e3 }", `{"a":true}`, `{"a":"b","":null}`,
		`{"a`, `{"a"`, `{"a":`, `{"a":[`, `{"a":{"b":1}`, `[1,"a"]`, `{"a":1}{"b":2}`, `"a`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, err := rawjson.Parse(src)
		legal := err == nil && doc.Kind(doc.Root()) == rawjson.Object && src[0] == '{'
		n, last := rawjson.None, 0
		if legal {
			n = doc.First(doc.Root())
		}
		for m := range rawjson.Members(src) {
			if m.Start < last || m.Value < m.Start || m.End < m.Value || m.End > len(src) {
				t.Fatalf("%q: %+v behind %d", src, m, last)
			}
			if last = m.End; !legal {
				continue
			}
			if string(m.Key) != string(doc.RawKey(n)) || m.Value != doc.Offset(n) || string(src[m.Value:m.End]) != string(doc.Raw(n)) {
				t.Fatalf("%q: %s at %d is %s", src, m.Key, m.Value, src[m.Value:m.End])
			}
			n = doc.Next(n)
		}
		if n != rawjson.None {
			t.Fatalf("%q: nothing is told of %s", src, doc.Key(n))
		}
	})
}

// FuzzElements: the elements of a list are those that Parse finds; the bytes that
// stand for them in other input lie in it.
func FuzzElements(f *testing.F) {
	for _, s := range []string{`[]`, `[1]`, "[ \"],\" , [2,[3]] ,\n{\"a\":[\"]\"]},null,-1.5e3 ]", `[1`, `[[`, `["a`, `{"a":1}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, err := rawjson.Parse(src)
		legal := err == nil && doc.Kind(doc.Root()) == rawjson.Array && src[0] == '['
		n := rawjson.None
		if legal {
			n = doc.First(doc.Root())
		}
		for e := range rawjson.Elements(src) {
			if !legal {
				continue
			}
			if string(e) != string(doc.Raw(n)) {
				t.Fatalf("%q: %s instead of %s", src, e, doc.Raw(n))
			}
			n = doc.Next(n)
		}
		if n != rawjson.None {
			t.Fatalf("%q: nothing is told of %s", src, doc.Raw(n))
		}
	})
}
