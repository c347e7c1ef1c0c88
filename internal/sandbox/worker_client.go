package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/proc"
)

// hand is this side of one worker.
type hand struct {
	o      Options
	child  *proc.Child
	room   *os.File      // for large bodies; nil: there is none
	in     *bufio.Reader // what the worker says
	loaded []string      // keys of its programs, the one used last at the end
	broken bool          // it must not be used again
	calls  int           // that it has made
	rest   *time.Timer   // ends it when it idles; nil: it has not rested yet

	write sync.Mutex
	out   *bufio.Writer
}

func newHand(o Options) (*hand, error) {
	room, files := newRoom(), []*os.File(nil)
	if room != nil {
		files = []*os.File{room}
	}
	child, err := proc.Start(proc.Command{
		Path: o.Command[0], Args: o.Command[1:], Files: files, Pipes: true, MaxResident: o.Resident,
		Env: []string{"GOMAXPROCS=2", "GOGC=50"},
	})
	if err != nil {
		_ = room.Close()
		return nil, err
	}
	widen(child.Stdin)
	widen(child.Stdout)
	return &hand{o: o, child: child, room: room, in: bufio.NewReaderSize(child.Stdout, 64<<10), out: bufio.NewWriterSize(child.Stdin, 64<<10)}, nil
}

// The worker reads a body in the room while it makes its call, and the parent
// writes there only between calls.
const (
	roomSize    = 4 << 20
	leastInRoom = 32 << 10
)

// close ends the worker, if it has not ended, and gives back what belongs to it.
func (h *hand) close() {
	h.child.Close()
	_ = h.room.Close()
}

func (h *hand) send(k kind, parts ...[]byte) error {
	h.write.Lock()
	defer h.write.Unlock()
	return writeFrame(h.out, k, parts...)
}

const tooLong = "the code ran too long"

// surroundings is enough for what stands around a program without libraries.
const surroundings = 5 * time.Second

// run loads the program if the worker does not have it, and makes the call.
func (h *hand) run(ctx context.Context, p *Program, c Call) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { h.child.Kill("the caller gave up") })
	defer stop()
	if err := h.load(p, c.Budget); err != nil {
		return nil, h.explain(ctx, err)
	}
	clock := newClock(c.Budget+grace, func() { h.child.Kill(tooLong) })
	defer clock.stop()
	if err := h.ask(p, c); err != nil {
		h.broken = true
		return nil, h.explain(ctx, err)
	}
	result, err := h.attend(ctx, c, clock)
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	return result, nil
}

// ask sends a call. A large body goes through the room: a pipe would copy it
// twice, and let the worker wait for the first copy before it begins with the
// second.
func (h *hand) ask(p *Program, c Call) error {
	parts := [][]byte{[]byte(p.key), []byte(c.Function), millis(c.Budget), c.Args}
	switch n := len(c.Body); {
	case c.Body == nil:
		return h.send(callFrame, parts...)
	case h.room == nil || n < leastInRoom || n > roomSize:
		return h.send(callFrame, append(parts, c.Body)...)
	default:
		if _, err := h.room.WriteAt(c.Body, 0); err != nil {
			return err
		}
		return h.send(roomFrame, append(parts, strconv.AppendInt(nil, int64(n), 10))...)
	}
}

func millis(d time.Duration) []byte {
	return strconv.AppendInt(nil, max(d.Milliseconds(), 1), 10)
}

// load brings a program into the worker, and takes one out that was not used
// for long.
func (h *hand) load(p *Program, budget time.Duration) error {
	if i := slices.Index(h.loaded, p.key); i >= 0 {
		h.loaded = append(slices.Delete(h.loaded, i, i+1), p.key)
		return nil
	}
	most := budget + surroundings
	if len(p.libraries) > 0 {
		most = budget + h.o.Load
	}
	clock := newClock(most+grace, func() { h.child.Kill(tooLong) })
	defer clock.stop()
	h.broken = true
	if len(h.loaded) == kept {
		if err := h.send(dropFrame, []byte(h.loaded[0])); err != nil {
			return err
		}
		h.loaded = slices.Delete(h.loaded, 0, 1)
	}
	parts := p.parts()
	parts = slices.Insert(parts, 3, strconv.AppendInt(nil, h.o.Memory, 10), millis(h.o.Load), millis(budget))
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
		h.broken = false
		return failure(f)
	}
	return errFrame
}

func failure(f frame) error {
	e := &Error{Kind: Kind(f.parts[0]), Message: clip(string(f.parts[1]))}
	switch e.Kind {
	case Thrown, Deadline, Memory, Stack, TooLarge, Unending:
		return e
	case Broken:
	}
	e.Kind = Broken
	return e
}

// attend reads what the worker says until the call has ended, and answers what
// it asks.
func (h *hand) attend(ctx context.Context, c Call, clock *clock) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	asked := incident.NewGroup(nil, "a question of a handler", maxQuestions)
	defer func() {
		cancel()
		asked.Wait() // no answer may be written after the call
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
			h.settle(err)
			return nil, err
		case f.kind == goFrame && len(f.parts) == 0:
			clock.resume()
		case f.kind == waitFrame && len(f.parts)%3 == 0 && questions+len(f.parts)/3 <= maxQuestions:
			questions += len(f.parts) / 3
			clock.pause()
			for q := range slices.Chunk(f.parts, 3) {
				asked.Go(func() { h.answer(ctx, c, q, clock) }, func(e *incident.Error) { h.tell(ctx, q, Answer{}, e, clock) })
			}
		default:
			return nil, errFrame
		}
	}
}

// maxQuestions bounds what one call may ask for.
const maxQuestions = 256

// settle notes what a failed call left behind: the worker drops a realm that
// was stopped in the middle.
func (h *hand) settle(err error) {
	h.broken = false
	if e, ok := err.(*Error); ok && e.Kind != Thrown { //nolint:errorlint // made by failure
		h.loaded = h.loaded[:len(h.loaded)-1] // the program of this call stands last
	}
}

func (h *hand) answer(ctx context.Context, c Call, q [][]byte, clock *clock) {
	var a Answer
	err := error(&Error{Kind: Thrown, Message: "nothing may be asked here"})
	if c.Ask != nil {
		a, err = c.Ask(ctx, string(q[1]), q[2])
	}
	h.tell(ctx, q, a, err, clock)
}

// tell writes the answer to a question, unless nobody waits any more.
func (h *hand) tell(ctx context.Context, q [][]byte, a Answer, err error, clock *clock) {
	ok := []byte("1")
	if err != nil {
		ok, a = []byte("0"), Answer{Value: []byte(clip(err.Error()))}
	}
	if len(a.Value)+len(a.Text) > maxFrame/2 {
		ok, a = []byte("0"), Answer{Value: []byte("the answer is too large")}
	}
	if ctx.Err() != nil {
		return
	}
	clock.resume()
	_ = h.send(answerFrame, q[0], ok, a.Value, a.Text) // the reader learns that the worker is gone
}

// explain says what an error on the pipes means: the worker is gone, and it
// knows best why.
func (h *hand) explain(ctx context.Context, err error) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // never wrapped
		return e
	}
	h.broken = true
	if errors.Is(err, errFrame) {
		h.child.Kill("it does not keep the protocol")
	}
	_ = h.child.Stdin.Close() // a worker whose input has ended ends
	<-h.child.Done()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	exit := h.child.Exit()
	switch killed := exit.Killed; {
	case killed == tooLong:
		return &Error{Kind: Deadline, Message: tooLong}
	case killed != "" && isMemory(killed), isMemory(exit.Tail):
		return &Error{Kind: Memory, Message: "the code used too much memory"}
	case killed == "":
		return &Error{Kind: Broken, Message: "the worker ended by itself: " + exit.String(), Detail: exit.Tail}
	}
	return &Error{Kind: Broken, Message: fmt.Sprintf("the worker was ended: %s", exit.Killed)}
}
