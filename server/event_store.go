package server

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
)

// replay is one stream of a session: what was sent on it, so that a client
// that lost its connection can come back for the rest. A request's stream ends
// with its answer; the standing stream ends with the session.
type replay struct {
	id        uint64
	resumable bool // the client's revision knows events without data
	held      *quota
	account   account
	direct    bool   // each message is written when it is sent, and kept only for who comes back
	changes   *feed  // the standing stream: what is still to be sent on it; nil: another stream
	unlisten  func() // ends changes

	mu     sync.Mutex
	events []kept // the latest
	next   int    // number of the event after them; numbers begin at 1
	bytes  int
	ended  bool
	silent bool          // it ended without an answer
	status int           // of the plain answer; set before the end
	plain  *answer       // the answer, where nothing came before it and somebody waits for it
	wake   chan struct{} // closed and replaced at every change
	reader int           // counts readers: a new one takes the stream over
	read   bool          // there is a reader
	gone   bool          // nobody can come back: nothing is kept
}

// kept is an event that can be sent again.
type kept struct {
	message []byte
	took    int64 // of the quota
}

// The bounds of what a stream keeps. An event that is gone is not replayed.
const (
	maxEvents     = 1000
	maxEventBytes = 1 << 20
	maxHeldBytes  = 256 << 20 // of all streams
	atOnce        = 64        // events that a reader takes
)

func newReplay(id uint64, held *quota, a account) *replay {
	return &replay{id: id, held: held, account: a, next: 1, wake: make(chan struct{})}
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
	return r.next - 1, true
}

// pass counts the last message, which is too large to be kept.
func (r *replay) pass() (number int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return 0, false
	}
	r.drop(len(r.events))
	r.next++
	r.ended = true
	r.changed()
	return r.next - 1, true
}

// keep adds an event and lets go of those that there is no room for. It reports
// whether the event itself found some.
func (r *replay) keep(message []byte) bool {
	r.next++
	if r.gone {
		return false
	}
	for len(r.events) > 0 && (len(r.events) >= maxEvents || r.bytes+len(message) > maxEventBytes) {
		r.drop(1)
	}
	if r.direct && len(message) > maxEventBytes {
		return false
	}
	for {
		took, ok := r.held.try(r.account, int64(len(message)))
		if ok {
			r.events = append(r.events, kept{message, took})
			r.bytes += len(message)
			return true
		}
		if len(r.events) == 0 {
			return false
		}
		r.drop(1)
	}
}

// drop lets go of the n oldest events. Readers have copies of the list.
func (r *replay) drop(n int) {
	for _, e := range r.events[:n] {
		r.held.give(r.account, e.took)
		r.bytes -= len(e.message)
	}
	clear(r.events[:n])
	r.events = r.events[n:]
}

// release forgets what is kept, for a stream to which nobody can come back. It
// returns the answer that nobody will read; nil: there is none.
func (r *replay) release() (unread *answer) {
	if r.unlisten != nil {
		r.unlisten()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	r.drop(len(r.events))
	r.events = nil
	if r.changes != nil {
		r.ended = true
	}
	unread, r.plain = r.plain, nil
	r.changed()
	return unread
}

func (r *replay) changed() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// end ends the stream with its answer; nil: there is none to send. It reports
// whether the answer is still in use.
func (r *replay) end(a *answer) (inUse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	r.ended = true
	switch {
	case a == nil:
		r.silent = true
	case r.gone:
	case r.next == 1 && r.read && r.reader <= 2: // take is called by who asked, and by who follows
		r.plain, inUse = a, true
	default:
		if id := a.id; !r.keep(a.flat()) {
			lost := &answer{}
			lost.fail(id, &rpcError{code: codeInternal, message: "the call was executed, but too many bytes wait for clients that come back: its answer is lost"})
			r.next--
			r.events = append(r.events, kept{message: lost.flat()}) // so small that it is not counted
			r.next++
		}
	}
	r.changed()
	return inUse
}

// take makes its caller the reader; who read before stops.
func (r *replay) take() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reader++
	r.read = true
	r.changed()
	return r.reader
}

// leave ends the reading of that reader.
func (r *replay) leave(reader int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader == reader {
		r.read = false
	}
}

// after returns events behind number at, whether there are no others to come,
// and what to wait for where there is nothing to do.
func (r *replay) after(at, reader int) (events [][]byte, first int, over bool, wake <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader != reader {
		return nil, 0, true, nil
	}
	oldest := r.next - len(r.events)
	skip := min(max(at+1-oldest, 0), len(r.events))
	behind := r.events[skip:]
	over = r.ended && len(behind) <= atOnce
	for _, e := range behind[:min(len(behind), atOnce)] {
		events = append(events, e.message)
	}
	return events, oldest + skip, over, r.wake
}

// follow writes what comes after number at until the stream ends, the client
// is gone, the server closes, or it is time that the client polls.
func (r *replay) follow(ctx context.Context, s *Server, out *events, at int) {
	reader := r.take()
	defer r.leave(reader)
	silence := time.NewTimer(beat)
	defer silence.Stop()
	var news, closing <-chan struct{}
	if r.changes != nil {
		news, closing = r.changes.wake, s.closing
	}
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
		if len(events) == atOnce {
			continue
		}
		silence.Reset(beat)
		select {
		case <-wake:
		case <-news:
			_ = s.pass(r.changes, r) // who comes back later hears of it
		case <-silence.C:
			if out.streaming() && out.comment() != nil {
				return
			}
		case <-closing:
			return
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
