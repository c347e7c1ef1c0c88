package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/proc"
)

// workerClient is the parent's side of one worker.
type workerClient struct {
	options   Options
	child     *proc.Child
	in        *bufio.Reader // output of the worker
	loaded    []string      // keys of its programs, most recently used last
	broken    bool          // must not be used again
	calls     int           // number of calls so far
	idleTimer *time.Timer   // stops it when idle; nil: never idle so far

	writing sync.Mutex
	out     *bufio.Writer
}

func startWorker(o Options) (*workerClient, error) {
	child, err := proc.Start(proc.Command{
		Path: o.Command[0], Args: o.Command[1:], Pipes: true, MaxResident: o.Resident,
		Env: []string{"GOMAXPROCS=2", "GOGC=50"},
	})
	if err != nil {
		return nil, err
	}
	return &workerClient{options: o, child: child, in: bufio.NewReaderSize(child.Stdout, 64<<10), out: bufio.NewWriterSize(child.Stdin, 64<<10)}, nil
}

func (h *workerClient) send(k kind, parts ...[]byte) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	return writeFrame(h.out, k, parts...)
}

const tooLong = "the code ran too long"

// baseLoadTime is the time limit for the environment of a program without
// libraries.
const baseLoadTime = 5 * time.Second

// run loads the program if necessary and performs the call.
func (h *workerClient) run(ctx context.Context, p *Program, c Call) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { h.child.Kill("the caller gave up") })
	defer stop()
	if err := h.load(p, c.Budget); err != nil {
		return nil, h.exitError(ctx, err)
	}
	clock := newClock(c.Budget+grace, func() { h.child.Kill(tooLong) })
	defer clock.stop()
	if err := h.sendCall(p, c); err != nil {
		h.broken = true
		return nil, h.exitError(ctx, err)
	}
	result, err := h.receive(ctx, c, clock)
	if err != nil {
		return nil, h.exitError(ctx, err)
	}
	return result, nil
}

func (h *workerClient) sendCall(p *Program, c Call) error {
	parts := [][]byte{[]byte(p.key), []byte(c.Function), millis(c.Budget), c.Args}
	if c.Body != nil {
		parts = append(parts, c.Body)
	}
	return h.send(callFrame, parts...)
}

func millis(d time.Duration) []byte {
	return strconv.AppendInt(nil, max(d.Milliseconds(), 1), 10)
}

// load loads a program into the worker and unloads the least recently used one.
func (h *workerClient) load(p *Program, budget time.Duration) error {
	if i := slices.Index(h.loaded, p.key); i >= 0 {
		h.loaded = append(slices.Delete(h.loaded, i, i+1), p.key)
		return nil
	}
	most := budget + baseLoadTime
	if len(p.libraries) > 0 {
		most = budget + h.options.Load
	}
	clock := newClock(most+grace, func() { h.child.Kill(tooLong) })
	defer clock.stop()
	h.broken = true
	if len(h.loaded) == maxLoaded {
		if err := h.send(dropFrame, []byte(h.loaded[0])); err != nil {
			return err
		}
		h.loaded = slices.Delete(h.loaded, 0, 1)
	}
	parts := p.parts()
	parts = slices.Insert(parts, 3, strconv.AppendInt(nil, h.options.Memory, 10), millis(h.options.Load), millis(budget))
	if err := h.send(loadFrame, append([][]byte{[]byte(p.key)}, parts...)...); err != nil {
		return err
	}
	f, err := readFrame(h.in, maxFrame, nil)
	switch {
	case err != nil:
		return err
	case f.kind == doneFrame && len(f.parts) == 1:
		h.loaded = append(h.loaded, p.key)
		h.broken = false
		return nil
	case f.kind == failFrame && len(f.parts) == 2:
		err := failure(f)
		h.broken = err.Kind == Broken
		return err
	}
	return errFrame
}

// failure returns the error of a frame. One of a kind that a worker cannot know
// is the worker's own.
func failure(f frame) *Error {
	e := &Error{Kind: Kind(f.parts[0]), Message: clip(string(f.parts[1]))}
	switch e.Kind {
	case Thrown, Deadline, Memory, Stack, TooLarge, Unending:
		return e
	case Broken:
	}
	e.Kind = Broken
	return e
}

// receive reads messages of the worker until the call has ended, and handles its
// host calls.
func (h *workerClient) receive(ctx context.Context, c Call, clock *clock) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	asked := incident.NewGroup(nil, "a question of a handler", maxTotalHostCalls)
	defer func() {
		cancel()
		asked.Wait() // no response may be written after the call
	}()
	h.broken = true
	questions := 0
	for {
		f, err := readFrame(h.in, maxFrame, nil)
		switch {
		case err != nil:
			return nil, err
		case f.kind == doneFrame && len(f.parts) == 1:
			h.broken = false
			return f.parts[0], nil
		case f.kind == failFrame && len(f.parts) == 2:
			err := failure(f)
			h.afterFailure(err)
			return nil, err
		case f.kind == resumeFrame && len(f.parts) == 0:
			clock.resume()
		case f.kind == pauseFrame && len(f.parts)%3 == 0 && questions+len(f.parts)/3 <= maxTotalHostCalls:
			questions += len(f.parts) / 3
			clock.pause()
			for q := range slices.Chunk(f.parts, 3) {
				asked.Go(func() { h.handleHostCall(ctx, c, q, clock) }, func(e *incident.Error) { h.respond(ctx, q, HostResult{}, e, clock) })
			}
		default:
			return nil, errFrame
		}
	}
}

// maxTotalHostCalls limits the host calls of one call.
const maxTotalHostCalls = 256

// afterFailure updates the state after a failed call: the worker drops a realm that
// was interrupted.
func (h *workerClient) afterFailure(err *Error) {
	h.broken = err.Kind == Broken
	if err.Kind != Thrown {
		h.loaded = h.loaded[:len(h.loaded)-1] // the program of this call is the last
	}
}

func (h *workerClient) handleHostCall(ctx context.Context, c Call, q [][]byte, clock *clock) {
	var a HostResult
	err := error(&Error{Kind: Thrown, Message: "no host calls are allowed here"})
	if c.HostCall != nil {
		a, err = c.HostCall(ctx, string(q[1]), q[2])
	}
	h.respond(ctx, q, a, err, clock)
}

// respond sends the response to a host call, unless the call has ended.
func (h *workerClient) respond(ctx context.Context, q [][]byte, a HostResult, err error, clock *clock) {
	ok := []byte("1")
	if err != nil {
		ok, a = []byte("0"), HostResult{Value: []byte(clip(err.Error()))}
	}
	if len(a.Value)+len(a.Text) > maxFrame/2 {
		ok, a = []byte("0"), HostResult{Value: []byte("the response is too large")}
	}
	if ctx.Err() != nil {
		return
	}
	clock.resume()
	_ = h.send(answerFrame, q[0], ok, a.Value, a.Text) // attend notices that the worker is gone
}

// exitError converts an error of the pipes: the worker is gone, and its exit has
// the cause.
func (h *workerClient) exitError(ctx context.Context, err error) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // never wrapped
		return e
	}
	h.broken = true
	if errors.Is(err, errFrame) {
		h.child.Kill("protocol violation")
	}
	_ = h.child.Stdin.Close() // a worker exits when its input is closed
	<-h.child.Done()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	exit := h.child.Exit()
	switch killed := exit.Killed; {
	case killed == tooLong:
		return &Error{Kind: Deadline, Message: tooLong}
	case killed != "" && isOutOfMemory(killed), isOutOfMemory(exit.Tail):
		return &Error{Kind: Memory, Message: "the code used too much memory"}
	case killed == "":
		return &Error{Kind: Broken, Message: "the worker exited: " + exit.String(), Detail: exit.Tail}
	}
	return &Error{Kind: Broken, Message: fmt.Sprintf("the worker was killed: %s", exit.Killed)}
}

// clock calls late when the time limit of a call expires. It is paused while
// the worker waits for host calls.
type clock struct {
	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration
	since  time.Time
	paused bool
}

func newClock(limit time.Duration, late func()) *clock {
	return &clock{timer: time.AfterFunc(limit, late), left: limit, since: time.Now()}
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.paused = true
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		return
	}
	c.paused = false
	c.since = time.Now()
	c.timer.Reset(max(c.left, time.Millisecond))
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = true
	c.timer.Stop()
}
