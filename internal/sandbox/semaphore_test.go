package sandbox

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestTurnsAreFair has many calls of one program, and a later one of another,
// which runs as soon as any call ends. Cancelled calls take no turn.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newSemaphore(2)
		var order []string
		wait := func(ctx context.Context, key string) {
			go func() {
				if turns.acquire(ctx, key) == nil {
					order = append(order, key)
				}
			}()
			synctest.Wait()
		}
		for range 10 {
			wait(t.Context(), "busy")
		}
		gone, cancel := context.WithCancel(t.Context())
		wait(gone, "gone")
		wait(t.Context(), "other")
		cancel()
		synctest.Wait()
		if len(order) != 2 {
			t.Fatalf("%v run at once", order)
		}
		turns.release("busy")
		synctest.Wait()
		if order[2] != "other" {
			t.Errorf("the next is %s", order[2])
		}
		for range 8 {
			turns.release("busy")
			synctest.Wait()
		}
		turns.release("other")
		turns.release("busy")
		if len(order) != 11 || turns.free != 2 || len(turns.running) != 0 {
			t.Errorf("%v ran; %d are free, %v run", order, turns.free, turns.running)
		}
	})
}
