// Package inflight counts the bytes of responses in memory against the budget of
// their caller.
//
// The server has the budget, sources read the bytes: the context of a call
// connects them. It does not know how the budget is divided, nor what is read.
// A call without a server has no budget.
package inflight

import (
	"context"
	"errors"
	"io"
)

// ErrFull says that the budget was exhausted for as long as a call waits.
var ErrFull = errors.New("too many bytes of answers are held at a time")

// Reservation is the memory that one call has reserved. Its maker releases it.
type Reservation interface {
	// Take reserves n more bytes and waits for them. An error is ErrFull or that
	// of the context.
	Take(ctx context.Context, n int64) error
	// Reach reserves what is missing to n bytes in all.
	Reach(ctx context.Context, n int64) error
	// Caller returns the caller whose share the bytes count against.
	Caller() Caller
}

// Caller identifies the share that a call counts against. Each share is bounded,
// so that others are not starved.
type Caller struct {
	Key    string // empty: the process owner, who can use the whole budget
	Origin string // network address, independent of credentials; empty: unknown
}

// CallerOf returns the caller of ctx.
func CallerOf(ctx context.Context) Caller {
	if r, ok := ctx.Value(key{}).(Reservation); ok {
		return r.Caller()
	}
	return Caller{}
}

type key struct{}

// With returns a context whose responses count against r.
func With(ctx context.Context, r Reservation) context.Context {
	return context.WithValue(ctx, key{}, r)
}

// Reach reserves what is missing to n bytes in all, if ctx has a budget.
func Reach(ctx context.Context, n int64) error {
	if n <= uncounted {
		return nil
	}
	if r, ok := ctx.Value(key{}).(Reservation); ok {
		return r.Reach(ctx, n)
	}
	return nil
}

// uncounted is the size of a response that costs no more than its headers can.
const uncounted = 64 << 10

// Reader reserves the bytes of a response before they are read, in steps that
// grow like a buffer. announced is Content-Length; negative: none. It is only
// used to reserve no more than that. Without a budget Reader returns from.
func Reader(ctx context.Context, from io.Reader, announced int64) io.Reader {
	if announced >= 0 && announced <= uncounted {
		return from
	}
	r, ok := ctx.Value(key{}).(Reservation)
	if !ok {
		return from
	}
	return &reader{ctx: ctx, from: from, reserved: r, paid: uncounted, announced: announced}
}

type reader struct {
	ctx       context.Context //nolint:containedctx // of the one call that reads
	from      io.Reader
	reserved  Reservation
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
		if err := r.reserved.Take(r.ctx, more); err != nil {
			return 0, err
		}
		r.paid += more
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.paid-r.read)])
	r.read += int64(n)
	return n, err
}
