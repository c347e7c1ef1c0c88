package server

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// eventStream stores the events of one stream of a session, so that a client can
// resume it after a lost connection. A request's stream ends with its response,
// the standing stream with the session.
type eventStream struct {
	id        uint64
	resumable bool // the client's revision knows events without data
	held      *quota
	account   account
	direct    bool        // each message is written when it is sent, and kept only for who comes back
	changes   *changeFeed // the standing stream: what is still to be sent on it; nil: another stream
	unlisten  func()      // ends changes

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

// kept is a stored event.
type kept struct {
	message []byte
	took    int64 // of the quota
}

// atOnce is how many events a reader takes.
const atOnce = 64

func newEventStream(id uint64, held *quota, a account) *eventStream {
	return &eventStream{id: id, held: held, account: a, next: 1, wake: make(chan struct{})}
}

var _ notifier = (*eventStream)(nil)

func (r *eventStream) send(message []byte) error {
	if _, ok := r.add(message, false); !ok {
		return errSilent
	}
	return nil
}

// add stores a message, the last one or not, and returns its number.
func (r *eventStream) add(message []byte, last bool) (number int, ok bool) {
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

// pass counts the last message, which is too large to be stored.
func (r *eventStream) pass() (number int, ok bool) {
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

// keep stores an event, drops older ones beyond the bounds, and reports whether
// the event itself is within them.
func (r *eventStream) keep(message []byte) bool {
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

// drop removes the n oldest events. Readers have copies of the list.
func (r *eventStream) drop(n int) {
	for _, e := range r.events[:n] {
		r.held.give(r.account, e.took)
		r.bytes -= len(e.message)
	}
	clear(r.events[:n])
	r.events = r.events[n:]
}

// release drops all events of a stream that can no longer be resumed. It returns
// the response that will not be read, or nil.
func (r *eventStream) release() (unread *answer) {
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

func (r *eventStream) changed() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// end ends the stream with its response, or nil, and reports whether the response
// is still in use.
func (r *eventStream) end(a *answer) (inUse bool) {
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
			lost.fail(id, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the call was executed, but too many bytes wait for clients that come back: its answer is lost"})
			r.next--
			r.events = append(r.events, kept{message: lost.flat()}) // so small that it is not counted
			r.next++
		}
	}
	r.changed()
	return inUse
}

// take makes its caller the reader; the previous reader stops.
func (r *eventStream) take() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reader++
	r.read = true
	r.changed()
	return r.reader
}

// leave ends the reading of that reader.
func (r *eventStream) leave(reader int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader == reader {
		r.read = false
	}
}

// after returns the events after number at, whether the stream has ended, and
// what to wait for if there are none.
func (r *eventStream) after(at, reader int) (events [][]byte, first int, over bool, wake <-chan struct{}) {
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

// follow writes the events after number at until the stream ends, the client
// leaves, the server closes, or the client should poll.
func (r *eventStream) follow(ctx context.Context, s *Server, out *events, at int) {
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
func (r *eventStream) write(out *events, number int, message []byte) error {
	if !out.streaming() && r.resumable {
		if err := r.prime(out, number-1); err != nil {
			return err
		}
	}
	return out.event(r.place(number), message)
}

func (r *eventStream) prime(out *events, number int) error {
	if err := out.retry(reconnectDelay); err != nil {
		return err
	}
	return out.event(r.place(number), nil)
}

// reconnectDelay is the retry of server-sent events.
const reconnectDelay = 500 * time.Millisecond

// place identifies an event within its session.
func (r *eventStream) place(number int) string {
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
