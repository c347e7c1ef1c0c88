// Package deadline is a context whose time can stand still: a call has so long
// to do its work, and a person who is asked meanwhile thinks as long as a
// person does.
//
// It does not know calls, nor who asks. It stands around the handler.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Context ends with its parent, or when its time has run out.
type Context struct {
	context.Context //nolint:containedctx // it is one

	end      context.CancelCauseFunc
	patience time.Duration // how long one question may wait for its answers

	mu     sync.Mutex // guards the rest
	timer  *time.Timer
	until  time.Time
	asking int       // questions that wait
	since  time.Time // when the first of them was put
}

// key finds a Context in any context below it.
type key struct{}

// New returns a context that has so much time. Each pause of it lasts as long
// as patience at most. Stop must be called.
func New(ctx context.Context, limit, patience time.Duration) *Context {
	d := &Context{patience: patience, until: time.Now().Add(limit)}
	d.Context, d.end = context.WithCancelCause(ctx)
	d.timer = time.AfterFunc(limit, func() { d.end(context.DeadlineExceeded) })
	return d
}

// Err tells a time that ran out from a caller that is gone.
func (d *Context) Err() error {
	if d.Expired() {
		return context.DeadlineExceeded
	}
	return d.Context.Err()
}

// Expired reports whether the time ran out.
func (d *Context) Expired() bool {
	return d.Context.Err() != nil && context.Cause(d.Context) == context.DeadlineExceeded //nolint:errorlint // it is set here
}

// Value finds d itself, too.
func (d *Context) Value(k any) any {
	if _, ok := k.(key); ok {
		return d
	}
	return d.Context.Value(k)
}

// Stop ends the context for good.
func (d *Context) Stop() {
	d.timer.Stop()
	d.end(nil)
}

// Pause lets the time of the Context above ctx, if there is one, stand still
// until resume is called, and bounds how long that may last.
func Pause(ctx context.Context) (asking context.Context, resume func()) {
	d, ok := ctx.Value(key{}).(*Context)
	if !ok {
		return ctx, func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking++; d.asking == 1 {
		d.since = time.Now()
		d.timer.Stop()
	}
	asking, cancel := context.WithTimeout(ctx, d.patience)
	return asking, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.asking--; d.asking == 0 {
			d.until = d.until.Add(time.Since(d.since))
			d.timer.Reset(time.Until(d.until))
		}
	}
}
