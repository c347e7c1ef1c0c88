// Package deadline is a context whose time can stand still: a call has so long
// to do its work, and a person who is asked meanwhile thinks as long as a
// person does.
//
// It does not know calls, nor who asks. It stands around the handler. The
// [Clock] that ends contexts is for others, too, that wait for much and seldom
// until the end.
package deadline

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Context ends with its parent, or when its time has run out. It sets no alarm
// before somebody waits for its end: most handlers are done before they ask.
type Context struct {
	clock    *Clock
	parent   context.Context //nolint:containedctx // it is one
	patience time.Duration   // how long one question may wait for its answers
	call     *Context        // of which this is a part that asks nobody; nil: none

	mu      sync.Mutex // guards the rest
	until   time.Time
	asking  int       // questions that wait
	since   time.Time // when the first of them was put
	stopped bool

	waited context.Context //nolint:containedctx // ends when this one does; nil: nobody waits for it
	end    context.CancelCauseFunc
	alarm  Alarm // calls end
}

var _ context.Context = (*Context)(nil)

// key finds a Context in any context below it.
type key struct{}

// New returns a context that has so much time. Each pause of it lasts as long
// as patience at most. Stop must be called.
func (c *Clock) New(ctx context.Context, limit, patience time.Duration) *Context {
	return &Context{clock: c, parent: ctx, patience: patience, until: time.Now().Add(limit)}
}

// Deadline is that of the parent where this one moves.
func (d *Context) Deadline() (time.Time, bool) {
	until, ok := d.parent.Deadline()
	if d.call != nil && (!ok || d.until.Before(until)) {
		return d.until, true
	}
	return until, ok
}

// Done is closed when the context has ended.
func (d *Context) Done() <-chan struct{} { return d.awaited().Done() }

// Err tells a time that ran out from a caller that is gone.
func (d *Context) Err() error {
	if d.Expired() {
		return context.DeadlineExceeded
	}
	return d.awaited().Err()
}

// Expired reports whether the time ran out.
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
		return cmp.Or(d.call, d)
	}
	d.mu.Lock()
	ctx := d.waited
	d.mu.Unlock()
	if ctx == nil {
		ctx = d.parent
	}
	return ctx.Value(k)
}

// awaited is the context that ends when d does.
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
		d.alarm.Ring = func() { d.end(context.DeadlineExceeded) }
		d.arm()
	}
	return d.waited
}

// arm sets the alarm, if somebody waits for it and nobody is asked.
func (d *Context) arm() {
	if d.alarm.Ring != nil && d.asking == 0 && !d.stopped {
		d.clock.On(&d.alarm, d.until)
	}
}

// late reports whether the time is over. It is not while somebody is asked.
func (d *Context) late() bool { return !d.stopped && d.asking == 0 && !time.Now().Before(d.until) }

// Stop ends the context for good.
func (d *Context) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.waited == nil {
		return
	}
	d.clock.Off(&d.alarm)
	d.end(nil)
}

// Pause lets the time of the Context above ctx, if there is one, stand still
// until resume is called, and bounds how long that may last.
func Pause(ctx context.Context) (asking context.Context, resume func()) {
	d, ok := ctx.Value(key{}).(*Context)
	if !ok {
		return ctx, func() {}
	}
	asking, cancel := context.WithTimeout(ctx, d.patience)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking++; d.asking == 1 {
		d.since = time.Now()
		d.clock.Off(&d.alarm)
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

// Within is [context.WithTimeout] for work that asks nobody and is over when
// cancel is called. One call, one timer: where a Context above ends sooner it
// is ctx itself; where ctx is one that ends later, nobody needs to wait for
// that.
func Within(ctx context.Context, limit time.Duration) (within context.Context, cancel context.CancelFunc) {
	if d, ok := ctx.Value(key{}).(*Context); ok {
		switch left, moves := d.left(); {
		case !moves && left <= limit:
			return ctx, func() {}
		case !moves && ctx == context.Context(d):
			part := d.clock.New(d.parent, limit, d.patience)
			part.call = d
			return part, part.Stop
		}
	}
	return context.WithTimeout(ctx, limit)
}

// left is the time that is left. It moves while somebody is asked, and means
// nothing once d has stopped.
func (d *Context) left() (left time.Duration, moves bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Until(d.until), d.asking > 0 || d.stopped
}

// Fork is a context for work that may outlive the time of a [Context]: it ends
// with that, unless it is freed before.
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

// Free lets f live on when d ends, until stop is called.
func (f *Fork) Free() (stop func()) {
	f.unlink()
	return f.stop
}
