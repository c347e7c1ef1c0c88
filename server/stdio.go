package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
)

// The rules of this door, from transports/stdio of the protocol:
// one message a line, and nothing else on the output; a line that is no
// message is answered with an error and the next one is read; a cancelled
// request is never answered; what was asked before the input ended is
// answered still.

// processOwner is the subject of everything that comes over stdio: who started
// the process.
const processOwner tenon.Subject = "process owner"

// ServeStdio serves messages from in until it ends, and gives calls under way
// some time to end too; see Options.Drain. An ended ctx cuts them short, and
// is the error then. A read from in that blocks is left behind; it ends when
// in does.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := &conversation{
		server: s, out: out, stop: stop,
		open:  make(chan struct{}, 2*s.options.MaxConcurrent),
		idle:  make(chan func()),
		asked: map[*flight]struct{}{},
	}
	ended := make(chan error, 1)
	go func() { ended <- c.read(work, in) }()
	var err error
	select {
	case err = <-ended:
		c.drain(s.options.Drain, work.Done())
	case <-work.Done():
		err = context.Cause(work)
	}
	stop(errEnded)
	c.drain(lastWords, nil)
	if broken := c.close(); broken != nil {
		return broken
	}
	return err
}

// lastWords is how long calls that were cut short have for their answer.
const lastWords = time.Second

var errEnded = errors.New("the conversation has ended")

// conversation is one run of ServeStdio.
type conversation struct {
	server *Server
	stop   context.CancelCauseFunc
	open   chan struct{} // one element for each request that is not answered yet
	idle   chan func()   // workers that have nothing to do receive here

	writing sync.Mutex // makes a line whole; taken before mu
	out     io.Writer

	mu     sync.Mutex // guards all below; nothing blocks under it
	err    error      // why nothing can be written any more
	closed bool
	asked  map[*flight]struct{}
}

// flight is a request under way.
type flight struct {
	id        []byte
	cancel    context.CancelFunc
	cancelled bool // guarded by conversation.mu
}

// read takes messages until the input ends; that is no error.
func (c *conversation) read(ctx context.Context, in io.Reader) error {
	lines := lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: c.server.options.MaxBody}
	for {
		line, err := lines.next()
		if errors.Is(err, errLineTooLong) {
			c.fail(nil, parseError(fmt.Errorf("the line is longer than %s bytes", strconv.FormatInt(c.server.options.MaxBody, 10))))
			continue
		}
		if len(line) > 0 {
			c.take(ctx, line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read messages: %w", err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// take handles one line.
func (c *conversation) take(ctx context.Context, line []byte) {
	m, e := decode(line)
	switch {
	case m.notification:
		if e != nil {
			c.server.log.Debug("a notification was ignored", "reason", e.message)
		} else if m.method == "notifications/cancelled" {
			c.cancel(m.requestID)
		}
		return
	case m.response:
		return
	}
	era, wrongEra := eraOf(&m, nil)
	if e == nil {
		e = wrongEra
	}
	if e != nil {
		c.fail(m.id, e)
		return
	}
	c.start(ctx, &request{message: m, server: c.server, era: era, subject: processOwner, patient: true})
}

// start answers q on its own. It blocks while too many requests are open: the
// client's pipe is the queue then.
func (c *conversation) start(ctx context.Context, q *request) {
	select {
	case c.open <- struct{}{}:
	case <-ctx.Done():
		return
	}
	call, cancel := context.WithCancel(ctx)
	f := &flight{id: q.id, cancel: cancel}
	c.mu.Lock()
	c.asked[f] = struct{}{}
	c.mu.Unlock()
	job := func() {
		defer func() { <-c.open }()
		defer cancel()
		a := c.server.newAnswer()
		defer c.server.release(a)
		c.server.respond(call, q, a)
		c.send(f, a)
	}
	select {
	case c.idle <- job:
	default:
		go c.work(ctx, job)
	}
}

// work does one job and then what comes. A new goroutine for each request
// would spend nearly half of its time on growing its stack.
func (c *conversation) work(ctx context.Context, job func()) {
	for {
		job()
		select {
		case job = <-c.idle:
		case <-ctx.Done():
			return
		}
	}
}

// cancel ends the request with that id. From now on nothing is sent for it.
func (c *conversation) cancel(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := range c.asked {
		if sameID(f.id, id) {
			f.cancelled = true
			f.cancel()
		}
	}
}

// sameID compares ids by value: a string may be escaped in many ways.
func sameID(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 || (a[0] == '"') != (b[0] == '"') {
		return false
	}
	return bytes.Equal(a, b) || a[0] == '"' && bytes.Equal(plain(a), plain(b))
}

// fail sends an error for what never became a request.
func (c *conversation) fail(id []byte, e *rpcError) {
	a := c.server.newAnswer()
	defer c.server.release(a)
	a.fail(id, e)
	c.send(&flight{}, a)
}

// send writes an answer as one line.
func (c *conversation) send(f *flight, a *answer) {
	a.oneLine()
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.land(f) {
		return
	}
	head, page, tail := a.parts()
	for _, part := range [...][]byte{head, page, tail} {
		if len(part) == 0 {
			continue
		}
		if _, err := c.out.Write(part); err != nil {
			c.broke(fmt.Errorf("write messages: %w", err))
			return
		}
	}
}

// land ends a flight and reports whether its answer is to be written.
func (c *conversation) land(f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, f)
	return !f.cancelled && !c.closed && c.err == nil
}

// broke ends the conversation, whose output is gone.
func (c *conversation) broke(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	c.stop(err)
}

// drain waits until no request is open, the time is over, or enough is closed.
// It takes every place there is and then gives them back.
func (c *conversation) drain(most time.Duration, enough <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	taken := 0
	defer func() {
		for range taken {
			<-c.open
		}
	}()
	for ; taken < cap(c.open); taken++ {
		select {
		case c.open <- struct{}{}:
		case <-timer.C:
			c.server.log.Warn("calls did not end in time", "waited", most)
			return
		case <-enough:
			return
		}
	}
}

// close makes sure that nothing is written any more.
func (c *conversation) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.err
}
