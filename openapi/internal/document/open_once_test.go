package document

import (
	"net/url"
	"testing"
)

// didPanic reports whether f does.
func didPanic(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestAFileThatPanickedStaysMissing: the second attempt must not find half of it.
func TestAFileThatPanickedStaysMissing(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "a.example", Path: "/a"}
	l := &library{hosts: map[string]bool{"a.example": true}, fetch: func(*url.URL) ([]byte, error) { panic("once") }}
	if !didPanic(func() { _, _ = l.open(address{url: at}) }) {
		t.Fatal("reading does not panic")
	}
	if f, err := l.open(address{url: at}); err == nil {
		t.Errorf("a file: %+v", f)
	}
}
