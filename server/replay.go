package server

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// replay is one stream of a session: what was sent on it, so that a client
// that lost its connection can come back for the rest. A request's stream ends
// with its answer; the standing stream ends with the session.
type replay struct {
	id        uint64
	resumable bool // the client's revision knows events without data

	mu     sync.Mutex
	events [][]byte // the latest
	first  int      // number of events[0]; numbers begin at 1
	bytes  int
	ended  bool
	silent bool          // it ended without an answer
	status int           // of the plain answer; set before the end
	plain  *answer       // the answer, where nothing came before it
	wake   chan struct{} // closed and replaced at every change
	reader int           // counts readers: a new one takes the stream over

	held   *held // counts what all streams keep
	gone   bool  // nobody can come back: nothing is kept
	direct bool  // each message is written when it is sent, and kept only for who comes back
}

// held counts the bytes that all streams keep together.
type held struct {
	bytes atomic.Int64
	most  int64
}

func (h *held) full() bool { return h.bytes.Load() > h.most }

// The bounds of what a stream keeps. An event that is gone is not replayed.
const (
	maxEvents     = 1000
	maxEventBytes = 1 << 20
	maxHeldBytes  = 256 << 20 // of all streams
)

func newReplay(id uint64, h *held) *replay {
	return &replay{id: id, held: h, first: 1, wake: make(chan struct{})}
}

var _ outlet = (*replay)(nil)

func (r *replay) send(message []byte) error {
	if _, ok := r.add(message, false); !ok {
		return errSilent
	}
	return nil
}

// add keeps a message, the last one or not, and returns its number.
func (r *replay) add(message []byte, last bool) (number int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return 0, false
	}
	r.keep(message)
	r.ended = last
	r.changed()
	return r.first + len(r.events) - 1, true
}

func (r *replay) keep(message []byte) {
	if r.gone {
		r.first++
		return
	}
	r.events = append(r.events, message)
	r.count(len(message))
	least := 1
	if r.direct {
		least = 0
	}
	for len(r.events) > least && (len(r.events) > maxEvents || r.bytes > maxEventBytes || r.held.full()) {
		r.count(-len(r.events[0]))
		r.events[0] = nil
		r.events = r.events[1:]
		r.first++
	}
}

func (r *replay) count(n int) {
	r.bytes += n
	r.held.bytes.Add(int64(n))
}

// release forgets what is kept, for a stream to which nobody can come back.
func (r *replay) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	r.first += len(r.events)
	r.events = nil
	r.count(-r.bytes)
}

func (r *replay) changed() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// end ends the stream with its answer; nil: there is none to send. It reports
// whether the answer is still in use.
func (r *replay) end(a *answer) (kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	r.ended = true
	switch {
	case a == nil:
		r.silent = true
	case len(r.events) == 0 && r.first == 1 && r.reader <= 1:
		r.plain, kept = a, true
	default:
		r.keep(a.oneEvent())
	}
	r.changed()
	return kept
}

// take makes its caller the reader; who read before stops.
func (r *replay) take() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reader++
	r.changed()
	return r.reader
}

// after returns the events behind number at, whether the stream ended, and
// what to wait for where there is nothing to do.
func (r *replay) after(at, reader int) (events [][]byte, first int, over bool, wake <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader != reader {
		return nil, 0, true, nil
	}
	skip := min(max(at+1-r.first, 0), len(r.events))
	return r.events[skip:len(r.events):len(r.events)], r.first + skip, r.ended, r.wake
}

// follow writes what comes after number at until the stream ends, the client
// is gone, or it is time that the client polls.
func (r *replay) follow(ctx context.Context, out *events, at int) {
	reader := r.take()
	silence := time.NewTimer(beat)
	defer silence.Stop()
	for {
		events, first, over, wake := r.after(at, reader)
		for i, e := range events {
			if r.write(out, first+i, e) != nil {
				return
			}
			at = first + i
		}
		if over {
			return
		}
		silence.Reset(beat)
		select {
		case <-wake:
		case <-silence.C:
			if out.streaming() && out.comment() != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// write writes one event. The first of a stream comes after an event without
// data, which gives the client a place to come back to.
func (r *replay) write(out *events, number int, message []byte) error {
	if !out.streaming() && r.resumable {
		if err := r.prime(out, number-1); err != nil {
			return err
		}
	}
	return out.event(r.place(number), message)
}

func (r *replay) prime(out *events, number int) error {
	if err := out.retry(comeBack); err != nil {
		return err
	}
	return out.event(r.place(number), nil)
}

// comeBack is when a client that lost its stream asks for it again.
const comeBack = 500 * time.Millisecond

// place names an event within its session.
func (r *replay) place(number int) string {
	return strconv.FormatUint(r.id, 10) + "-" + strconv.Itoa(number)
}

// parsePlace reads the id of an event.
func parsePlace(s string) (stream uint64, number int, ok bool) {
	a, b, _ := strings.Cut(s, "-")
	stream, err := strconv.ParseUint(a, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	number, err = strconv.Atoi(b)
	return stream, number, err == nil && number >= 0
}
