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
	tested := map[string]bool{"cookie": true} // form in a cookie, which has a test of its own
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
		s := styleNamed(t, tt.style)
		tested[tt.style] = true
		s.Escape, s.Explode = EscapeAll, tt.explode
		got := string(s.Append(nil, "color", argumentOf(t, tt.value)))
		if got != tt.want {
			t.Errorf("%s explode=%t %s: %s, want %s", tt.style, tt.explode, tt.value, got, tt.want)
		}
	}
	for _, name := range StyleNames() {
		if !tested[name] {
			t.Errorf("%s has no example", name)
		}
	}
}

// styleNamed is a style in the first location that allows it.
func styleNamed(t *testing.T, name string) Style {
	t.Helper()
	for in := InPath; in <= InQueryString; in++ {
		if s, ok := StyleOf(name, in); ok {
			return s
		}
	}
	t.Fatalf("no location allows %s", name)
	return Style{}
}

// TestStyleOf: a style that a location does not allow is the default of the location.
func TestStyleOf(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in       Location
		ok       bool
		want     string
		between  string
		explodes bool
	}{
		{"", InPath, true, "1,2", ",", false},
		{"", InHeader, true, "1,2", ",", false},
		{"", InQuery, true, "p=1&p=2", "&", true},
		{"", InForm, true, "p=1&p=2", "&", true},
		{"", InQueryString, true, "p=1&p=2", "&", true},
		{"", InCookie, true, "p=1; p=2", "; ", true},
		{"cookie", InCookie, true, "p=1; p=2", "; ", true},
		{"cookie", InQuery, false, "p=1&p=2", "&", true},
		{"matrix", InPath, true, ";p=1,2", ";", false},
		{"matrix", InQuery, false, "p=1&p=2", "&", true},
		{"form", InPath, false, "1,2", ",", false},
		{"pipeDelimited", InHeader, false, "1,2", ",", false},
		{"pipeDelimited", InForm, true, "p=1%7C2", "&", false},
		{"unheard", InHeader, false, "1,2", ",", false},
	} {
		s, ok := StyleOf(tt.name, tt.in)
		if got := string(s.Append(nil, "p", argumentOf(t, "[1,2]"))); ok != tt.ok || got != tt.want || s.Between != tt.between || s.Explode != tt.explodes {
			t.Errorf("%q in %s: %t, %s, %+v", tt.name, tt.in, ok, got, s)
		}
	}
}

// TestLegacyStyle has the formats of 2.0.
func TestLegacyStyle(t *testing.T) {
	for _, tt := range []struct {
		format string
		in     Location
		want   string
	}{
		{"", InQuery, "p=1,2"},
		{"csv", InForm, "p=1,2"},
		{"csv", InPath, "1,2"},
		{"ssv", InQuery, "p=1%202"},
		{"ssv", InHeader, "1 2"},
		{"tsv", InPath, "1%092"},
		{"tsv", InHeader, "1\t2"},
		{"pipes", InForm, "p=1%7C2"},
		{"pipes", InHeader, "1|2"},
		{"multi", InQuery, "p=1&p=2"},
		{"multi", InHeader, "1,2"},
	} {
		if got := string(LegacyStyle(tt.format, tt.in).Append(nil, "p", argumentOf(t, "[1,2]"))); got != tt.want {
			t.Errorf("%s in %s: %q, want %q", tt.format, tt.in, got, tt.want)
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
