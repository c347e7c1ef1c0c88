package server

import (
	"context"
	"time"
)

// outliving is the context of a request that goes on when its client is gone:
// its values, and the end of the server's work.
type outliving struct {
	values context.Context //nolint:containedctx // it is a context itself
	work   context.Context //nolint:containedctx // as above
}

func (s *Server) outliving(ctx context.Context) context.Context {
	return &outliving{values: ctx, work: s.work}
}

// Deadline is that of [context.Context].
func (o *outliving) Deadline() (time.Time, bool) { return o.work.Deadline() }

// Done is that of [context.Context].
func (o *outliving) Done() <-chan struct{} { return o.work.Done() }

// Err is that of [context.Context].
func (o *outliving) Err() error { return o.work.Err() }

// Value is that of [context.Context]. The work's come first: contexts that are
// made of this one find there how to hear of the end without a goroutine.
func (o *outliving) Value(key any) any {
	if v := o.work.Value(key); v != nil {
		return v
	}
	return o.values.Value(key)
}
