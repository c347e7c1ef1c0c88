package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// The rules of this transport, from transports/stdio of the protocol:
// one message a line, and nothing else on the output; a line that is no
// message is answered with an error and the next one is read; a cancelled
// request is never answered; what was asked before the input ended is
// answered still.

// byteOrderMark says that a text is UTF-8, which every message is.
const byteOrderMark = "\ufeff"

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
		open:   make(chan struct{}, 2*s.options.Load().MaxConcurrent),
		idle:   make(chan func()),
		peer:   newClientState(),
		ending: make(chan struct{}),
	}
	began := time.Now()
	defer func() { s.sessionEnded(c.peer, began, true) }()
	changes, stopListening := s.listen(c.peer.watches)
	defer stopListening()
	incident.Go(s.log, "telling changes", func() { c.tellChanges(work, changes) }, nil)
	ended := make(chan error, 1)
	incident.Go(s.log, "reading messages", func() { ended <- c.read(work, in) }, func(e *incident.Error) { ended <- e })
	var err error
	select {
	case err = <-ended:
		close(c.ending)
		c.drain(s.options.Load().Drain, work.Done())
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

	peer   *clientState
	ending chan struct{} // closed when the input has ended

	mu     sync.Mutex // guards all below; nothing blocks under it
	err    error      // why nothing can be written any more
	closed bool
}

// tellChanges tells a legacy client what changed. One of 2026-07-28 subscribes.
func (c *conversation) tellChanges(ctx context.Context, changes *changeFeed) {
	for {
		select {
		case <-changes.wake:
			if c.peer.speaks() != "" {
				_ = c.server.pass(changes, &line{c: c, f: &inFlight{}}) // a broken output ends all
			}
		case <-ctx.Done():
			return
		}
	}
}

// line is the way back of a request over stdio.
type line struct {
	c *conversation
	f *inFlight
}

func (l *line) send(message []byte) error {
	c := l.c
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.peer.wants(l.f) || !c.writable() {
		return errSilent
	}
	if _, err := c.out.Write(append(message, '\n')); err != nil {
		c.broke(fmt.Errorf("write messages: %w", err))
		return err
	}
	return nil
}

// read takes messages until the input ends; that is no error.
func (c *conversation) read(ctx context.Context, in io.Reader) error {
	lines := lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: c.server.options.Load().MaxBody}
	for begun := false; ; begun = true {
		if lines.in.Buffered() == 0 {
			// The read may block the thread and hold what runs goroutines with
			// it: those that are ready to answer go first.
			runtime.Gosched()
		}
		line, err := lines.next()
		if errors.Is(err, errLineTooLong) {
			c.fail(nil, jsonrpc.ParseError(fmt.Errorf("the line is longer than %s bytes", strconv.FormatInt(c.server.options.Load().MaxBody, 10))))
			continue
		}
		if !begun { // some shells begin a pipe with it
			line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte(byteOrderMark)))
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
	if isBatch(line) && c.peer.speaks() == jsonrpc.BatchRevision {
		c.startBatch(ctx, line)
		return
	}
	q := &request{server: c.server, subject: processOwner, waits: true, closing: c.ending}
	m := &q.Message
	e := jsonrpc.Decode(line, m)
	switch {
	case m.Notification:
		if e != nil {
			c.server.log.Debug("a notification was ignored", "reason", e.Message)
		} else if m.Method == "notifications/cancelled" {
			c.peer.cancel(m.RequestID)
		}
		return
	case m.Response:
		c.peer.answered(*m)
		return
	}
	var wrongEra *jsonrpc.Error
	q.era, wrongEra = c.server.revisionsOf(m, nil)
	if e == nil {
		e = wrongEra
	}
	if e != nil {
		c.fail(m.ID, e)
		return
	}
	if q.era == legacy {
		q.peer, q.revision = c.peer, c.peer.speaks()
	}
	if m.Method == "initialize" {
		c.initialize(ctx, q) // before the next line is read: that one may depend on it
		return
	}
	c.start(ctx, q)
}

func (c *conversation) initialize(ctx context.Context, q *request) {
	a := c.server.newAnswer()
	defer c.server.release(a)
	c.server.respond(ctx, q, a)
	c.send(&inFlight{}, a)
}

// startBatch answers a batch as one line.
func (c *conversation) startBatch(ctx context.Context, text []byte) {
	messages, e := split(text)
	if e != nil {
		c.fail(nil, e)
		return
	}
	base := request{subject: processOwner, revision: jsonrpc.BatchRevision, peer: c.peer, closing: c.ending}
	c.job(ctx, &inFlight{}, func(ctx context.Context, f *inFlight, a *answer) bool {
		answers := c.server.together(messages, &base, func(q *request, a *answer) {
			q.out = &line{c: c, f: f}
			c.server.respond(ctx, q, a)
		})
		a.owes = append(a.owes, debtsOf(answers)...)
		a.join(joined(answers))
		return len(answers) > 0
	})
}

// start answers q on its own.
func (c *conversation) start(ctx context.Context, q *request) {
	f := &inFlight{id: q.ID}
	q.out = &line{c: c, f: f}
	c.job(ctx, f, func(ctx context.Context, _ *inFlight, a *answer) bool {
		c.server.respond(ctx, q, a)
		return true
	})
}

// job runs what makes an answer. It blocks while too many requests are open:
// the client's pipe is the queue then.
func (c *conversation) job(ctx context.Context, f *inFlight, run func(context.Context, *inFlight, *answer) bool) {
	select {
	case c.open <- struct{}{}:
	case <-ctx.Done():
		return
	}
	call, cancel := context.WithCancel(ctx)
	f.cancel = cancel
	c.peer.registerNumbered(f)
	job := func() {
		defer func() { <-c.open }()
		defer cancel()
		a := c.server.newAnswer()
		defer c.server.release(a)
		returned := false
		defer func() {
			if !returned { // a handler ended its goroutine: the answer says so
				c.send(f, a)
			}
		}()
		wanted := run(call, f, a)
		if returned = true; wanted {
			c.send(f, a)
		} else {
			c.peer.unregister(f)
		}
	}
	select {
	case c.idle <- job:
	default:
		incident.Go(c.server.log, "a request", func() { c.work(ctx, job) }, nil)
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

// sameID compares ids by value: a string may be escaped in many ways.
func sameID(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 || (a[0] == '"') != (b[0] == '"') {
		return false
	}
	return bytes.Equal(a, b) || a[0] == '"' && bytes.Equal(jsonrpc.Plain(a), jsonrpc.Plain(b))
}

// fail sends an error for what never became a request.
func (c *conversation) fail(id []byte, e *jsonrpc.Error) {
	a := c.server.newAnswer()
	defer c.server.release(a)
	a.fail(id, e)
	c.send(&inFlight{}, a)
}

// send writes an answer as one line.
func (c *conversation) send(f *inFlight, a *answer) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.land(f) {
		return
	}
	write := func(part []byte) error {
		_, err := c.out.Write(part)
		return err
	}
	var err error
	switch {
	case len(a.pieces) == 0: // nearly always: it is one write
		inOneLine(a.buf)
		a.write("\n")
		err = write(a.buf)
	default:
		if err = a.each(true, write); err == nil {
			err = write([]byte("\n"))
		}
	}
	if err != nil {
		c.broke(fmt.Errorf("write messages: %w", err))
	}
}

// land ends a flight and reports whether its answer is to be written.
func (c *conversation) land(f *inFlight) bool {
	return c.peer.unregister(f) && c.writable()
}

func (c *conversation) writable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && c.err == nil
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

// lineReader reads lines of bounded length.
type lineReader struct {
	in    *bufio.Reader
	limit int64
}

var errLineTooLong = errors.New("the line is too long")

// next returns the next line that is not blank, without its end, in memory of
// its own. A last line may come together with the error that ended the input.
// A line that is too long is gone over and reported.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(part)) > r.limit+1; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLineTooLong
		default:
			return line, err
		}
	}
}
