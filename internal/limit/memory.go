package limit

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// meter counts calls.
type meter interface {
	// take counts a call against all demands, or against none of them where one has
	// no room: then wait is when there will be some. An error says that nothing could
	// be counted.
	take(ctx context.Context, now time.Time, demands []demand) (refused *demand, wait time.Duration, err error)
}

// demand is one limit that a call counts against.
type demand struct {
	account

	kind     kind
	most     int64         // calls at once, or a day
	interval time.Duration // between two calls at the rate; 0: it is none
}

// account is what is counted: a limit, and of whom.
type account struct {
	limit  string // a name of a subject
	caller string // empty: all together
}

// window is the time in which so many calls are made that all of the burst is there
// again.
func (d *demand) window() time.Duration { return time.Duration(d.most) * d.interval }

// dayOf returns the day of t, which ends at midnight UTC.
func dayOf(t time.Time) (day int64, left time.Duration) {
	const length = 24 * time.Hour
	since := time.Duration(t.UnixNano())
	return int64(since / length), length - since%length
}

// maxCounted is how many counts are kept in memory. The one that was used least
// recently makes room for another: its caller begins anew.
const maxCounted = 1 << 16

// memory counts in the memory of this process: a token bucket for each rate, a number
// for each day.
type memory struct {
	max int

	mu   sync.Mutex
	by   map[account]*list.Element // of *counted
	used list.List                 // the last one used at the front
}

// counted is what is remembered of an account.
type counted struct {
	account

	full  time.Time // of a rate: when all of the burst is there again; of a day: when it is over
	calls int64     // of a day
}

func newMemory() *memory { return &memory{max: maxCounted, by: map[account]*list.Element{}} }

// take implements meter.
func (m *memory) take(_ context.Context, now time.Time, demands []demand) (refused *demand, wait time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range demands {
		if d := m.lacks(now, &demands[i]); d > wait {
			refused, wait = &demands[i], d
		}
	}
	if refused != nil {
		return refused, wait, nil
	}
	for i := range demands {
		m.count(now, &demands[i])
	}
	return nil, 0, nil
}

// lacks returns the time until there is room for a call; 0: there is.
func (m *memory) lacks(now time.Time, d *demand) time.Duration {
	at := m.by[d.account]
	if at == nil {
		return 0
	}
	m.used.MoveToFront(at) // who is refused is not forgotten for that
	c := valueOf(at)
	switch {
	case !now.Before(c.full):
		return 0
	case d.interval > 0:
		return max(0, c.full.Sub(now)+d.interval-d.window())
	case c.calls < d.most:
		return 0
	}
	return c.full.Sub(now)
}

// count counts a call.
func (m *memory) count(now time.Time, d *demand) {
	at := m.by[d.account]
	if at == nil {
		m.evict(now)
		at = m.used.PushFront(&counted{account: d.account})
		m.by[d.account] = at
	}
	c := valueOf(at)
	if !now.Before(c.full) {
		c.full, c.calls = now, 0
		if d.interval == 0 {
			_, left := dayOf(now)
			c.full = now.Add(left)
		}
	}
	c.calls++
	c.full = c.full.Add(d.interval)
}

// evict forgets an account for one that comes, and of the oldest two that have
// nothing to remember.
func (m *memory) evict(now time.Time) {
	for range 2 {
		if at := m.used.Back(); at != nil && (len(m.by) >= m.max || !now.Before(valueOf(at).full)) {
			delete(m.by, valueOf(at).account)
			m.used.Remove(at)
		}
	}
}

func valueOf(at *list.Element) *counted {
	return at.Value.(*counted) //nolint:errcheck,forcetypeassert // nothing else is put there
}
