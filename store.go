package tenon

import (
	"context"
	"errors"
	"time"
)

// Store keeps small things between calls: the rest of an answer, a consent
// that was asked for. Replicas that share one serve each other's tokens. A
// write that finds no room is an [ErrStoreFull] and changes nothing. A Store
// owns what it was given; nobody may change it. tenontest.Store has the checks.
type Store interface {
	// Get returns the value under key; ok is false where none lives.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put sets the value under key for the time of its life.
	Put(ctx context.Context, key string, value []byte, life time.Duration) error
	// PutNew is Put unless a value lives under key. Of several at once one succeeds.
	PutIfAbsent(ctx context.Context, key string, value []byte, life time.Duration) (ok bool, err error)
	// Take is Get and removes the value. Of several at once one gets it.
	GetAndDelete(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Add adds to the number under key, whose life begins with the first Add.
	Increment(ctx context.Context, key string, delta int64, life time.Duration) (sum int64, err error)
	// Close gives back what the Store holds. Calls after it are errors.
	Close() error
}

// ErrStoreFull says that a Store has no room for another entry.
var ErrStoreFull = errors.New("the store is full")
