package server

import (
	"errors"
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

var _ notifier = (*events)(nil)

// send writes one message. The first one makes the response a stream.
func (e *events) send(message []byte) error { return e.event("", message) }

// event writes a message under an id; empty: none. An empty message is an
// event without data, which only tells the id.
func (e *events) event(id string, message []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(message) >= large {
		return e.put(func(p *pacedWriter) error {
			return errors.Join(p.write(e.head(nil, id)), p.write(message), p.write([]byte("\n\n")))
		})
	}
	b := make([]byte, 0, len(message)+64)
	if len(message) > 0 {
		b = e.head(b, id)
	} else {
		b = append(append(append(b, "id: "...), id...), "\ndata: "...)
	}
	b = append(append(b, message...), "\n\n"...)
	return e.put(func(p *pacedWriter) error { return p.write(b) })
}

// head is what stands before the data of an event.
func (e *events) head(b []byte, id string) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	return append(b, "event: message\ndata: "...)
}

// answer writes the last message, piece by piece.
func (e *events) answer(id string, a *answer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.put(func(p *pacedWriter) error {
		return errors.Join(p.write(e.head(nil, id)), a.each(true, p.write), p.write([]byte("\n\n")))
	})
}

// comment writes what no client looks at.
func (e *events) comment() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.put(func(p *pacedWriter) error { return p.write([]byte(":\n\n")) })
}

// retry tells the client when to come back.
func (e *events) retry(after time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.put(func(p *pacedWriter) error {
		return p.write([]byte("retry: " + strconv.FormatInt(after.Milliseconds(), 10) + "\n"))
	})
}

// put writes to the stream, which begins with it.
func (e *events) put(write func(*pacedWriter) error) error {
	if e.closed {
		return errSilent
	}
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
	p := newPacedWriter(e.w, e.timeout)
	err := write(p)
	if err == nil {
		err = p.flush()
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
