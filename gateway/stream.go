package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/deadline"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/projection"
	"github.com/tenon-mcp/tenon/internal/stream"
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
	of  map[tenon.Subject]int
}

// take takes a place for a stream of s, if there is one.
func (p *places) take(s tenon.Subject) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= maxStreams || p.of[s] >= maxOfOne {
		return false
	}
	if p.of == nil {
		p.of = map[tenon.Subject]int{}
	}
	p.all++
	p.of[s]++
	return true
}

func (p *places) free(s tenon.Subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[s]--; p.of[s] == 0 {
		delete(p.of, s)
	}
}

// liveStream is a stream that is answered in parts, in the catalog in which it
// began. It belongs to this process.
type liveStream struct {
	entry *Tool
	call  callWithArgs
	seen  []*projection.View
	head  tenon.Response // of the upstream, without items
	from  *stream.Stream
	id    string

	turn      chan struct{} // is held by the one that takes the next part, and guards the rest
	whole     bool          // nobody can come back for a further part
	delivered int           // parts that were handed out
	items     int           // in them
	last      *tenon.Result // the one handed out last, for who asks again
}

// handlerContext is the context of a handler: one that can outlive the call where
// an answer may be a stream.
func (c *validators) handlerContext(limited *deadline.Context) context.Context {
	if c.streams {
		return limited.Fork()
	}
	return limited
}

// streamed answers with the list of what arrives: whole where the stream ends
// soon, else its first part.
func (g *Gateway) streamed(ctx context.Context, w *callInProgress, l *liveStream) (*tenon.Result, error) {
	b := stream.Bounds{Part: max((l.entry.tool.MaxResult+1)/2, 0), // the text copy has the other half
		Wait: g.flushInterval, Idle: streamIdle, Logger: g.log}
	l.id, l.turn = rand.Text(), make(chan struct{}, 1)
	stop := func() {}
	if fork, can := w.work.(*deadline.Fork); can && l.entry.tool.Projection.Filter == nil && g.flushInterval > 0 && g.places.take(l.call.Subject) {
		free := fork.Free()
		stop = sync.OnceFunc(func() {
			free()
			g.places.free(l.call.Subject)
			g.streams.Delete(l.id)
		})
	} else {
		b.Part, b.Wait, l.whole = 0, -1, true
	}
	l.from = stream.New(l.head.Items, stop, b)
	p, err := g.next(ctx, l)
	if p.Err != nil && l.whole && w.limited.Expired() && !saysTimeout(p.Err) {
		p.Err = g.late() // the source was told before this was
	}
	left := ctx.Err() != nil && !p.Last // without a token to come back with
	if err != nil || p.Last || left {
		l.from.Close()
	}
	switch {
	case left && l.head.Execution.Unsafe == tenon.NotSent:
		return nil, ctx.Err()
	case left:
		l.head.Execution = unfinished(l.head.Execution)
		return g.handlerError(l.entry, &l.head, errEnded), nil
	case err != nil:
		l.head.Execution = unfinished(l.head.Execution)
		return g.handlerError(l.entry, &l.head, err), nil
	case !p.Last:
		g.streams.Store(l.id, l)
		return g.partOf(ctx, l, p), nil
	case p.Err != nil:
		return g.interrupted(ctx, l, p), nil //nolint:nilerr // the result says it
	}
	r := l.head
	r.Body = p.List
	j, failed := g.validateOutput(ctx, l.entry, l.seen, &r)
	if failed != nil {
		return failed, nil
	}
	return g.split(ctx, l.entry, l.call, &r, j, l.entry.tool.MaxResult), nil
}

// next waits for a part as long as a call may take. What came until then is a
// part, too: the last one where nobody can come back for another.
func (g *Gateway) next(ctx context.Context, l *liveStream) (stream.Part, error) {
	limited, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	p, err := l.from.Next(limited)
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return p, err
	}
	if p = l.from.Arrived(); p.Items == 0 && p.Err == nil {
		return p, g.late()
	}
	if l.whole && p.Err == nil {
		p.Last, p.Err = true, g.late()
	}
	return p, nil
}

// partOf forms a part. One that breaks its contract under enforce is the last.
func (g *Gateway) partOf(ctx context.Context, l *liveStream, p stream.Part) *tenon.Result {
	r := l.head
	r.Body = p.List
	l.delivered++
	if p.Err != nil {
		return g.interrupted(ctx, l, p)
	}
	l.items += p.Items
	j, failed := g.validateOutput(ctx, l.entry, l.seen, &r)
	if failed != nil {
		l.from.Close()
		return failed
	}
	part := envelope.Part{Number: l.delivered, Returned: p.Items, Until: time.Now().Add(streamIdle)}
	if !p.Last {
		part.Token = l.id + "." + strconv.Itoa(l.delivered+1)
	}
	a := answerOf(&r, j.form)
	return l.entry.format().part(&r, j, l.entry.checks.data(&a), part)
}

// interrupted is the end of a stream that has none. What came and was not handed
// out yet goes with the error: as the contract and the view let it, and whole
// items of it as far as there is room.
func (g *Gateway) interrupted(ctx context.Context, l *liveStream, p stream.Part) *tenon.Result {
	r := l.head
	r.Execution = unfinished(r.Execution)
	f := toolError{code: tenon.CodeOf(p.Err), message: p.Err.Error(), reply: tenon.Response{Execution: r.Execution, Status: r.Status}, judged: outputCheck{verdict: tenon.Unchecked}}
	if known, ok := errors.AsType[*tenon.Error](p.Err); ok {
		f.message = known.Message // its cause is for the log
	}
	g.log.Warn("a stream broke off", "tool", l.entry.tool.Name, "code", f.code, "error", p.Err)
	f.message = fmt.Sprintf("The stream broke off after %d items: %s", l.items+p.Items, f.message)
	f.suggestions = envelope.SilenceSuggestions(string(f.code), r.Execution.Executed(), r.Execution.Retry())
	if p.Items == 0 {
		return errorResult(l.entry, f)
	}
	came := r
	came.Body = p.List
	j, refused := g.validateOutput(ctx, l.entry, l.seen, &came)
	if refused != nil {
		f.message += ". What came is not shown: " + refused.Message
		return errorResult(l.entry, f)
	}
	a := answerOf(&came, j.form)
	data, left := envelope.Within(l.entry.checks.data(&a), l.entry.tool.MaxResult/2)
	f.judged, f.message = j, f.message+". What came until then is no whole answer"
	switch {
	case data == nil:
		f.message += ", and too large to be shown"
	case left > 0:
		f.message += fmt.Sprintf("; %d items of it are not shown", left)
	}
	if data == nil {
		return errorResult(l.entry, f)
	}
	f.details = envelope.CameDetails(p.Items, data)
	if l.entry.tool.Envelope != tenon.OpenAPIMCP { // its details are in the text
		f.text = data
	}
	res := errorResult(l.entry, f)
	res.Value = data
	return res
}

// resumeStream answers a call that asks for a part of a stream: the next one,
// or once more the last.
func (g *Gateway) resumeStream(ctx context.Context, e *Tool, c callWithArgs, l *liveStream, number string) *tenon.Result {
	if l.call.Subject != c.Subject || !e.resumes && l.call.Tool != c.Tool {
		return unknownToken(e)
	}
	if !e.resumes && c.othersThan(l.call.key()) {
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
	case err == nil && i == l.delivered && l.last != nil:
		return l.last
	case err != nil || i != l.delivered+1:
		return unknownToken(e)
	}
	p, err := l.from.Next(ctx)
	if err != nil {
		if p = l.from.Arrived(); p.Items == 0 && !p.Last {
			return noFurther(e, err)
		}
	}
	l.last = g.partOf(ctx, l, p)
	return l.last
}

func noFurther(e *Tool, err error) *tenon.Result {
	return errorResult(e, rejected(tenon.CodeOf(err), "No further item has arrived. This request executed nothing.", "Ask again with the same resume_token"))
}
