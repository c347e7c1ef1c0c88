package sandbox

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestTurnsAreFair has many calls of one program, and one of another that comes
// last: it runs as soon as any call ends. Who gives up takes no turn along.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(2)
		var order []string
		wait := func(ctx context.Context, key string) {
			go func() {
				if turns.wait(ctx, key) == nil {
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
		turns.end("busy")
		synctest.Wait()
		if order[2] != "other" {
			t.Errorf("the next is %s", order[2])
		}
		for range 8 {
			turns.end("busy")
			synctest.Wait()
		}
		turns.end("other")
		turns.end("busy")
		if len(order) != 11 || turns.free != 2 || len(turns.running) != 0 {
			t.Errorf("%v ran; %d are free, %v run", order, turns.free, turns.running)
		}
	})
}
