package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                             `""`,
		"plain":                        `"plain"`,
		"<a href='x'>&amp;</a>\u2028":  "\"<a href='x'>&amp;</a>\u2028\"",
		"say \"hi\" \\ bye":            `"say \"hi\" \\ bye"`,
		"\b\f\n\r\t\x00\x1f\x7f":       `"\b\f\n\r\t\u0000\u001f` + "\x7f\"",
		"twelve bytes and a quote\"":   `"twelve bytes and a quote\""`,
		"zażółć gęślą jaźń 😀":          `"zażółć gęślą jaźń 😀"`,
		"bad \xff\xfe end":             "\"bad \uFFFD\uFFFD end\"",
		"cut \xe2\x82":                 "\"cut \uFFFD\uFFFD\"",
		"a surrogate \xed\xa0\x80 cut": "\"a surrogate \uFFFD\uFFFD\uFFFD cut\"",
	} {
		if got := string(rawjson.AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
		if got := string(rawjson.AppendString([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("AppendString of bytes %q = %s", in, got)
		}
	}
}

// FuzzAppendString: encoding/json reads back what went in, bytes that are not
// UTF-8 as U+FFFD; the result passes Check and what stood before is untouched.
func FuzzAppendString(f *testing.F) {
	f.Add("plain and long enough")
	f.Add("\"\\\n\x00<>&\u2028é😀\xff")
	f.Add(`{"json":["in","json"]}`)
	f.Fuzz(func(t *testing.T, s string) {
		const before = "before"
		all := rawjson.AppendString([]byte(before), s)
		if string(all[:len(before)]) != before {
			t.Fatal("what stood before has changed")
		}
		got := all[len(before):]
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("got %q back, want %q", back, want)
		}
		if err := rawjson.Check(got); err != nil {
			t.Fatal(err)
		}
		if of := rawjson.AppendString(nil, []byte(s)); string(of) != string(got) {
			t.Fatalf("bytes give %s, a string gives %s", of, got)
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	for name, s := range map[string]string{
		"json":  strings.Repeat(`{"id":12,"name":"a name","tags":["x","y"],"text":"a longer text of some words"},`, 640),
		"prose": strings.Repeat("Prose has few characters that must be escaped. ", 1100),
		"greek": strings.Repeat("Ἐν ἀρχῇ ἦν ὁ λόγος. ", 1400),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = rawjson.AppendString(dst[:0], s)
			}
		})
	}
}
