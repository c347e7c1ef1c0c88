package server

import (
	"context"
	"time"
)

// detachedContext is the context of a request that continues after its client
// left: the values of the request, and the end of the server's work.
type detachedContext struct {
	values context.Context //nolint:containedctx // it is a context itself
	work   context.Context //nolint:containedctx // as above
}

func (s *Server) detached(ctx context.Context) context.Context {
	return &detachedContext{values: ctx, work: s.work}
}

// Deadline is that of [context.Context].
func (o *detachedContext) Deadline() (time.Time, bool) { return o.work.Deadline() }

// Done is that of [context.Context].
func (o *detachedContext) Done() <-chan struct{} { return o.work.Done() }

// Err is that of [context.Context].
func (o *detachedContext) Err() error { return o.work.Err() }

// Value is that of [context.Context]. The work's come first: contexts that are
// made of this one find there how to hear of the end without a goroutine.
func (o *detachedContext) Value(key any) any {
	if v := o.work.Value(key); v != nil {
		return v
	}
	return o.values.Value(key)
}
