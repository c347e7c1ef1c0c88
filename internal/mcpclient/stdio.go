package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/proc"
)

// maxWaiting are the messages for one request that wait to be read. A request
// that does not read on holds up the others.
const maxWaiting = 16

// Start starts a server and speaks to it on its input and output. Of the command,
// Pipes need not be set.
func Start(command proc.Command, o Options) (*Client, error) {
	command.Pipes = true
	child, err := proc.Start(command)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	return OverPipes(child.Stdin, child.Stdout, child.Close, o), nil
}

// OverPipes speaks to a server that reads what is written to and writes what is
// read from. end is called once, by Close; it has to end the reading.
func OverPipes(to io.Writer, from io.Reader, end func(), o Options) *Client {
	p := &pipes{to: to, end: end, requests: map[string]*pending{}, ended: make(chan struct{})}
	incident.Go(nil, "reading answers", func() { p.stop(p.read(from)) }, func(e *incident.Error) { p.stop(e) })
	return &Client{options: o, wire: p}
}

var errEnded = errors.New("the server has ended the conversation")

// pipes is a conversation in lines.
type pipes struct {
	end  func()
	once sync.Once

	writing sync.Mutex
	to      io.Writer

	mu       sync.Mutex
	requests map[string]*pending // by id

	ended chan struct{}
	why   error // set before ended is closed
}

// pending is a request whose response has not come.
type pending struct {
	isCall bool
	came   chan *message
	gone   chan struct{} // nobody waits any more
}

func (p *pipes) close() { p.once.Do(p.end) }

func (p *pipes) stop(why error) {
	p.why = why
	close(p.ended)
}

// read hands out what the server says until it says nothing more.
func (p *pipes) read(from io.Reader) error {
	scan := bufio.NewScanner(from)
	scan.Buffer(nil, maxAnswer)
	for scan.Scan() {
		text := bytes.TrimSpace(scan.Bytes())
		if len(text) == 0 || text[0] != '{' { // some servers print on it, too
			continue
		}
		m := decode(text)
		all := p.waitingFor(m)
		for _, w := range all {
			select {
			case w.came <- m:
			case <-w.gone:
			}
		}
		if len(all) == 0 && m.Method != "" && m.ID != nil {
			if err := p.write(refusal(m)); err != nil {
				return err
			}
		}
	}
	if err := tooLong(scan.Err()); err != nil {
		return err
	}
	return errEnded
}

// waitingFor are the requests that a message is about.
func (p *pipes) waitingFor(m *message) (all []*pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(m.ID)
	switch told, isProgress := progressOf(m); {
	case m.broken != nil:
		return slices.Collect(maps.Values(p.requests)) // it may be the response to any
	case isProgress:
		id = string(told.Token)
	case m.Method != "":
		return p.asked(m)
	}
	if w := p.requests[id]; w != nil {
		all = append(all, w)
	}
	return all
}

// asked is the call that a question of the server is about, which does not say
// so: the only one in progress. With several, another person than the one who
// called could be asked.
func (p *pipes) asked(m *message) (calls []*pending) {
	if m.ID == nil || m.Method == "ping" {
		return nil
	}
	for _, w := range p.requests {
		if w.isCall {
			calls = append(calls, w)
		}
	}
	if len(calls) > 1 {
		return nil
	}
	return calls
}

func (p *pipes) exchange(ctx context.Context, r request, came func(*message) (bool, error)) error {
	select {
	case <-p.ended:
		return r.failed(p.why)
	default:
	}
	w := &pending{isCall: r.method == "tools/call", came: make(chan *message, maxWaiting), gone: make(chan struct{})}
	p.mu.Lock()
	p.requests[r.id] = w
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.requests, r.id)
		p.mu.Unlock()
		close(w.gone)
	}()
	if err := p.write(r.body); err != nil {
		return r.failed(fmt.Errorf("%w: %w", errEnded, err))
	}
	for {
		m, err := p.next(ctx, w)
		if err != nil {
			return r.failed(err)
		}
		if last, err := came(m); last || err != nil {
			return err
		}
	}
}

// next waits for a message. What came before the end is read first.
func (p *pipes) next(ctx context.Context, w *pending) (*message, error) {
	select {
	case m := <-w.came:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.ended:
	}
	select {
	case m := <-w.came:
		return m, nil
	default:
		return nil, p.why
	}
}

func (p *pipes) send(_ context.Context, message []byte) error { return p.write(message) }

func (p *pipes) write(message []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.to.Write(append(message, '\n'))
	return err
}
