package deadline_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/deadline"
)

// step is one thing that is done to an alarm.
type step struct {
	After time.Duration // since the step before
	Alarm int
	Off   bool
	For   time.Duration // from then on until it rings
}

// TestClock: every alarm rings once, at the time for which it was set last,
// unless it was put off before.
func TestClock(t *testing.T) {
	seconds := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second
	})
	rapid.Check(t, func(rt *rapid.T) {
		const alarms = 5
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				After: seconds.Draw(t, "after"), Alarm: rapid.IntRange(0, alarms-1).Draw(t, "alarm"),
				Off: rapid.Bool().Draw(t, "off"), For: seconds.Draw(t, "for") + time.Second/2,
			}
		}), 1, 30).Draw(rt, "steps")
		got, want := make([][]time.Duration, alarms), make([][]time.Duration, alarms)
		synctest.Test(t, func(*testing.T) {
			var c deadline.Clock
			var mu sync.Mutex
			var all [alarms]deadline.Alarm
			began := time.Now()
			for i := range all {
				all[i].Ring = func() {
					mu.Lock()
					defer mu.Unlock()
					got[i] = append(got[i], time.Since(began))
				}
			}
			for _, s := range steps {
				time.Sleep(s.After)
				if s.Off {
					c.Off(&all[s.Alarm])
				} else {
					c.On(&all[s.Alarm], time.Now().Add(s.For))
				}
			}
			time.Sleep(time.Minute)
		})
		var due [alarms]time.Duration // 0: it is not set
		now := time.Duration(0)
		for _, s := range append(steps, step{After: time.Minute, Off: true}) {
			now += s.After
			for i, at := range due {
				if at != 0 && at < now {
					want[i], due[i] = append(want[i], at), 0
				}
			}
			due[s.Alarm] = 0
			if !s.Off {
				due[s.Alarm] = now + s.For
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("rung (-want +got):\n%s", diff)
		}
	})
}

// TestClockForgets: what was put off is not held by the clock.
func TestClockForgets(t *testing.T) {
	var c deadline.Clock
	held := func() weak.Pointer[deadline.Alarm] {
		var a deadline.Alarm
		c.On(&a, time.Now().Add(time.Hour))
		c.Off(&a)
		return weak.Make(&a)
	}()
	runtime.GC()
	if held.Value() != nil {
		t.Error("it is still held")
	}
	runtime.KeepAlive(&c)
}
