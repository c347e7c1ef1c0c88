package sandbox_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(all) == 0 {
		t.Skip("this system does not list descriptors")
	}
	return len(all)
}

// A pool that was closed has no descriptor left, whether its workers rested,
// were about to end because they had rested for long, or were at work.
func TestCloseLeavesNoDescriptors(t *testing.T) {
	warm := sandbox.NewPool(sandbox.Options{Command: []string{workerPath(), "sandbox-worker"}, Load: time.Minute})
	if _, err := run(t, warm, `export const f = () => 1`, "1"); err != nil {
		t.Fatal(err)
	}
	_ = warm.Close()
	before := descriptors(t)
	for i := range 24 {
		p := sandbox.NewPool(sandbox.Options{Command: []string{workerPath(), "sandbox-worker"}, Workers: 2, Load: time.Minute, Idle: time.Duration(1 + i%4*100)})
		var calls sync.WaitGroup
		began := make(chan struct{})
		calls.Go(func() { _, _ = run(t, p, `export const f = (n) => n`, "1") })
		if i%2 == 0 {
			calls.Go(func() {
				_, _ = p.Run(t.Context(), program(`export const f = () => ask('wait', 1)`), sandbox.Call{
					Function: "f", Args: []byte("1"), Budget: time.Minute,
					HostCall: func(ctx context.Context, _ string, _ []byte) (sandbox.HostResult, error) {
						close(began)
						<-ctx.Done()
						return sandbox.HostResult{}, ctx.Err()
					},
				})
			})
			<-began
		} else {
			calls.Wait()
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		calls.Wait()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

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
