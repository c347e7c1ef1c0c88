package server

import (
	"net/http"
	"time"
)

// pace writes to a client that may read slowly, or not at all: it has the
// timeout for each step, and for each MiB in all. So who reads nothing is cut
// after one timeout, whatever the size, and who reads faster than that never.
type pace struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	began   time.Time
	written int64
}

// step is what is written under one deadline.
const step = 256 << 10

func newPace(w http.ResponseWriter, timeout time.Duration) *pace {
	return &pace{w: w, control: http.NewResponseController(w), timeout: timeout, began: time.Now()}
}

// write writes all of b. An error means that the client is gone.
func (p *pace) write(b []byte) error {
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
func (p *pace) allow() {
	until := time.Now().Add(p.timeout)
	if all := p.began.Add(p.timeout + time.Duration(float64(p.timeout)*float64(p.written)/(1<<20))); all.Before(until) {
		until = all
	}
	_ = p.control.SetWriteDeadline(until)
}

func (p *pace) flush() error {
	p.allow()
	return p.control.Flush()
}
