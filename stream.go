package tenon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/deadline"
	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/internal/stream"
	"github.com/tenon-mcp/tenon/internal/view"
)

const (
	streamIdle = time.Minute // a stream that nobody asks for its next part ends
	maxStreams = 256         // streams that wait for that; one more is answered whole
	maxOfOne   = 64          // of them that one subject has
)

// places are those of the streams that wait to be asked.
type places struct {
	mu  sync.Mutex // guards the rest
	all int
	of  map[Subject]int
}

// take takes a place for a stream of s, if there is one.
func (p *places) take(s Subject) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= maxStreams || p.of[s] >= maxOfOne {
		return false
	}
	if p.of == nil {
		p.of = map[Subject]int{}
	}
	p.all++
	p.of[s]++
	return true
}

func (p *places) free(s Subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[s]--; p.of[s] == 0 {
		delete(p.of, s)
	}
}

// live is a stream that is answered in parts, in the catalog in which it
// began. It belongs to this process.
type live struct {
	entry *Entry
	call  asked
	seen  []*view.View
	head  Reply // of the upstream, without items
	from  *stream.Stream
	id    string

	turn  chan struct{} // is held by the one that takes the next part, and guards the rest
	given int           // parts that were handed out
	items int           // in them
	last  *Result       // the one handed out last, for who asks again
}

// workspace is the context of a handler: one that can outlive the call where
// an answer may be a stream.
func (c *checks) workspace(limited *deadline.Context) context.Context {
	if c.streams {
		return limited.Fork()
	}
	return limited
}

// streamed answers with the list of what arrives: whole where the stream ends
// soon, else its first part.
func (g *Gateway) streamed(ctx, work context.Context, l *live) (*Result, error) {
	b := stream.Bounds{Part: max((l.entry.tool.MaxResult+1)/2, 0), // the text copy has the other half
		Wait: g.partial, Idle: streamIdle, Logger: g.log}
	l.id, l.turn = rand.Text(), make(chan struct{}, 1)
	stop := func() {}
	if fork, can := work.(*deadline.Fork); can && l.entry.tool.View.Transform == nil && g.partial > 0 && g.places.take(l.call.Subject) {
		free := fork.Free()
		stop = sync.OnceFunc(func() {
			free()
			g.places.free(l.call.Subject)
			g.streams.Delete(l.id)
		})
	} else {
		b.Part, b.Wait = 0, -1
	}
	l.from = stream.New(l.head.Parts, stop, b)
	l.head.Parts = nil
	p, err := g.next(ctx, l)
	left := ctx.Err() != nil && !p.Last // without a token to come back with
	if err != nil || p.Last || left {
		l.from.Close()
	}
	switch {
	case left && l.head.Sent.Unsafe == NotSent:
		return nil, ctx.Err()
	case left:
		l.head.Sent = l.head.Sent.unknown()
		return g.failed(l.entry, &l.head, errEnded), nil
	case err != nil:
		l.head.Sent = l.head.Sent.unknown()
		return g.failed(l.entry, &l.head, err), nil
	case !p.Last:
		g.streams.Store(l.id, l)
		return g.partOf(ctx, l, p), nil
	case p.Err != nil:
		return g.brokenOff(l, p.Err), nil //nolint:nilerr // the result says it
	}
	r := l.head
	r.Body, r.listed = p.List, true
	j, failed := g.judged(ctx, l.entry, l.seen, &r)
	if failed != nil {
		return failed, nil
	}
	return g.fit(ctx, l.entry, l.call, &r, j, l.entry.tool.MaxResult), nil
}

// next waits for a part as long as a call may take.
func (g *Gateway) next(ctx context.Context, l *live) (stream.Part, error) {
	limited, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	p, err := l.from.Next(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = g.late()
	}
	return p, err
}

// partOf forms a part. One that breaks its contract under enforce is the last.
func (g *Gateway) partOf(ctx context.Context, l *live, p stream.Part) *Result {
	r := l.head
	r.Body, r.listed = p.List, true
	l.given++
	if p.Err != nil {
		return g.brokenOff(l, p.Err)
	}
	l.items += p.Items
	j, failed := g.judged(ctx, l.entry, l.seen, &r)
	if failed != nil {
		l.from.Close()
		return failed
	}
	part := shape.Part{Number: l.given, Returned: p.Items, Until: time.Now().Add(streamIdle)}
	if !p.Last {
		part.Token = l.id + "." + strconv.Itoa(l.given+1)
	}
	a := r.answer(j.form)
	return l.entry.dress().part(&r, j, l.entry.checks.data(&a), part)
}

// brokenOff is the end of a stream that has none.
func (g *Gateway) brokenOff(l *live, err error) *Result {
	r := l.head
	r.Sent = r.Sent.unknown()
	text := err.Error()
	if known, ok := errors.AsType[*Error](err); ok {
		text = known.Message // its cause is for the log
	}
	return g.failed(l.entry, &r, &Error{Code: CodeOf(err), Message: fmt.Sprintf("The stream broke off after %d items: %s", l.items, text), Err: err})
}

// resumeStream answers a call that asks for a part of a stream: the next one,
// or once more the last.
func (g *Gateway) resumeStream(ctx context.Context, e *Entry, c asked, l *live, number string) *Result {
	if l.call.Subject != c.Subject || !e.tool.resumes && l.call.Tool != c.Tool {
		return unknownToken(e)
	}
	if !e.tool.resumes && c.othersThan(l.call.key()) {
		return otherArguments(e)
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return noFurther(e, ctx.Err())
	}
	i, err := strconv.Atoi(number)
	switch {
	case err == nil && i == l.given && l.last != nil:
		return l.last
	case err != nil || i != l.given+1:
		return unknownToken(e)
	}
	p, err := l.from.Next(ctx)
	if err != nil {
		return noFurther(e, err)
	}
	l.last = g.partOf(ctx, l, p)
	return l.last
}

func noFurther(e *Entry, err error) *Result {
	return shapeFailure(&e.tool, refusal(CodeOf(err), "No further item has arrived. This request executed nothing.", "Ask again with the same resume_token"))
}
