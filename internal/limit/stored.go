package limit

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
)

// stored counts in a store that replicas share, in windows of time: a store can add,
// but not compare. A window is as long as it takes until all of the burst is there
// again; of the one before counts the part that lies within its length of now.
//
// A call costs one round trip. One that is refused costs another, which takes back
// what was counted; until it can succeed the next is refused without any.
type stored struct {
	store tenon.Store

	mu     sync.Mutex
	closed map[demand]time.Time // until when calls are refused
}

// maxClosed is how many demands are known to be refused. Who is forgotten costs round
// trips.
const maxClosed = 1 << 14

// storeTime bounds what a call waits for the store.
const storeTime = 2 * time.Second

func newStored(s tenon.Store) *stored { return &stored{store: s, closed: map[demand]time.Time{}} }

// take implements meter.
func (s *stored) take(ctx context.Context, now time.Time, demands []demand) (refused *demand, wait time.Duration, err error) {
	if refused, wait = s.isClosed(now, demands); refused != nil {
		return refused, wait, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	adds := make([]tenon.Addition, 0, 2*len(demands))
	for i := range demands {
		adds = demands[i].adds(adds, now)
	}
	sums, err := add(ctx, s.store, adds)
	if err != nil {
		return nil, 0, err
	}
	rest := sums
	for i := range demands {
		var d time.Duration
		if d, rest = demands[i].lacks(now, rest); d > wait {
			refused, wait = &demands[i], d
		}
	}
	if refused == nil {
		return nil, 0, nil
	}
	s.close(*refused, now, wait)
	for i := range adds {
		adds[i].N = -adds[i].N
	}
	_, err = add(context.WithoutCancel(ctx), s.store, adds)
	return refused, wait, err
}

// adds appends what is to be added for a call: to the window of now, and to read it
// nothing to the one before.
func (d *demand) adds(adds []tenon.Addition, now time.Time) []tenon.Addition {
	name := "limit " + strconv.Quote(d.limit) + " " + strconv.Quote(d.caller) + " "
	if d.interval == 0 {
		day, left := dayOf(now)
		return append(adds, tenon.Addition{Key: name + strconv.FormatInt(day, 10), N: 1, Life: left + time.Minute})
	}
	w := d.window()
	name += w.String() + " "
	number := now.UnixNano() / int64(w)
	return append(adds,
		tenon.Addition{Key: name + strconv.FormatInt(number, 10), N: 1, Life: 2*w + time.Second},
		tenon.Addition{Key: name + strconv.FormatInt(number-1, 10), Life: w + time.Second})
}

// lacks returns the time until there is room for the call that was counted, and the
// sums that are not of this demand.
func (d *demand) lacks(now time.Time, sums []int64) (time.Duration, []int64) {
	if d.interval == 0 {
		_, left := dayOf(now)
		if sums[0] <= d.most {
			left = 0
		}
		return left, sums[1:]
	}
	w := d.window()
	gone := time.Duration(now.UnixNano() % int64(w))
	most, before, calls := float64(d.most), float64(min(sums[1], d.most)), float64(sums[0])
	const half = 0.5                              // rounds: a call has no parts
	need := func(calls, before float64) float64 { // the part of a window that has to be over
		return max(0, 1-max(0, most+half-calls)/max(before, half))
	}
	if calls > most+half { // not in this window
		return w - gone + time.Duration(need(1, most)*float64(w)), sums[2:]
	}
	wait := time.Duration(need(calls, before)*float64(w)) - gone
	if wait < time.Microsecond { // what is less comes of rounding
		wait = 0
	}
	return wait, sums[2:]
}

func (s *stored) isClosed(now time.Time, demands []demand) (refused *demand, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range demands {
		until, ok := s.closed[demands[i]]
		switch d := until.Sub(now); {
		case !ok:
		case d <= 0:
			delete(s.closed, demands[i])
		case d > wait:
			refused, wait = &demands[i], d
		}
	}
	return refused, wait
}

func (s *stored) close(d demand, now time.Time, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, until := range s.closed {
		if len(s.closed) < maxClosed && now.Before(until) {
			break
		}
		delete(s.closed, other)
	}
	s.closed[d] = now.Add(wait)
}

// add adds in one round trip where the store can do that.
func add(ctx context.Context, s tenon.Store, adds []tenon.Addition) ([]int64, error) {
	if many, ok := s.(tenon.Adder); ok {
		sums, err := many.IncrementAll(ctx, adds)
		if err == nil && len(sums) != len(adds) {
			err = errors.New("the store returned another number of sums than there are keys")
		}
		return sums, err
	}
	sums := make([]int64, len(adds))
	for i, a := range adds {
		var err error
		if sums[i], err = s.Increment(ctx, a.Key, a.N, a.Life); err != nil {
			return nil, err
		}
	}
	return sums, nil
}
