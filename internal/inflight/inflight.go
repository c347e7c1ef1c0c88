// Package inflight leads from where an answer is read or kept back to the caller
// and the budget that it counts against.
//
// The server knows the budget, the source reads the bytes: the context of a call
// carries the one to the other. It does not know how a budget is shared out, nor
// what is read. A call outside of a server has no budget, and reads freely.
package inflight

import (
	"context"
	"errors"
	"io"
)

// ErrFull says that there was no room within the time that a call waits for it.
var ErrFull = errors.New("too many bytes of answers are held at a time")

// Room is what one call may hold. It is given back by who made it.
type Room interface {
	// Take takes n bytes more, waiting for them. An error is ErrFull or that of
	// the context.
	Take(ctx context.Context, n int64) error
	// Reach takes what is missing to n bytes in all.
	Reach(ctx context.Context, n int64) error
	// Caller says on whose account the call is.
	Caller() Caller
}

// Caller is on whose account a call is. What stands on one is bounded, so that
// there is room for the others.
type Caller struct {
	Key    string // empty: who started the process, who may take all
	Origin string // where it calls from, whoever it says to be; empty: not known
}

// CallerOf is on whose account the call of ctx is.
func CallerOf(ctx context.Context) Caller {
	if r, ok := ctx.Value(key{}).(Room); ok {
		return r.Caller()
	}
	return Caller{}
}

type key struct{}

// With returns a context whose answers count against r.
func With(ctx context.Context, r Room) context.Context { return context.WithValue(ctx, key{}, r) }

// Reach takes what is missing to n bytes in all, where there is a budget.
func Reach(ctx context.Context, n int64) error {
	if n <= uncounted {
		return nil
	}
	if r, ok := ctx.Value(key{}).(Room); ok {
		return r.Reach(ctx, n)
	}
	return nil
}

// uncounted is the size of an answer that costs no more than its headers may.
const uncounted = 64 << 10

// Reader counts what is read of an answer before it is read, in steps that grow
// as a buffer does. announced is the length that a header gives; negative: none.
// Its word is taken only for where to stop. Without a budget it is from itself.
func Reader(ctx context.Context, from io.Reader, announced int64) io.Reader {
	if announced >= 0 && announced <= uncounted {
		return from
	}
	r, ok := ctx.Value(key{}).(Room)
	if !ok {
		return from
	}
	return &reader{ctx: ctx, from: from, room: r, paid: uncounted, announced: announced}
}

type reader struct {
	ctx       context.Context //nolint:containedctx // of the one call that reads
	from      io.Reader
	room      Room
	read      int64
	paid      int64 // the first of them are free
	announced int64
}

// Read is that of [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if r.read >= r.paid {
		more := r.paid
		if left := r.announced - r.paid; left > 0 {
			more = min(more, left)
		}
		if err := r.room.Take(r.ctx, more); err != nil {
			return 0, err
		}
		r.paid += more
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.paid-r.read)])
	r.read += int64(n)
	return n, err
}
