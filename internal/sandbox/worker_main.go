package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Bounds of a worker that only a broken program would meet.
const (
	maxGoStack = 128 << 20 // bytes of a goroutine's stack, behind the engine's own cap
	maxRealms  = 32
)

// Serve is the inside of a worker: it runs programs for the parent at the
// other ends of in and out, and returns when in ends. It gives up what it does
// not need of the process first, so nothing else may run there.
func Serve(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxGoStack)
	if err := confine(); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	w := &worker{in: bufio.NewReaderSize(in, 64<<10), out: bufio.NewWriterSize(out, 64<<10), realms: map[string]*realm{}}
	var room []byte // for a frame that nothing is kept of
	for {
		f, err := w.next(room)
		if err == nil {
			err = w.handle(f)
		}
		if room = f.room; cap(room) > largestKept {
			room = nil
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
	room   []byte // shared with the parent; nil: it was not needed yet
	out    *bufio.Writer
	coming chan read // the next frame, where it is read beside a timer; nil: it is not
	realms map[string]*realm
}

type read struct {
	frame frame
	err   error
}

// next reads a frame. It does so itself where it can: handing a frame from one
// goroutine to another costs more than reading it.
func (w *worker) next(room []byte) (frame, error) {
	if w.coming == nil {
		return readFrame(w.in, maxFrame, room)
	}
	got := <-w.coming
	w.coming = nil
	return got.frame, got.err
}

// beside lets the next frame come while something else is waited for.
func (w *worker) beside() <-chan read {
	if w.coming == nil {
		w.coming = make(chan read, 1)
		go func(to chan<- read) {
			f, err := readFrame(w.in, maxFrame, nil)
			to <- read{f, err}
		}(w.coming)
	}
	return w.coming
}

// errParent says that the parent does not keep the protocol: no call goes on.
var errParent = errors.New("the parent sent a frame that does not fit")

func (w *worker) handle(f frame) error {
	switch {
	case f.kind == loadFrame && len(f.parts) >= 7 && len(f.parts)%2 == 1 && len(w.realms) < maxRealms:
		return w.load(f)
	case f.kind == dropFrame && len(f.parts) == 1:
		w.drop(string(f.parts[0]))
		return nil
	case f.kind == callFrame && (len(f.parts) == 4 || len(f.parts) == 5) && w.realms[string(f.parts[0])] != nil:
		return w.call(f)
	case f.kind == roomFrame && len(f.parts) == 5 && w.realms[string(f.parts[0])] != nil:
		var err error
		if f.parts[4], err = w.inRoom(f.parts[4]); err != nil {
			return err
		}
		return w.call(f)
	case f.kind == answerFrame: // for a call that has ended
		return nil
	}
	return errParent
}

// inRoom is the body of so many bytes that stands in the room.
func (w *worker) inRoom(size []byte) ([]byte, error) {
	if w.room == nil {
		var err error
		if w.room, err = openRoom(); err != nil {
			return nil, err
		}
	}
	n, err := strconv.Atoi(string(size))
	if err != nil || n < 0 || n > len(w.room) {
		return nil, errParent
	}
	return w.room[:n], nil
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
	defer r.forget()
	result, err := w.run(r, string(f.parts[1]), f.parts[3:]...)
	if err == nil {
		return writeFrame(w.out, doneFrame, result)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Thrown {
		w.drop(key) // an engine that was stopped in the middle is not used again
	}
	if errors.Is(err, errParent) || errors.Is(err, io.EOF) {
		return err
	}
	return w.fail(err)
}

// run makes one call and stays with it until its promise has settled.
func (w *worker) run(r *realm, name string, args ...[]byte) ([]byte, error) {
	if err := r.invoke(name, args...); err != nil {
		return nil, err
	}
	open := map[string]bool{} // questions without an answer
	for {
		if err := r.drain(); err != nil {
			return nil, err
		}
		switch {
		case r.state == done && len(r.result) > maxResult:
			return nil, &Error{Kind: TooLarge, Message: fmt.Sprintf("the result has more than %d bytes", maxResult)}
		case r.state == done:
			return r.result, nil
		case r.state == failed:
			return nil, thrown(string(r.result))
		}
		if err := w.wait(r, open); err != nil {
			return nil, err
		}
	}
}

// thrown is what the code threw; the engine's own errors can be caught and
// thrown again.
func thrown(text string) error {
	switch {
	case text == "interrupted":
		return &Error{Kind: Deadline, Message: "the code ran too long"}
	case text == "out of memory":
		return &Error{Kind: Memory, Message: "the code used too much memory"}
	case text == "stack overflow" || strings.HasPrefix(text, "Maximum call stack"):
		return &Error{Kind: Stack, Message: "the code called itself too deeply"}
	}
	return &Error{Kind: Thrown, Message: clip(text)}
}

// wait sends the new questions and returns when an answer came or a timer is
// due, having told the code.
func (w *worker) wait(r *realm, open map[string]bool) error {
	index, delay := r.due()
	if len(r.asks) == 0 && len(open) == 0 && index < 0 {
		return &Error{Kind: Unending, Message: "its promise never settles: nothing is under way that could end it"}
	}
	var parts [][]byte
	for _, q := range r.asks {
		open[q.id] = true
		parts = append(parts, []byte(q.id), []byte(q.name), []byte(q.args))
	}
	r.asks = nil
	if len(open) > maxAsks {
		return &Error{Kind: TooLarge, Message: fmt.Sprintf("more than %d requests at once", maxAsks)}
	}
	if len(open) == 0 { // only timers: the parent's clock goes on
		return w.sleep(r, index, delay)
	}
	if err := writeFrame(w.out, waitFrame, parts...); err != nil {
		return err
	}
	if index >= 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case got := <-w.beside():
			w.coming = nil
			return w.answer(r, open, got.frame, got.err)
		case <-t.C:
			if err := writeFrame(w.out, goFrame); err != nil {
				return err
			}
			return w.fire(r, index)
		}
	}
	f, err := w.next(nil)
	return w.answer(r, open, f, err)
}

// answer hands an answer to the code that asked.
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
	if waits, err := r.call("waits", r.alarms[index].id); err != nil || waits != true { // it was cleared
		r.alarms = append(r.alarms[:index], r.alarms[index+1:]...)
		return err
	}
	t := time.NewTimer(min(delay, max(r.left, 0)))
	defer t.Stop()
	begun := time.Now()
	select {
	case <-t.C:
	case got := <-w.beside():
		w.coming = nil
		if got.err != nil {
			return got.err
		}
		return errParent
	}
	if r.left -= time.Since(begun); r.left <= 0 {
		return &Error{Kind: Deadline, Message: "the code waited too long"}
	}
	return w.fire(r, index)
}

func (w *worker) fire(r *realm, index int) error {
	id := r.alarms[index].id
	r.alarms = append(r.alarms[:index], r.alarms[index+1:]...)
	_, err := r.call("fire", id)
	return err
}
