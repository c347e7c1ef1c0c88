package server

import (
	"net/http"
	"time"
)

// pacedWriter writes to a client that may read slowly or not at all, with a
// deadline for each step and for each MiB. A client that reads nothing is cut off
// after one timeout, whatever the size; a faster one never.
type pacedWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	began   time.Time
	written int64
}

// step is what is written under one deadline.
const step = 256 << 10

func newPacedWriter(w http.ResponseWriter, timeout time.Duration) *pacedWriter {
	return &pacedWriter{w: w, control: http.NewResponseController(w), timeout: timeout, began: time.Now()}
}

// write writes all of b. An error means that the client is gone.
func (p *pacedWriter) write(b []byte) error {
	for len(b) > 0 {
		p.allow()
		n, err := p.w.Write(b[:min(len(b), step)]) // #nosec G705 -- JSON, or an event stream of it, which no browser takes for a page
		p.written += int64(n)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// allow sets the deadline of the next step. Not every writer has one; net/http
// takes it away before the next request.
func (p *pacedWriter) allow() {
	until := time.Now().Add(p.timeout)
	if all := p.began.Add(p.timeout + time.Duration(float64(p.timeout)*float64(p.written)/(1<<20))); all.Before(until) {
		until = all
	}
	_ = p.control.SetWriteDeadline(until)
}

func (p *pacedWriter) flush() error {
	p.allow()
	return p.control.Flush()
}
