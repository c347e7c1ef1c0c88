// Package sandbox runs foreign JavaScript without ambient authority: in worker
// processes that can be killed, with a deadline, a cap on memory and stack, and
// the functions that it is given.
//
// It does not know what the code is for: no schema file, no request, no secret.
// A program gets text, JSON and the answers to what it asks, and gives JSON.
//
// It stands beside the path of a call: a source hands a program and arguments
// to a Pool, a worker runs them, and what the code asks comes back to the
// source's own function.
//
// The rules that this package keeps:
//
//   - The worker holds no file and no socket but the two pipes to its parent
//     and, on Linux, memory where that leaves it large bodies, and no
//     environment.
//   - A worker runs one call at a time, so ending it costs that call alone.
//   - Each program has a realm of its own, with frozen intrinsics. Text never
//     becomes code there.
//   - What a worker sends is as foreign as the code that it runs: it is
//     bounded, and a frame that does not fit ends the worker.
package sandbox

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Options for a pool. The zero value works but for Command.
type Options struct {
	Command  []string      // starts a program that calls Serve with its input and output
	Workers  int           // the most at a time; 0: the number of processors, at least 2
	Idle     time.Duration // after which a worker without work ends; 0: 1 min
	Load     time.Duration // that the libraries of a program may run before its first call; 0: 10 s
	Memory   int64         // bytes that one realm may use; 0: 128 MiB
	Resident int64         // bytes of memory that one worker may hold; 0: 512 MiB
}

const (
	// maxFrame bounds what crosses at once: an answer's body of 32 MiB whose
	// every character is escaped fits.
	maxFrame  = 256 << 20
	maxResult = 64 << 20
	// grace is how long the engine may take to notice its deadline before the
	// worker is killed.
	grace = 300 * time.Millisecond
	// kept is the number of programs that a worker keeps loaded.
	kept = 12
)

// ErrClosed is the error of a pool that was closed.
var ErrClosed = errors.New("the pool of workers is closed")

// Pool keeps workers. It starts them when they are needed and is safe for
// concurrent use. Close must be called in the end.
type Pool struct {
	o     Options
	turns *turns // for as many workers as may run

	mu     sync.Mutex
	idle   []*hand // the one used last stands at the end
	all    map[*hand]bool
	closed bool

	retiring sync.WaitGroup // workers that end because they rested for long
}

// NewPool returns a pool. It starts nothing.
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
	return &Pool{o: o, turns: newTurns(o.Workers), all: map[*hand]bool{}}
}

func orDuration(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// Call is one use of a program.
type Call struct {
	Function string        // one of those that the glue's start returned
	Args     []byte        // a JSON value, its first argument
	Body     []byte        // its second: the value that these bytes are as JSON, or else their text; nil: none
	Budget   time.Duration // that the code may run, waiting for answers left out, and as long where the program is loaded first; 0: 5 s
	// Ask answers what the code asks for, several at once; nil: it may ask
	// nothing. The error's text reaches the code.
	Ask func(ctx context.Context, name string, args []byte) (Answer, error)
}

// Answer is what the code gets for a question.
type Answer struct {
	Value []byte // a JSON value
	Text  []byte // a text beside it, which needs no escapes: UTF-8
}

// Run calls a function of a program and returns the JSON of its result. It
// waits until a worker is free. Every error is an [*Error], [ErrClosed] or that
// of ctx. When ctx ends, the worker is killed.
func (p *Pool) Run(ctx context.Context, prog *Program, c Call) ([]byte, error) {
	if len(c.Args)+len(c.Body) > maxFrame/2 {
		return nil, &Error{Kind: TooLarge, Message: "the arguments are too large"}
	}
	orDuration(&c.Budget, 5*time.Second)
	if err := p.turns.wait(ctx, prog.key); err != nil {
		return nil, err
	}
	defer p.turns.end(prog.key)
	h, err := p.take(prog.key)
	if err != nil {
		return nil, err
	}
	begun, ended := time.Now(), false
	defer func() {
		h.broken = h.broken || !ended // what panicked left it who knows how
		p.release(h, time.Since(begun))
	}()
	result, err := h.run(ctx, prog, c)
	ended = true
	return result, err
}

// take returns an idle worker, if possible one that has the program loaded, or
// a new one.
func (p *Pool) take(key string) (*hand, error) {
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
		if !slices.Contains(h.loaded, key) && len(p.all) < p.o.Workers && len(h.loaded) >= kept/2 {
			return p.start()
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		h.rest.Stop()
		return h, nil
	}
	return p.start()
}

func (p *Pool) start() (*hand, error) {
	h, err := newHand(p.o)
	if err != nil {
		return nil, &Error{Kind: Broken, Message: "a worker cannot be started: " + err.Error()}
	}
	p.all[h] = true
	return h, nil
}

// Looking at a worker's memory costs as much as a short call. In shortCall
// nobody fills a part of it that matters, so of such calls one in looks is
// enough.
const (
	shortCall = 10 * time.Millisecond
	looks     = 32
)

// release takes a worker back after its call, which took so long. One that
// holds much ends: what programs keep must not cost a later call its worker.
func (p *Pool) release(h *hand, took time.Duration) {
	var held int64
	if h.calls++; took > shortCall || h.calls%looks == 0 {
		held, _ = h.child.Resident()
	}
	p.mu.Lock()
	if h.broken || p.closed || held > p.o.Resident/2 {
		delete(p.all, h)
		p.mu.Unlock()
		h.close()
		return
	}
	defer p.mu.Unlock()
	p.idle = append(p.idle, h)
	h.rest = time.AfterFunc(p.o.Idle, func() { p.retire(h) })
}

// retire ends a worker that had nothing to do for long.
func (p *Pool) retire(h *hand) {
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
	h.close()
}

// Resident returns the bytes of memory that the workers hold now, and how many
// there are.
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

// Close ends all workers and, with them, the calls under way.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	all, idle := p.all, p.idle
	p.all, p.idle = map[*hand]bool{}, nil
	p.mu.Unlock()
	for h := range all {
		h.child.Kill("the pool was closed")
	}
	// Those at work are closed by whoever lets them work. A timer that has fired
	// already finds no idle worker any more.
	for _, h := range idle {
		h.rest.Stop()
		h.close()
	}
	p.retiring.Wait()
	return nil
}
