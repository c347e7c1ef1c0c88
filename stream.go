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
)

// live is a stream that is answered in parts, in the catalog in which it
// began. It belongs to this process.
type live struct {
	entry *Entry
	call  asked
	seen  []*view.View
	head  Reply // of the upstream, without items
	from  *stream.Stream
	id    string

	mu    sync.Mutex // guards the rest
	given int        // parts that were handed out
	items int        // in them
	last  *Result    // the one handed out last, for who asks again
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
	b := stream.Bounds{Part: max(l.entry.tool.MaxResult, 0), Wait: g.partial, Idle: streamIdle, Logger: g.log}
	l.id = rand.Text()
	stop := func() {}
	if fork, can := work.(*deadline.Fork); can && l.entry.tool.View.Transform == nil && g.partial > 0 && g.alive.Load() < maxStreams {
		g.alive.Add(1)
		free := fork.Free()
		stop = sync.OnceFunc(func() {
			free()
			g.alive.Add(-1)
			g.streams.Delete(l.id)
		})
	} else {
		b.Part, b.Wait = 0, -1
	}
	l.from = stream.New(l.head.Parts, stop, b)
	l.head.Parts = nil
	p, err := g.next(ctx, l)
	if err != nil || p.Last {
		l.from.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
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
	return g.fit(ctx, l.entry, l.call, &r, j), nil
}

// next waits for a part as long as a call may take.
func (g *Gateway) next(ctx context.Context, l *live) (stream.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	return l.from.Next(ctx)
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
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := strconv.Atoi(number)
	switch {
	case err == nil && i == l.given && l.last != nil:
		return l.last
	case err != nil || i != l.given+1:
		return unknownToken(e)
	}
	p, err := g.next(ctx, l)
	if err != nil {
		return shapeFailure(&e.tool, refusal(CodeOf(err), "No further item has arrived. This request executed nothing.", "Ask again with the same resume_token"))
	}
	l.last = g.partOf(ctx, l, p)
	return l.last
}
