package deadline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/internal/deadline"
)

// TestEnds: a context ends in the same way whether somebody waited for its end
// from the beginning, from below, or asks only afterwards.
func TestEnds(t *testing.T) {
	lost := func(ctx context.Context) (*deadline.Context, error) {
		ctx, lose := context.WithCancel(ctx)
		d := deadline.New(ctx, time.Minute, time.Minute)
		time.AfterFunc(30*time.Second, lose)
		return d, context.Canceled
	}
	late := func(ctx context.Context) (*deadline.Context, error) {
		return deadline.New(ctx, 30*time.Second, time.Minute), context.DeadlineExceeded
	}
	stopped := func(ctx context.Context) (*deadline.Context, error) {
		d := deadline.New(ctx, 2*time.Minute, time.Minute)
		time.AfterFunc(30*time.Second, d.Stop)
		return d, context.Canceled
	}
	for _, c := range []struct {
		name string
		of   func(context.Context) (*deadline.Context, error)
	}{
		{"its time is over", late},
		{"the caller is gone", lost},
		{"it was stopped", stopped},
	} {
		for _, w := range []struct {
			name string
			wait func(context.Context)
		}{
			{"awaited", func(ctx context.Context) { <-ctx.Done() }},
			{"awaited below", func(ctx context.Context) {
				ctx, cancel := context.WithCancel(context.WithValue(ctx, t, t))
				defer cancel()
				<-ctx.Done()
			}},
			{"asked afterwards", func(context.Context) { time.Sleep(time.Minute) }},
		} {
			t.Run(c.name+", "+w.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d, want := c.of(t.Context())
					defer d.Stop()
					if d.Err() != nil && !d.Expired() {
						t.Fatal("it ended before it began")
					}
					began := time.Now()
					w.wait(d)
					if w.name != "asked afterwards" && time.Since(began) != 30*time.Second {
						t.Errorf("it ended after %v", time.Since(began))
					}
					if !errors.Is(d.Err(), want) || d.Expired() != (want == context.DeadlineExceeded) { //nolint:errorlint // the want is a plain value
						t.Errorf("got %v, expired %v, want %v", d.Err(), d.Expired(), want)
					}
					<-d.Done()
				})
			})
		}
	}
}

// TestPause: while somebody is asked the time stands still, awaited or not,
// and a question waits as long as maxPause.
func TestPause(t *testing.T) {
	for _, awaited := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := deadline.New(t.Context(), time.Minute, time.Hour)
			defer d.Stop()
			if awaited {
				context.AfterFunc(d, func() {})
			}
			time.Sleep(50 * time.Second)
			began := time.Now()
			asking, resume := deadline.Pause(context.WithoutCancel(d))
			time.Sleep(time.Hour - time.Second)
			if asking.Err() != nil || d.Err() != nil {
				t.Errorf("ended while somebody was asked: %v, %v", asking.Err(), d.Err())
			}
			<-asking.Done()
			if waited := time.Since(began); waited != time.Hour {
				t.Errorf("the question waited %v, want an hour", waited)
			}
			resume()
			time.Sleep(9 * time.Second)
			if d.Expired() {
				t.Error("the pause counted")
			}
			time.Sleep(2 * time.Second)
			if !d.Expired() {
				t.Error("it goes on for ever")
			}
		})
	}
}

// TestPartOfACall: a part ends for itself, says when, and whoever is asked in
// it stops the time of the call.
func TestPartOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deadline.New(context.WithValue(t.Context(), t, "value"), time.Minute, time.Hour)
		defer d.Stop()
		ctx, stop := deadline.Within(d, 30*time.Second)
		if until, ok := ctx.Deadline(); !ok || time.Until(until) != 30*time.Second || ctx.Value(t) != "value" {
			t.Errorf("it ends at %v, and knows %v", until, ctx.Value(t))
		}
		_, resume := deadline.Pause(ctx)
		time.Sleep(10 * time.Minute)
		resume()
		if d.Expired() || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("the call's time went on: %v; that of the part did not: %v", d.Expired(), ctx.Err())
		}
		stop()
		below, cancel := context.WithCancel(ctx)
		defer cancel()
		<-below.Done()
		if d.Err() != nil {
			t.Errorf("the call ended with its part: %v", d.Err())
		}
	})
}

// TestWithin: what is inside ends in time, and has a timer of its own only
// where it needs one.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deadline.New(t.Context(), time.Minute, time.Hour)
		defer d.Stop()
		inside := context.WithValue(d, t, t)
		expires := func(above context.Context, limit time.Duration, same bool) {
			ctx, cancel := deadline.Within(above, limit)
			defer cancel()
			if (ctx == above) != same {
				t.Errorf("within %v: the same context: %v", limit, !same)
			}
			if <-ctx.Done(); !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("within %v: %v", limit, ctx.Err())
			}
		}
		expires(t.Context(), time.Second, false)
		expires(inside, 30*time.Second, false)
		asking, resume := deadline.Pause(d)
		if ctx, cancel := deadline.Within(asking, time.Minute); ctx == asking {
			t.Error("while the time stands still, it bounds nothing")
		} else {
			cancel()
		}
		resume()
		expires(inside, time.Minute, true)
	})
}
