package server

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// events writes a response as an event stream. It is safe for concurrent use.
type events struct {
	w       http.ResponseWriter
	timeout time.Duration // for one write: who reads slower is cut
	began   func()        // called when the response becomes a stream; may be nil

	mu      sync.Mutex
	started bool
	closed  bool
}

// beat is how long a stream may be silent. A comment keeps the connection in
// the tables of what stands between.
const beat = 20 * time.Second

var _ outlet = (*events)(nil)

// send writes one message. The first one makes the response a stream.
func (e *events) send(message []byte) error { return e.event("", message) }

// event writes a message under an id; empty: none. An empty message is an
// event without data, which only tells the id.
func (e *events) event(id string, message []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := make([]byte, 0, len(message)+64)
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	if len(message) > 0 {
		b = append(b, "event: message\n"...)
	}
	b = append(append(b, "data: "...), message...)
	return e.put(append(b, "\n\n"...))
}

// comment writes what no client looks at.
func (e *events) comment() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.put([]byte(":\n\n"))
}

// retry tells the client when to come back.
func (e *events) retry(after time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.put([]byte("retry: " + strconv.FormatInt(after.Milliseconds(), 10) + "\n"))
}

func (e *events) put(b []byte) error {
	if e.closed {
		return errSilent
	}
	control := http.NewResponseController(e.w)
	_ = control.SetWriteDeadline(time.Now().Add(e.timeout)) // not every writer has one
	if !e.started {
		e.started = true
		if e.began != nil {
			e.began()
		}
		h := e.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
		e.w.WriteHeader(http.StatusOK)
	}
	_, err := e.w.Write(b) //nolint:gosec // an event stream of JSON, which no browser takes for a page
	if err == nil {
		err = control.Flush()
	}
	if err != nil {
		e.closed = true
	}
	return err
}

// close ends the use of the writer and reports whether it became a stream.
func (e *events) close() (started bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return e.started
}

// streaming reports whether the response is a stream already.
func (e *events) streaming() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.started
}

// acceptsEvents reports whether the client can take a stream: it has to say so.
func acceptsEvents(accept []string) bool {
	for _, line := range accept {
		if line == acceptsBoth {
			return true
		}
		for part := range strings.SplitSeq(line, ",") {
			media, weight, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(media), "text/event-stream") && !refusesWeight(weight) {
				return true
			}
		}
	}
	return false
}

// oneEvent takes line ends out of an answer: they would end an event's data.
// JSON has none inside of strings.
func (a *answer) oneEvent() []byte {
	b := make([]byte, 0, a.size())
	head, page, tail := a.parts()
	b = append(append(append(b, head...), page...), tail...)
	for i := range b {
		if b[i] == '\n' || b[i] == '\r' {
			b[i] = ' '
		}
	}
	return bytes.TrimSpace(b)
}
