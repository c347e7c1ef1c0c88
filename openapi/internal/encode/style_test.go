package encode

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func argumentOf(t testing.TB, text string) Argument {
	t.Helper()
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Argument{doc, doc.Root()}
}

// TestStyles has the examples of OpenAPI 3.1 §4.8.12.6.
func TestStyles(t *testing.T) {
	const list, object = `["blue","black","brown"]`, `{"R":100,"G":200,"B":150}`
	for _, tt := range []struct {
		style, value string
		explode      bool
		want         string
	}{
		{"matrix", `""`, false, ";color"},
		{"matrix", `"blue"`, false, ";color=blue"},
		{"matrix", list, false, ";color=blue,black,brown"},
		{"matrix", list, true, ";color=blue;color=black;color=brown"},
		{"matrix", object, true, ";R=100;G=200;B=150"},
		{"label", `"blue"`, false, ".blue"},
		{"label", object, true, ".R=100.G=200.B=150"},
		{"simple", list, false, "blue,black,brown"},
		{"simple", object, false, "R,100,G,200,B,150"},
		{"form", `""`, true, "color="},
		{"form", list, false, "color=blue,black,brown"},
		{"form", list, true, "color=blue&color=black&color=brown"},
		{"form", object, true, "R=100&G=200&B=150"},
		{"spaceDelimited", list, false, "color=blue%20black%20brown"},
		{"pipeDelimited", object, false, "color=R%7C100%7CG%7C200%7CB%7C150"},
		{"deepObject", object, true, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"},
	} {
		s := StyleOf(tt.style)
		s.Escape, s.Explode = EscapeAll, tt.explode
		got := string(s.Append(nil, "color", argumentOf(t, tt.value)))
		if got != tt.want {
			t.Errorf("%s explode=%t %s: %s, want %s", tt.style, tt.explode, tt.value, got, tt.want)
		}
	}
}

// FuzzEscape: an encoded value has no byte that could end its component, and
// decodes to what it was.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a b", "a/b?c#d", "%2F", "ä\x00\xff", "a&b=c;d,e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := EscapeAll.Text(text)
		if back, err := url.PathUnescape(path); err != nil || back != text || strings.ContainsAny(path, "/?#&=;, +") {
			t.Errorf("%q became %q and then %q, %v", text, path, back, err)
		}
		form := EscapeForm.Text(text)
		if back, err := url.QueryUnescape(form); err != nil || back != text || strings.ContainsAny(form, "&=;#") {
			t.Errorf("%q became %q and then %q, %v", text, form, back, err)
		}
	})
}
