// Package deadline is a context whose deadline can be paused: the timeout of a
// call does not include the time in which user input is pending.
//
// It does not know calls, nor who is asked. The gateway runs handlers with it.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Context ends with its parent or at its deadline. It sets no timer until Done
// is called: many handlers finish before that.
type Context struct {
	parent   context.Context //nolint:containedctx // it is one
	maxPause time.Duration   // limit of one pause

	mu      sync.Mutex // guards the other fields
	until   time.Time
	asking  int       // pauses that have not ended
	since   time.Time // when the first of them began
	stopped bool

	waited context.Context //nolint:containedctx // ends when this one does; nil: nobody waits for it
	end    context.CancelCauseFunc
	timer  *time.Timer // calls ring; nil: it was never set
}

var _ context.Context = (*Context)(nil)

// key finds the Context among the parents of a context.
type key struct{}

// New returns a context that ends after timeout. Each of its pauses lasts at most
// maxPause. Stop must be called.
func New(ctx context.Context, limit, maxPause time.Duration) *Context {
	return &Context{parent: ctx, maxPause: maxPause, until: time.Now().Add(limit)}
}

// Deadline returns that of the parent, since its own can move.
func (d *Context) Deadline() (time.Time, bool) { return d.parent.Deadline() }

// Done is closed when the context has ended.
func (d *Context) Done() <-chan struct{} { return d.awaited().Done() }

// Err distinguishes an exceeded deadline from a cancelled parent.
func (d *Context) Err() error {
	if d.Expired() {
		return context.DeadlineExceeded
	}
	return d.awaited().Err()
}

// Expired reports whether the deadline was exceeded.
func (d *Context) Expired() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waited == nil {
		return d.late() && d.parent.Err() == nil
	}
	return d.waited.Err() != nil && context.Cause(d.waited) == context.DeadlineExceeded //nolint:errorlint // it is set here
}

// Value finds d itself, too.
func (d *Context) Value(k any) any {
	if _, ok := k.(key); ok {
		return d
	}
	d.mu.Lock()
	ctx := d.waited
	d.mu.Unlock()
	if ctx == nil {
		ctx = d.parent
	}
	return ctx.Value(k)
}

// awaited returns the context that ends when d does.
func (d *Context) awaited() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waited != nil {
		return d.waited
	}
	d.waited, d.end = context.WithCancelCause(d.parent)
	switch {
	case d.stopped:
		d.end(nil)
	case d.late():
		d.end(context.DeadlineExceeded)
	default:
		d.arm()
	}
	return d.waited
}

// arm sets the timer if Done was called and no pause is in progress.
func (d *Context) arm() {
	switch {
	case d.waited == nil || d.asking > 0 || d.stopped:
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(d.until), d.ring)
	default:
		d.timer.Reset(time.Until(d.until))
	}
}

// disarm stops the timer; ring can still be called just after it.
func (d *Context) disarm() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// ring ends the context, unless the deadline has moved meanwhile.
func (d *Context) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late() {
		d.end(context.DeadlineExceeded)
	}
}

// late reports whether the deadline is exceeded; during a pause it is not.
func (d *Context) late() bool { return !d.stopped && d.asking == 0 && !time.Now().Before(d.until) }

// Stop ends the context for good.
func (d *Context) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.waited == nil {
		return
	}
	d.disarm()
	d.end(nil)
}

// Pause pauses the deadline of the Context among ctx's parents, if there is one,
// until resume is called, for a bounded time.
func Pause(ctx context.Context) (asking context.Context, resume func()) {
	d, ok := ctx.Value(key{}).(*Context)
	if !ok {
		return ctx, func() {}
	}
	asking, cancel := context.WithTimeout(ctx, d.maxPause)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking++; d.asking == 1 {
		d.since = time.Now()
		d.disarm()
	}
	return asking, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.asking--; d.asking == 0 {
			d.until = d.until.Add(time.Since(d.since))
			d.arm()
		}
	}
}

// Within is [context.WithTimeout] for work that never pauses. If a Context above
// ends sooner, it returns ctx itself.
func Within(ctx context.Context, limit time.Duration) (within context.Context, cancel context.CancelFunc) {
	if d, ok := ctx.Value(key{}).(*Context); ok {
		if left, moves := d.left(); !moves && left <= limit {
			return ctx, func() {}
		}
	}
	return context.WithTimeout(ctx, limit)
}

// left returns the remaining time. It changes during a pause and is undefined
// after Stop.
func (d *Context) left() (left time.Duration, moves bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Until(d.until), d.asking > 0 || d.stopped
}

// Fork is a context for work that can outlive a [Context]: it ends with that,
// unless it is freed before.
type Fork struct {
	context.Context //nolint:containedctx // it is one

	stop   context.CancelFunc
	unlink func() bool
}

// Fork returns a context below d. Stop or Free must be called.
func (d *Context) Fork() *Fork {
	f := &Fork{}
	f.Context, f.stop = context.WithCancel(context.WithoutCancel(d)) //nolint:gosec // the end of d calls it, or whom Free gave it
	f.unlink = context.AfterFunc(d, f.stop)
	return f
}

// Free lets f continue when d ends, until stop is called.
func (f *Fork) Free() (stop func()) {
	f.unlink()
	return f.stop
}
