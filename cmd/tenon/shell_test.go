package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	s := &shell{tools: []shellTool{
		{name: "getBook", input: []byte(`{"properties":{"bookId":{},"bookKind":{},"page":{}}}`)}, {name: "getBooks"}, {name: "listShops"},
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

func TestEvents(t *testing.T) {
	got := events([]byte("event: message\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: still here\n\ndata:\n\ndata: {\"b\":2}"))
	want := [][]byte{[]byte("{\"a\":\n1}"), []byte(`{"b":2}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// FuzzEvents: what a server streams is never read as more than it sent.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\n\ndata: a\ndata: b\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		total := 0
		for _, e := range events(stream) {
			if len(bytes.TrimSpace(e)) == 0 {
				t.Error("an event says nothing")
			}
			total += len(e)
		}
		if total > len(stream) {
			t.Errorf("%d bytes of %d", total, len(stream))
		}
	})
}
