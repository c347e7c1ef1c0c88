package openapi

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

func TestNextLink(t *testing.T) {
	tests := []struct{ name, header, want string }{
		{"one", `<https://a.test/?page=2>; rel="next"`, "https://a.test/?page=2"},
		{"behind another", `</1>; rel=prev, </3>; rel=next`, "/3"},
		{"with a comma in the target", `</a,b;c>; rel=next`, "/a,b;c"},
		{"with signs in a text", `</1>; title="a, <b>; rel=next \" c"; rel=last, </2>; rel=next`, "/2"},
		{"among several relations", `</2>;rel="last NEXT"`, "/2"},
		{"in capitals, with spaces", `</2> ; ReL = next ; x`, "/2"},
		{"a second rel does not count", `</2>; rel=prev; rel=next`, ""},
		{"about something else", `</2>; rel=next; anchor="/x"`, ""},
		{"a word that begins so", `</2>; rel=nextpage`, ""},
		{"no end", `</2`, ""},
		{"an open text", `</2>; rel="next`, "/2"},
		{"nothing", ``, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := nextLink([]string{tt.header}); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
		})
	}
	if got := nextLink([]string{`</1>; rel=prev`, `</2>; rel=next`}); got != "/2" {
		t.Errorf("two headers: %q", got)
	}
}

// FuzzNextLink holds that a target stands in the header as it is, in brackets,
// and that it leads to the origin that it is resolved against or names another.
func FuzzNextLink(f *testing.F) {
	f.Add(`</1>; title="a, <b>"; rel=last, </2>; rel=next`)
	f.Add(`<//evil.test/>; rel=next`)
	f.Add(`<>;;,=",<a>;rel="x next"`)
	f.Fuzz(func(t *testing.T, header string) {
		target := nextLink([]string{header})
		if target == "" {
			return
		}
		dense := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if !strings.Contains(dense(header), "<"+dense(target)+">") {
			t.Errorf("%q is no target in %q", target, header)
		}
		from := &url.URL{Scheme: "https", Host: "a.test", Path: "/list"}
		if to := resolved(from, target); to != nil && document.SameOrigin(from, to) && !strings.HasPrefix(to.String(), "https://a.test") {
			t.Errorf("%q is taken for the same origin: %s", target, to)
		}
	})
}
