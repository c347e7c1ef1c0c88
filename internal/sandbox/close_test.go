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
