package tenon

import (
	"container/heap"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"
)

// MemoryOptions are the bounds of NewMemory. The zero value works.
type MemoryOptions struct {
	MaxBytes int // of keys and values together; 0: 256 MiB
	MaxKeys  int // 0: 100,000
}

// Memory is the State of a single process.
type Memory struct {
	maxBytes, maxKeys int

	mu     sync.Mutex // guards the rest
	byKey  map[string]*kept
	ending endings // all of byKey, the next to end first
	bytes  int
	sweep  *time.Timer // frees what has ended while nobody writes; nil: nothing is kept
	closed bool
}

var _ State = (*Memory)(nil)

var errClosed = errors.New("the state is closed")

// kept is one entry.
type kept struct {
	key   string
	value []byte
	until time.Time
	index int // in endings
}

func (k *kept) size() int { return len(k.key) + len(k.value) }

// NewMemory returns an empty State in memory.
func NewMemory(o MemoryOptions) *Memory {
	m := &Memory{maxBytes: o.MaxBytes, maxKeys: o.MaxKeys, byKey: map[string]*kept{}}
	if m.maxBytes <= 0 {
		m.maxBytes = 256 << 20
	}
	if m.maxKeys <= 0 {
		m.maxKeys = 100_000
	}
	return m
}

// Get implements [State].
func (m *Memory) Get(_ context.Context, key string) (value []byte, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.living(key); k != nil {
		return k.value, true, m.open()
	}
	return nil, false, m.open()
}

// Put implements [State].
func (m *Memory) Put(_ context.Context, key string, value []byte, life time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.put(key, value, time.Now().Add(life))
}

// PutNew implements [State].
func (m *Memory) PutNew(_ context.Context, key string, value []byte, life time.Duration) (ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.living(key) != nil {
		return false, m.open()
	}
	err = m.put(key, value, time.Now().Add(life))
	return err == nil, err
}

// Take implements [State].
func (m *Memory) Take(_ context.Context, key string) (value []byte, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.living(key)
	if k == nil {
		return nil, false, m.open()
	}
	m.remove(k)
	return k.value, true, nil
}

// Add implements [State].
func (m *Memory) Add(_ context.Context, key string, delta int64, life time.Duration) (sum int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	until := time.Now().Add(life)
	if k := m.living(key); k != nil {
		if sum, err = strconv.ParseInt(string(k.value), 10, 64); err != nil {
			return 0, err
		}
		until = k.until
	}
	sum += delta
	return sum, m.put(key, strconv.AppendInt(nil, sum, 10), until)
}

// Close implements [State].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.byKey, m.ending, m.bytes = nil, nil, 0
	if m.sweep != nil {
		m.sweep.Stop()
	}
	return nil
}

func (m *Memory) open() error {
	if m.closed {
		return errClosed
	}
	return nil
}

// living returns the entry under key; nil: none lives.
func (m *Memory) living(key string) *kept {
	k := m.byKey[key]
	if k == nil || !time.Now().Before(k.until) {
		return nil
	}
	return k
}

// put sets an entry in the place of what stood there.
func (m *Memory) put(key string, value []byte, until time.Time) error {
	if m.closed {
		return errClosed
	}
	m.forget(time.Now())
	k := &kept{key: key, value: value, until: until}
	old := m.byKey[key]
	keys, bytes := len(m.byKey)+1, m.bytes+k.size()
	if old != nil {
		keys, bytes = keys-1, bytes-old.size()
	}
	if keys > m.maxKeys || bytes > m.maxBytes {
		return ErrStateFull
	}
	if old != nil {
		m.remove(old)
	}
	m.byKey[key] = k
	m.bytes += k.size()
	heap.Push(&m.ending, k)
	if m.sweep == nil {
		m.sweep = time.AfterFunc(time.Until(m.ending[0].until), m.forgetLater)
	}
	return nil
}

func (m *Memory) remove(k *kept) {
	delete(m.byKey, k.key)
	m.bytes -= k.size()
	heap.Remove(&m.ending, k.index)
}

// forget frees what has ended.
func (m *Memory) forget(now time.Time) {
	for len(m.ending) > 0 && !now.Before(m.ending[0].until) {
		m.remove(m.ending[0])
	}
}

// forgetLater is what the timer does: it frees what has ended, and comes back
// while anything is left.
func (m *Memory) forgetLater() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.forget(time.Now())
	if len(m.ending) == 0 {
		m.sweep = nil
		return
	}
	m.sweep.Reset(max(time.Second, time.Until(m.ending[0].until)))
}

// endings is a heap of entries by their end.
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
