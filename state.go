package tenon

import (
	"context"
	"errors"
	"time"
)

// State keeps small things between calls: what is left of an answer that was
// cut, a consent that was asked for. Several replicas that share one State
// serve each other's tokens. Each entry lives for a time that its writer
// names, and is gone afterwards. tenontest.State has the checks that every
// State must pass.
//
// A State is bounded, in bytes and in keys. A write that finds no room is an
// [ErrStateFull] and changes nothing: nothing that lives is thrown away for
// something new. Whoever writes has an answer for that.
//
// All methods may be called from several goroutines at once. Keys and values
// may be any bytes. A State owns the value that it was given, and whoever gets
// one must not change it.
type State interface {
	// Get returns the value under key; ok is false where none lives.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put sets the value under key, whatever stood there.
	Put(ctx context.Context, key string, value []byte, life time.Duration) error
	// PutNew sets the value unless one lives under key. Of several that try at
	// once, one succeeds.
	PutNew(ctx context.Context, key string, value []byte, life time.Duration) (ok bool, err error)
	// Take returns the value under key and removes it. Of several that try at
	// once, one gets it.
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Add adds delta to the number under key, a missing one being 0, and
	// returns the sum. The number lives from its first Add on: later ones do
	// not prolong it. A value that is no number is an error.
	Add(ctx context.Context, key string, delta int64, life time.Duration) (sum int64, err error)
	// Close gives back what the State holds. Calls after it are errors.
	Close() error
}

// ErrStateFull says that a State has no room for another entry.
var ErrStateFull = errors.New("the state has no room left")
