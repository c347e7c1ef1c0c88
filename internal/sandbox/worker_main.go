package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon/internal/sandbox/engine"
)

// Limits of a worker that only a broken program reaches.
const (
	maxGoStack = 128 << 20 // bytes of a goroutine's stack, above the engine's own limit
	maxRealms  = 32
)

// Serve is the main function of a worker: it runs programs for its parent and
// returns when in ends. It first drops privileges of the process, so nothing
// else may run in it.
func Serve(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxGoStack)
	if err := confine(); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	w := &worker{in: bufio.NewReaderSize(in, 64<<10), out: bufio.NewWriterSize(out, 64<<10), realms: map[string]*realm{}}
	var buf []byte // buffer of frames that are not retained
	for {
		f, err := w.next(buf)
		if err == nil {
			err = w.handle(f)
		}
		if buf = f.buffer; cap(buf) > maxReused {
			buf = nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

type worker struct {
	in     *bufio.Reader
	out    *bufio.Writer
	ahead  chan frameResult // the next frame while it is read in the background; else nil
	realms map[string]*realm
}

type frameResult struct {
	frame frame
	err   error
}

// next reads a frame. It avoids a goroutine where possible, because passing a
// frame between goroutines costs more than reading it.
func (w *worker) next(buf []byte) (frame, error) {
	if w.ahead == nil {
		return readFrame(w.in, maxFrame, buf)
	}
	got := <-w.ahead
	w.ahead = nil
	return got.frame, got.err
}

// readAhead reads the next frame in the background.
func (w *worker) readAhead() <-chan frameResult {
	if w.ahead == nil {
		w.ahead = make(chan frameResult, 1)
		go func(to chan<- frameResult) {
			f, err := readFrame(w.in, maxFrame, nil)
			to <- frameResult{f, err}
		}(w.ahead)
	}
	return w.ahead
}

// errParent is the error for a parent that violates the protocol.
var errParent = errors.New("invalid frame from the parent")

func (w *worker) handle(f frame) error {
	switch {
	case f.kind == loadFrame && len(f.parts) >= 7 && len(f.parts)%2 == 1 && len(w.realms) < maxRealms:
		return w.load(f)
	case f.kind == dropFrame && len(f.parts) == 1:
		w.drop(string(f.parts[0]))
		return nil
	case f.kind == callFrame && (len(f.parts) == 4 || len(f.parts) == 5) && w.realms[string(f.parts[0])] != nil:
		return w.call(f)
	case f.kind == answerFrame: // for a call that has already ended
		return nil
	}
	return errParent
}

func (w *worker) drop(key string) {
	if r := w.realms[key]; r != nil {
		delete(w.realms, key)
		r.close()
	}
}

func (w *worker) load(f frame) error {
	p := &program{module: string(f.parts[1]), glue: string(f.parts[2]), data: string(f.parts[3])}
	memory, _ := strconv.ParseInt(string(f.parts[4]), 10, 64)
	budget, _ := strconv.ParseInt(string(f.parts[5]), 10, 64)
	own, _ := strconv.ParseInt(string(f.parts[6]), 10, 64)
	for i := 7; i < len(f.parts); i += 2 {
		p.libraries = append(p.libraries, Library{string(f.parts[i]), string(f.parts[i+1])})
	}
	r, err := newRealm(p, memory, time.Duration(budget)*time.Millisecond, time.Duration(own)*time.Millisecond)
	if err != nil {
		return w.fail(err)
	}
	w.realms[string(f.parts[0])] = r
	return writeFrame(w.out, doneFrame, nil)
}

func (w *worker) fail(err error) error {
	kind, text := Thrown, err.Error()
	if e, ok := errors.AsType[*Error](err); ok {
		kind = e.Kind
	}
	return writeFrame(w.out, failFrame, []byte(kind), []byte(clip(text)))
}

func (w *worker) call(f frame) error {
	key := string(f.parts[0])
	r := w.realms[key]
	millis, _ := strconv.ParseInt(string(f.parts[2]), 10, 64)
	r.begin(time.Duration(millis) * time.Millisecond)
	defer r.freeValues()
	result, err := w.run(r, string(f.parts[1]), f.parts[3:]...)
	if err == nil {
		return writeFrame(w.out, doneFrame, result)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Thrown {
		w.drop(key) // an interrupted engine is not used again
	}
	if errors.Is(err, errParent) || errors.Is(err, io.EOF) {
		return err
	}
	return w.fail(err)
}

// run performs one call until its promise is settled.
func (w *worker) run(r *realm, name string, args ...[]byte) ([]byte, error) {
	if err := r.invoke(name, args...); err != nil {
		return nil, err
	}
	open := map[string]bool{} // pending host calls
	for {
		if err := r.drain(); err != nil {
			return nil, err
		}
		switch {
		case r.state == done && len(r.result) > engine.MaxResult:
			return nil, &Error{Kind: TooLarge, Message: fmt.Sprintf("the result has more than %d bytes", engine.MaxResult)}
		case r.state == done:
			return r.result, nil
		case r.state == failed:
			return nil, r.thrown(string(r.result))
		}
		if err := w.wait(r, open); err != nil {
			return nil, err
		}
	}
}

// wait sends the new host calls and returns after a response was delivered to
// the code or a timer has fired.
func (w *worker) wait(r *realm, open map[string]bool) error {
	index, delay := r.nextTimer()
	if len(r.hostCalls) == 0 && len(open) == 0 && index < 0 {
		return r.unending("its promise never settles: no host call or timer is pending", Unending)
	}
	var parts [][]byte
	for _, q := range r.hostCalls {
		open[q.id] = true
		parts = append(parts, []byte(q.id), []byte(q.name), []byte(q.args))
	}
	r.hostCalls = nil
	if len(open) > maxHostCalls {
		return &Error{Kind: TooLarge, Message: fmt.Sprintf("more than %d requests at once", maxHostCalls)}
	}
	if len(open) == 0 { // only timers: the parent's clock keeps running
		return w.sleep(r, index, delay)
	}
	if err := writeFrame(w.out, pauseFrame, parts...); err != nil {
		return err
	}
	if index >= 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case got := <-w.readAhead():
			w.ahead = nil
			return w.answer(r, open, got.frame, got.err)
		case <-t.C:
			if err := writeFrame(w.out, resumeFrame); err != nil {
				return err
			}
			return w.fire(r, index)
		}
	}
	f, err := w.next(nil)
	return w.answer(r, open, f, err)
}

// answer passes a response to the code.
func (w *worker) answer(r *realm, open map[string]bool, f frame, err error) error {
	if err != nil {
		return err
	}
	if f.kind != answerFrame || len(f.parts) != 4 || !open[string(f.parts[0])] {
		return errParent
	}
	delete(open, string(f.parts[0]))
	_, err = r.call("settle", string(f.parts[0]), string(f.parts[1]), string(f.parts[2]), string(f.parts[3]))
	return err
}

func (w *worker) sleep(r *realm, index int, delay time.Duration) error {
	if waits, err := r.call("waits", r.timers[index].id); err != nil || waits != true { // the timer was cleared
		r.timers = append(r.timers[:index], r.timers[index+1:]...)
		return err
	}
	t := time.NewTimer(min(delay, max(r.remaining, 0)))
	defer t.Stop()
	begun := time.Now()
	select {
	case <-t.C:
	case got := <-w.readAhead():
		w.ahead = nil
		if got.err != nil {
			return got.err
		}
		return errParent
	}
	if r.remaining -= time.Since(begun); r.remaining <= 0 {
		return &Error{Kind: Deadline, Message: "the code waited too long"}
	}
	return w.fire(r, index)
}

func (w *worker) fire(r *realm, index int) error {
	id := r.timers[index].id
	r.timers = append(r.timers[:index], r.timers[index+1:]...)
	_, err := r.call("fire", id)
	return err
}
