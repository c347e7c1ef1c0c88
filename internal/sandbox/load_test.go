package sandbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// TestLoadEnds loads modules that do not terminate. Each ends with the time
// limit of the call, not with that of libraries, with the error that a call
// would have.
func TestLoadEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		module string
		want   sandbox.Kind
	}{
		"a loop":               {"for (;;) {}", sandbox.Deadline},
		"a loop in a function": {"export const f = (() => { for (;;) {} })()", sandbox.Deadline},
		"a loop that catches":  {"for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }", sandbox.Deadline},
		"endless jobs":         {"const g = () => Promise.resolve().then(g); g(); export const f = 1", sandbox.Deadline},
		"a loop behind await":  {"await 1; for (;;) {}", sandbox.Deadline},
		"a native loop":        {"const a = []; a[2**32-2] = 1; a.indexOf(7); a.indexOf(8); for (;;) {}", sandbox.Deadline},
		"memory":               {"const a = []; for (;;) a.push(new Array(1e5).fill(1))", sandbox.Memory},
		"depth":                {"const g = () => g() + 1; g()", sandbox.Stack},
		"an error":             {"throw new Error('no')", sandbox.Thrown},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			budget := 300 * time.Millisecond
			if tt.want != sandbox.Deadline {
				budget = 20 * time.Second
			}
			_, err := pool(t, sandbox.Options{Memory: 64 << 20}).Run(ctx, program(tt.module), sandbox.Call{Function: "f", Args: []byte("1"), Budget: budget})
			if kindOf(err) != tt.want {
				t.Errorf("%v (%s), want %s", err, kindOf(err), tt.want)
			}
		})
	}
}
