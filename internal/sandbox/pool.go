// Package sandbox runs untrusted JavaScript without ambient authority: in
// worker processes that can be killed, with limits on time, memory and stack,
// and with the host functions that it is given.
//
// It does not know the purpose of the code: no schema files, no requests, no
// secrets. A program gets text, JSON and the results of its host calls, and
// returns JSON.
//
// A source passes a program and arguments to a Pool while it handles a call; a
// worker runs them, and host calls of the code are passed to the source's own
// function.
//
// Invariants:
//
//   - A worker has no environment and no open file or socket except the two
//     pipes to its parent.
//   - A worker runs one call at a time, so killing it affects only that call.
//   - Each program has a realm of its own, with frozen intrinsics. Text never
//     becomes code there.
//   - Messages of a worker are as untrusted as the code that it runs: their
//     size is limited, and an invalid frame ends the worker.
package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Options for a pool. Command is required.
type Options struct {
	Command  []string      // command of a program that calls Serve with its stdin and stdout
	Workers  int           // maximum number of workers; 0: the number of processors, at least 2
	Idle     time.Duration // after which an idle worker exits; 0: 1 min
	Load     time.Duration // time limit for loading the libraries of a program; 0: 10 s
	Memory   int64         // memory limit of one realm in bytes; 0: 128 MiB
	Resident int64         // resident memory limit of one worker in bytes; 0: 512 MiB
}

const (
	// maxFrame limits a message: a fully escaped body of 32 MiB fits.
	maxFrame = 256 << 20
	// grace is the time for the engine to notice its deadline before the worker
	// is killed.
	grace = 300 * time.Millisecond
	// maxLoaded is the number of programs that a worker keeps loaded.
	maxLoaded = 12
)

// ErrClosed is the error of calls to a closed pool.
var ErrClosed = errors.New("the pool of workers is closed")

// Pool starts workers when they are needed. It is safe for concurrent use and
// must be closed.
type Pool struct {
	options Options
	slots   *semaphore // one per worker

	mu     sync.Mutex
	idle   []*workerClient // most recently used last
	all    map[*workerClient]bool
	closed bool

	retiring sync.WaitGroup // idle workers being stopped
}

// NewPool returns a pool without workers.
func NewPool(o Options) *Pool {
	if o.Workers == 0 {
		o.Workers = max(2, runtime.NumCPU())
	}
	orDuration(&o.Idle, time.Minute)
	orDuration(&o.Load, 10*time.Second)
	if o.Memory == 0 {
		o.Memory = 128 << 20
	}
	if o.Resident == 0 {
		o.Resident = 512 << 20
	}
	return &Pool{options: o, slots: newSemaphore(o.Workers), all: map[*workerClient]bool{}}
}

// Len is how many workers there are.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

func orDuration(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// Call is one call of a program's function.
type Call struct {
	Function string        // a function returned by the glue's start
	Args     []byte        // its first argument, a JSON value
	Body     []byte        // its second argument: these bytes parsed as JSON, or else their text; nil: none
	Budget   time.Duration // CPU time limit, without host calls; also for loading the program; 0: 5 s
	// HostCall handles host calls of the code, several concurrently; nil: none are
	// allowed. The text of its error is passed to the code.
	HostCall func(ctx context.Context, name string, args []byte) (HostResult, error)
}

// HostResult is the result of a host call.
type HostResult struct {
	Value []byte // a JSON value
	Text  []byte // a separate text in UTF-8, which needs no escapes
}

// Run calls a function of a program and returns its result as JSON. It waits
// for a free worker. Every error is an [*Error], [ErrClosed] or that of ctx.
// When ctx ends, the worker is killed.
func (p *Pool) Run(ctx context.Context, prog *Program, c Call) ([]byte, error) {
	if len(c.Args)+len(c.Body) > maxFrame/2 {
		return nil, &Error{Kind: TooLarge, Message: "the arguments are too large"}
	}
	orDuration(&c.Budget, 5*time.Second)
	if err := p.slots.acquire(ctx, prog.key); err != nil {
		return nil, err
	}
	defer p.slots.release(prog.key)
	h, err := p.take(prog.key)
	if err != nil {
		return nil, err
	}
	begun, ended := time.Now(), false
	defer func() {
		h.broken = h.broken || !ended // its state is unknown after a panic
		p.release(h, time.Since(begun))
	}()
	result, err := h.run(ctx, prog, c)
	ended = true
	return result, err
}

// take returns an idle worker, preferably one that has loaded the program, or
// starts one.
func (p *Pool) take(key string) (*workerClient, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		i := n - 1
		for j, h := range p.idle {
			if slices.Contains(h.loaded, key) {
				i = j
			}
		}
		h := p.idle[i]
		if !slices.Contains(h.loaded, key) && len(p.all) < p.options.Workers && len(h.loaded) >= maxLoaded/2 {
			return p.start()
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		h.idleTimer.Stop()
		return h, nil
	}
	return p.start()
}

func (p *Pool) start() (*workerClient, error) {
	h, err := startWorker(p.options)
	if err != nil {
		return nil, &Error{Kind: Broken, Message: "a worker cannot be started: " + err.Error()}
	}
	p.all[h] = true
	return h, nil
}

// Reading a worker's memory usage takes as long as a short call. A call shorter
// than shortCall cannot allocate much, so it is read after one in looks of
// those.
const (
	shortCall     = 10 * time.Millisecond
	residentEvery = 32
)

// release returns a worker to the pool. A worker that holds much memory is
// stopped: memory kept by programs must not fail a later call.
func (p *Pool) release(h *workerClient, took time.Duration) {
	var held int64
	if h.calls++; took > shortCall || h.calls%residentEvery == 0 {
		held, _ = h.child.Resident()
	}
	p.mu.Lock()
	if h.broken || p.closed || held > p.options.Resident/2 {
		delete(p.all, h)
		p.mu.Unlock()
		h.child.Close()
		return
	}
	defer p.mu.Unlock()
	p.idle = append(p.idle, h)
	h.idleTimer = time.AfterFunc(p.options.Idle, func() { p.retire(h) })
}

// retire stops a worker that was idle for long.
func (p *Pool) retire(h *workerClient) {
	p.mu.Lock()
	i := slices.Index(p.idle, h)
	if i < 0 {
		p.mu.Unlock()
		return
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	delete(p.all, h)
	p.retiring.Add(1)
	p.mu.Unlock()
	defer p.retiring.Done()
	h.child.Close()
}

// Resident returns the resident memory and the number of the workers.
func (p *Pool) Resident() (bytes int64, workers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range p.all {
		if n, ok := h.child.Resident(); ok {
			bytes += n
		}
		workers++
	}
	return bytes, workers
}

// Close stops all workers and their running calls.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	all, idle := p.all, p.idle
	p.all, p.idle = map[*workerClient]bool{}, nil
	p.mu.Unlock()
	for h := range all {
		h.child.Kill("the pool was closed")
	}
	// Busy workers are closed by their callers. A timer that has already fired
	// finds no idle worker any more.
	for _, h := range idle {
		h.idleTimer.Stop()
		h.child.Close()
	}
	p.retiring.Wait()
	return nil
}

// Program is untrusted code with its environment. It is immutable; make it with
// NewProgram.
type Program struct {
	program

	key string
}

// program is the part of Program that a worker needs.
type program struct {
	module, glue, data string
	libraries          []Library
}

// Library is a bundle for untrusted code.
type Library struct {
	Name   string // of the package
	Source string // text of a function that takes the environment of a library and returns its exports
}

// NewProgram puts a program together.
//
// module is the text of an ECMAScript module, which nobody trusts. glue is the
// text of a function that we wrote. It runs before module, with one argument:
//
//	ask(name, args)  a promise of {value, text} from the parent
//	data             the JSON value data, deeply frozen
//	libraries        what the libraries export, by name
//	modules          the modules of Node that are here, by name
//	bytes            toLatin1, fromLatin1, view and utf8
//
// It returns {globals, start}: globals become members of the global object, and
// start(exports), called with what module exports, returns the functions that
// can be called. Between the two everything that is shared is frozen.
func NewProgram(module, glue string, data []byte, libraries ...Library) *Program {
	p := &Program{program: program{module: module, glue: glue, data: string(data), libraries: libraries}}
	h := sha256.New()
	for _, part := range p.parts() {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	p.key = hex.EncodeToString(h.Sum(nil))
	return p
}

// Key returns the hash of the program.
func (p *Program) Key() string { return p.key }

func (p *program) parts() [][]byte {
	parts := [][]byte{[]byte(p.module), []byte(p.glue), []byte(p.data)}
	for _, l := range p.libraries {
		parts = append(parts, []byte(l.Name), []byte(l.Source))
	}
	return parts
}

// semaphore is a semaphore for workers that is fair among programs: the waiting
// program with the fewest running calls is served first.
type semaphore struct {
	mu      sync.Mutex
	free    int
	running map[string]int
	waiting []*waiter // in order of arrival
}

type waiter struct {
	key     string
	granted chan struct{}
}

func newSemaphore(n int) *semaphore { return &semaphore{free: n, running: map[string]int{}} }

// acquire blocks until a call of the program may run; it must be followed by end.
func (t *semaphore) acquire(ctx context.Context, key string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.running[key]++
		t.mu.Unlock()
		return nil
	}
	mine := &waiter{key, make(chan struct{})}
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine.granted:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it was granted meanwhile
		t.release(key)
	}
	return ctx.Err()
}

// release passes the turn on.
func (t *semaphore) release(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[key]--; t.running[key] == 0 {
		delete(t.running, key)
	}
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	next := 0
	for i, w := range t.waiting {
		if t.running[w.key] < t.running[t.waiting[next].key] {
			next = i
		}
	}
	w := t.waiting[next]
	t.waiting = slices.Delete(t.waiting, next, next+1)
	t.running[w.key]++
	close(w.granted)
}
