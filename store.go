package tenon

import (
	"context"
	"errors"
	"time"
)

// Store keeps state between calls: the remaining parts of a result, a pending
// confirmation. Replicas that share a Store serve each other's tokens. A write
// that exceeds its capacity returns [ErrStoreFull] and changes nothing. Values
// must not be changed after they were given to a Store. tenontest.Store checks
// an implementation.
//
// The first word of a key says what it is for: "rest", "value", "consent", "unknown",
// "limit", "replicas", "shared" and "evidence" are taken.
type Store interface {
	// Get returns the value of key; ok is false if there is none.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put sets the value of key, which expires after life.
	Put(ctx context.Context, key string, value []byte, life time.Duration) error
	// PutIfAbsent is Put unless key has a value. Of concurrent calls one succeeds.
	PutIfAbsent(ctx context.Context, key string, value []byte, life time.Duration) (ok bool, err error)
	// GetAndDelete is Get and removes the value. Of concurrent calls one gets it.
	GetAndDelete(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Increment adds delta to the number of key, which expires life after its
	// first Increment.
	Increment(ctx context.Context, key string, delta int64, life time.Duration) (sum int64, err error)
	// Close releases the Store's resources. Calls after it return errors.
	Close() error
}

// Adder is a [Store] that adds to several numbers at once, for a store that takes a
// round trip for each call.
type Adder interface {
	// IncrementAll does what Increment does for each of all, and returns the sums in
	// their order. It need not be atomic.
	IncrementAll(ctx context.Context, all []Addition) (sums []int64, err error)
}

// Addition is an Increment.
type Addition struct {
	Key  string
	N    int64
	Life time.Duration
}

// Getter is a [Store] that reads several values at once, for a store that takes a round
// trip for each call.
type Getter interface {
	// GetAll returns the values of keys in their order; nil: there is none.
	GetAll(ctx context.Context, keys []string) (values [][]byte, err error)
}

// Announcer is a [Store] through which replicas call each other to look at what is in
// it.
type Announcer interface {
	// Announce calls all who listen to a topic at the moment, this process included.
	Announce(ctx context.Context, topic string) error
	// Listen calls heard for announcements, of which several may be one call, and
	// after it may have missed some, until stop is called. heard must not block.
	Listen(ctx context.Context, topic string, heard func()) (stop func(), err error)
}

// Cache keeps what can be made again at a cost, such as responses and access tokens, for
// all replicas. It is quick and has no errors: what it cannot return is not there.
type Cache interface {
	// Get returns the values of keys; nil: there is none. ok is false if nobody knows
	// now what there is.
	Get(ctx context.Context, keys ...string) (values [][]byte, ok bool)
	// Put keeps a value for a while, if that is possible.
	Put(ctx context.Context, key string, value []byte, life time.Duration)
	// Delete forgets a value.
	Delete(ctx context.Context, key string)
	// Claim reports whether the caller is the first to claim key, until it is deleted
	// or life is over; also if nobody knows.
	Claim(ctx context.Context, key string, life time.Duration) (first bool)
}

// ErrStoreFull says that a Store cannot hold another entry.
var ErrStoreFull = errors.New("the store is full")
