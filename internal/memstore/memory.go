// Package memstore is a tenon.Store in the memory of one process, with bounds for
// the whole and for each caller.
//
// It does not know what the values are. The gateway uses it where no other store
// is given; the context of a call says whose share an entry counts against.
package memstore

import (
	"container/heap"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/inflight"
)

// Options are the bounds of New. The zero value works. One caller can use half of
// each, and one network address seven eighths, under whatever names.
type Options struct {
	MaxBytes int // of keys and values together; 0: 256 MiB
	MaxKeys  int // 0: 100,000
}

// Store implements tenon.Store.
type Store struct {
	maxBytes, maxKeys int

	mu     sync.Mutex // guards the rest
	byKey  map[string]*kept
	ending endings // all of byKey, the next to expire first
	keys   int
	bytes  int
	shares map[share]held // of callers and of addresses
	sweep  *time.Timer    // removes expired entries while nothing is written; nil: the store is empty
	closed bool

	listeners listeners
}

var errClosed = errors.New("the state is closed")

// kept is one entry.
type kept struct {
	key   string
	value []byte
	until time.Time
	owner inflight.Caller
	index int // in endings
}

// share is a caller or an address.
type share struct {
	address bool
	name    string
}

// held is the usage of a share.
type held struct{ keys, bytes int }

func (k *kept) size() int { return len(k.key) + len(k.value) }

// New returns an empty store.
func New(o Options) *Store {
	s := &Store{maxBytes: o.MaxBytes, maxKeys: o.MaxKeys, byKey: map[string]*kept{}, shares: map[share]held{}}
	if s.maxBytes <= 0 {
		s.maxBytes = 256 << 20
	}
	if s.maxKeys <= 0 {
		s.maxKeys = 100_000
	}
	return s
}

// Get returns the value under key.
func (s *Store) Get(_ context.Context, key string) (value []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.living(key); k != nil {
		return k.value, true, s.open()
	}
	return nil, false, s.open()
}

// GetAll returns the values under keys.
func (s *Store) GetAll(_ context.Context, keys []string) (values [][]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	values = make([][]byte, len(keys))
	for i, key := range keys {
		if k := s.living(key); k != nil {
			values[i] = append([]byte{}, k.value...) // one of no bytes is not nil
		}
	}
	return values, s.open()
}

// Put sets the value under key.
func (s *Store) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(inflight.CallerOf(ctx), key, value, time.Now().Add(life))
}

// PutIfAbsent sets the value unless key has one.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte, life time.Duration) (ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.living(key) != nil {
		return false, s.open()
	}
	err = s.put(inflight.CallerOf(ctx), key, value, time.Now().Add(life))
	return err == nil, err
}

// GetAndDelete returns the value under key and removes it.
func (s *Store) GetAndDelete(_ context.Context, key string) (value []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.living(key)
	if k == nil {
		return nil, false, s.open()
	}
	s.remove(k)
	return k.value, true, nil
}

// Increment adds to the number of key.
func (s *Store) Increment(ctx context.Context, key string, delta int64, life time.Duration) (sum int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.increment(ctx, tenon.Addition{Key: key, N: delta, Life: life})
}

// IncrementAll adds to several numbers.
func (s *Store) IncrementAll(ctx context.Context, all []tenon.Addition) (sums []int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums = make([]int64, len(all))
	for i, a := range all {
		if sums[i], err = s.increment(ctx, a); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// increment is Increment. The lock is held.
func (s *Store) increment(ctx context.Context, a tenon.Addition) (sum int64, err error) {
	until := time.Now().Add(a.Life)
	if k := s.living(a.Key); k != nil {
		if sum, err = strconv.ParseInt(string(k.value), 10, 64); err != nil {
			return 0, err
		}
		until = k.until
	}
	sum += a.N
	return sum, s.put(inflight.CallerOf(ctx), a.Key, strconv.AppendInt(nil, sum, 10), until)
}

// Close removes all entries.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.byKey, s.ending, s.bytes, s.shares = nil, nil, 0, nil
	if s.sweep != nil {
		s.sweep.Stop()
	}
	return nil
}

func (s *Store) open() error {
	if s.closed {
		return errClosed
	}
	return nil
}

// living returns the entry of key that has not expired, or nil.
func (s *Store) living(key string) *kept {
	k := s.byKey[key]
	if k == nil || !time.Now().Before(k.until) {
		return nil
	}
	return k
}

// put sets an entry and replaces an existing one.
func (s *Store) put(owner inflight.Caller, key string, value []byte, until time.Time) error {
	if s.closed {
		return errClosed
	}
	s.forget(time.Now())
	k := &kept{key: key, value: value, until: until, owner: owner}
	old := s.byKey[key]
	if old != nil {
		s.count(old, -1)
	}
	if s.count(k, 1); !s.fits(owner) {
		s.count(k, -1)
		if old != nil {
			s.count(old, 1)
		}
		return tenon.ErrStoreFull
	}
	if old != nil {
		delete(s.byKey, key)
		heap.Remove(&s.ending, old.index)
	}
	s.byKey[key] = k
	heap.Push(&s.ending, k)
	if s.sweep == nil {
		s.sweep = time.AfterFunc(time.Until(s.ending[0].until), s.forgetLater)
	}
	return nil
}

// count adds n times the size of k to the usage of the store and of its owner.
func (s *Store) count(k *kept, n int) {
	s.keys, s.bytes = s.keys+n, s.bytes+n*k.size()
	for _, a := range sharesOf(k.owner) {
		h := s.shares[a]
		h.keys, h.bytes = h.keys+n, h.bytes+n*k.size()
		if s.shares[a] = h; h.keys == 0 {
			delete(s.shares, a)
		}
	}
}

// fits reports whether the store and the shares of c are within their bounds.
func (s *Store) fits(c inflight.Caller) bool {
	if s.keys > s.maxKeys || s.bytes > s.maxBytes {
		return false
	}
	for _, a := range sharesOf(c) {
		most := held{(s.maxKeys + 1) / 2, (s.maxBytes + 1) / 2}
		if a.address {
			most = held{s.maxKeys - s.maxKeys/8, s.maxBytes - s.maxBytes/8}
		}
		if h := s.shares[a]; h.keys > most.keys || h.bytes > most.bytes {
			return false
		}
	}
	return true
}

// sharesOf returns the shares that a caller's entries count against; the process
// owner has none and can use the whole store.
func sharesOf(c inflight.Caller) []share {
	switch {
	case c.Key == "":
		return nil
	case c.Origin == "":
		return []share{{name: c.Key}}
	}
	return []share{{name: c.Key}, {address: true, name: c.Origin}}
}

func (s *Store) remove(k *kept) {
	delete(s.byKey, k.key)
	s.count(k, -1)
	heap.Remove(&s.ending, k.index)
}

// forget removes expired entries.
func (s *Store) forget(now time.Time) {
	for len(s.ending) > 0 && !now.Before(s.ending[0].until) {
		s.remove(s.ending[0])
	}
}

// forgetLater removes expired entries and sets the timer again while entries are
// left.
func (s *Store) forgetLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.forget(time.Now())
	if len(s.ending) == 0 {
		s.sweep = nil
		return
	}
	s.sweep.Reset(max(time.Second, time.Until(s.ending[0].until)))
}

// endings is a heap of entries by their expiry.
type endings []*kept

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].until.Before(e[j].until) }
func (e endings) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].index, e[j].index = i, j
}

// Push adds an entry: see [heap.Interface].
func (e *endings) Push(x any) {
	if k, ok := x.(*kept); ok {
		k.index = len(*e)
		*e = append(*e, k)
	}
}

// Pop takes the last entry off: see [heap.Interface].
func (e *endings) Pop() any {
	last := len(*e) - 1
	k := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return k
}
