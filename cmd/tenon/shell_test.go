package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/mcpclient"
)

func TestShellWords(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       []string
		bad        bool
	}{
		{"words", `a=1  b=two`, []string{"a=1", "b=two"}, false},
		{"quotes", `a="one two" b='it is' c="it's"`, []string{"a=one two", "b=it is", "c=it's"}, false},
		{"an empty word", `a "" b`, []string{"a", "", "b"}, false},
		{"nothing", ` `, nil, false},
		{"a quote that is not closed", `a="one`, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shellWords(tt.line)
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.bad {
				t.Errorf("error %v, words (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestShellCompletes(t *testing.T) {
	s := &shell{tools: []mcpclient.Tool{
		{Name: "getBook", InputSchema: []byte(`{"properties":{"bookId":{},"bookKind":{},"page":{}}}`)}, {Name: "getBooks"}, {Name: "listShops"},
	}}
	for _, tt := range []struct{ name, line, want string }{
		{"a command", "ca", "call "},
		{"a command that is not there", "xyz", "xyz"},
		{"a tool", "call l", "call listShops "},
		{"what tools share", "schema g", "schema getBook"},
		{"what arguments share", "call getBook b", "call getBook book"},
		{"an argument", "call getBook bookId=b1 p", "call getBook bookId=b1 page="},
		{"nothing to complete", "history ", "history "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.complete(tt.line); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
