package openapi

import "testing"

// panics reports whether f does.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestAPlanThatPanickedStaysMissing: half of a plan looks like a small one, which
// requires and validates nothing.
func TestAPlanThatPanickedStaysMissing(t *testing.T) {
	o := &operation{method: "GET", path: "/a"}
	for range 2 {
		if !panics(func() { o.planned() }) {
			t.Errorf("a plan: %+v", o.plan)
		}
	}
}
