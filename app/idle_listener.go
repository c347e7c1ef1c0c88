package app

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/deadline"
)

// idleListener is a listener of connections that wait for the next request. Their
// limits of time share one timer: net/http sets one for each request and stops
// it again, which costs more than the rest of waiting.
type idleListener struct {
	net.Listener
	clock deadline.Clock
}

// Accept returns a connection whose read deadline is the clock's affair.
func (p *idleListener) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &waiting{Conn: c, clock: &p.clock}
	w.alarm.Ring = w.late
	return w, nil
}

// waiting is a connection that looks at its read deadline only when it is read
// from: most are set, and lifted, between two reads.
type waiting struct {
	net.Conn
	clock *deadline.Clock
	alarm deadline.Alarm

	mu      sync.Mutex // guards the rest
	until   time.Time  // the read deadline; zero: none
	readers int        // that are at work
	ended   bool       // Conn has a deadline that is over
}

// Read reads until the deadline.
func (w *waiting) Read(p []byte) (int, error) {
	if err := w.enter(); err != nil {
		return 0, err
	}
	defer w.leave()
	return w.Conn.Read(p)
}

func (w *waiting) enter() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readers++
	return w.heed()
}

func (w *waiting) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readers--; w.readers == 0 && !w.until.IsZero() {
		w.clock.Off(&w.alarm)
	}
}

// SetReadDeadline is that of [net.Conn].
func (w *waiting) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = t
	if w.readers == 0 {
		return nil
	}
	return w.heed()
}

// SetDeadline is that of [net.Conn].
func (w *waiting) SetDeadline(t time.Time) error {
	return errors.Join(w.SetReadDeadline(t), w.SetWriteDeadline(t))
}

// heed makes the deadline true for who reads.
func (w *waiting) heed() error {
	over := !w.until.IsZero() && !time.Now().Before(w.until)
	if over != w.ended {
		w.ended = over
		at := time.Time{}
		if over {
			at = w.until
		}
		if err := w.Conn.SetReadDeadline(at); err != nil {
			return err
		}
	}
	if w.until.IsZero() || over {
		w.clock.Off(&w.alarm)
	} else {
		w.clock.On(&w.alarm, w.until)
	}
	return nil
}

// late ends the reads whose time is over.
func (w *waiting) late() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readers > 0 {
		_ = w.heed() // a connection that is closed has nobody who waits
	}
}

// CloseWrite lets net/http say that nothing more comes, before it closes.
func (w *waiting) CloseWrite() error {
	c, ok := w.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return c.CloseWrite()
}
