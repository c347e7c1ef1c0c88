package markup_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/markup"
)

func TestAdd(t *testing.T) {
	var w markup.Writer
	w.Add(`<p title="%s">%s, 100%</p>`, `a "b" 'c' & %s`, "<i>")
	w.AddIf("", "<b>%s</b>")
	w.AddIf("x", "<b>%s</b>")
	if got, want := string(w.Bytes()), `<p title="a &#34;b&#34; &#39;c&#39; &amp; %s">&lt;i&gt;, 100%</p><b>x</b>`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAnyValue: no value adds an element or an attribute, and each is read as it was.
func TestAnyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"<", ">", `"`, "'", "&", "&lt;", "%s", "a=", "/", "-->", "]]>", "é"})).Draw(t, "value"), "")
		var w markup.Writer
		w.Add(`<p title="%s">%s</p>`, value, value)
		d := xml.NewDecoder(strings.NewReader(string(w.Bytes())))
		var title, text string
		elements := 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, w.Bytes())
			}
			switch token := token.(type) {
			case xml.StartElement:
				elements++
				if len(token.Attr) != 1 {
					t.Errorf("%d attributes in %s", len(token.Attr), w.Bytes())
				}
				title = token.Attr[0].Value
			case xml.CharData:
				text += string(token)
			}
		}
		if elements != 1 || title != value || text != value {
			t.Errorf("%q is %q and %q in %s", value, title, text, w.Bytes())
		}
	})
}

func TestAddCounts(t *testing.T) {
	for name, add := range map[string]func(w *markup.Writer){
		"too few":  func(w *markup.Writer) { w.Add("%s %s", "a") },
		"too many": func(w *markup.Writer) { w.Add("%s", "a", "b") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, name) {
					t.Errorf("panicked with %q", text)
				}
			}()
			add(new(markup.Writer))
		})
	}
}
