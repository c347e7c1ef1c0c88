package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// Bounds of a queue.
const (
	maxQueued = 2048
	maxBatch  = 512
)

// queue sends items in batches. Who adds one never waits.
type queue[T any] struct {
	send  func(context.Context, []T) error
	delay time.Duration
	keep  bool // a batch that cannot be delivered is tried again until close, and what does not fit is the adder's
	fate  *fate

	items   chan T
	half    chan struct{} // half of it is full
	closing chan struct{}
	ended   chan struct{}
	closed  atomic.Bool
	work    context.Context //nolint:containedctx // of deliveries; it ends with the time that close has
	cut     context.CancelFunc
}

func newQueue[T any](log *slog.Logger, delay time.Duration, f *fate, send func(context.Context, []T) error) *queue[T] {
	q := &queue[T]{
		send: send, delay: delay, fate: f, items: make(chan T, maxQueued), half: make(chan struct{}, 1),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	q.work, q.cut = context.WithCancel(context.Background()) //nolint:gosec // close calls it
	incident.Go(log, "sending telemetry", func() { defer close(q.ended); q.run() }, nil)
	return q
}

// add takes an item, unless too many wait. A dropped one counts, unless the adder
// keeps it.
func (q *queue[T]) add(item T) bool {
	if !q.closed.Load() {
		select {
		case q.items <- item:
			if len(q.items) >= maxQueued/2 {
				select {
				case q.half <- struct{}{}:
				default:
				}
			}
			return true
		default:
		}
	}
	if !q.keep {
		q.fate.dropped(1)
	}
	return false
}

func (q *queue[T]) run() {
	timer := time.NewTicker(q.delay)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-q.half:
		case <-q.closing:
		}
		over := q.closed.Load()
		for q.deliver() {
		}
		if over {
			return
		}
	}
}

// deliver sends a batch, and reports whether more waits.
func (q *queue[T]) deliver() (more bool) {
	var batch []T
	for len(batch) < maxBatch {
		select {
		case item := <-q.items:
			batch = append(batch, item)
			continue
		default:
		}
		break
	}
	if len(batch) == 0 {
		return false
	}
	for {
		err := q.send(q.work, batch)
		again, lost := q.keep && !q.closed.Load(), len(batch)
		if refused, ok := errors.AsType[*refusedError](err); ok {
			again, lost = false, refused.items
		}
		q.fate.told(err, lost, again)
		if err == nil || !again {
			return true
		}
		select {
		case <-time.After(q.delay):
		case <-q.closing:
		}
	}
}

// close sends what waits until ctx ends.
func (q *queue[T]) close(ctx context.Context) {
	if q == nil || q.closed.Swap(true) {
		return
	}
	close(q.closing)
	defer context.AfterFunc(ctx, q.cut)()
	<-q.ended
	q.cut()
}

// fate is what became of the items of a signal. It is said once when they cannot be
// delivered, and once when they can again.
type fate struct {
	signal string
	log    *slog.Logger
	lost   atomic.Int64

	mu   sync.Mutex
	away bool
}

func (f *fate) dropped(n int) { f.lost.Add(int64(n)) }

// told takes over how the delivery of n items ended; kept: they are tried again.
func (f *fate) told(err error, n int, kept bool) {
	if err != nil && !kept {
		f.dropped(n)
	}
	f.mu.Lock()
	before := f.away
	f.away = err != nil
	f.mu.Unlock()
	switch {
	case err != nil && !before:
		f.log.Warn("telemetry cannot be delivered; calls go on", "signal", f.signal, "error", err)
	case err == nil && before:
		f.log.Warn("telemetry is delivered again", "signal", f.signal, "dropped", f.lost.Load())
	}
}
