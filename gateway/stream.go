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
	streamIdle = time.Minute // a stream ends if its next part is not requested in this time
	maxStreams = 256         // open streams; any further one is a single result
	maxOfOne   = 64          // open streams of one subject
)

// places counts the open streams.
type places struct {
	mu  sync.Mutex // guards the other fields
	all int
	of  map[tenon.Subject]int
}

// take reserves a place for a stream of s and reports whether there was one.
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

// liveStream is a stream that is returned in parts, with the catalog in which it
// began. It belongs to this process.
type liveStream struct {
	entry *Tool
	call  callWithArgs
	seen  []*projection.View
	head  tenon.Response // the upstream's response without items
	from  *stream.Stream
	id    string

	turn      chan struct{} // a lock: held while the next part is made; guards the other fields
	whole     bool          // no further part can be requested
	delivered int           // delivered parts
	items     int           // items in them
	last      *tenon.Result // the last part, for a repeated request
}

// handlerContext returns the context of a handler, which can outlive the call if
// the response can be a stream.
func (c *validators) handlerContext(limited *deadline.Context) context.Context {
	if c.streams {
		return limited.Fork()
	}
	return limited
}

// streamed returns the items as a list: all of them if the stream ends soon,
// else the first part.
func (g *Gateway) streamed(ctx context.Context, w *callInProgress, l *liveStream) (*tenon.Result, error) {
	b := stream.Bounds{Part: max((l.entry.tool.MaxResult+1)/2, 0), // the other half is for the text copy
		Wait: g.times.Load().flushInterval, Idle: streamIdle, Logger: g.log}
	l.id, l.turn = rand.Text(), make(chan struct{}, 1)
	stop := func() {}
	if fork, can := w.work.(*deadline.Fork); can && l.entry.tool.Projection.Filter == nil && g.times.Load().flushInterval > 0 && g.places.take(l.call.Subject) {
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
		p.Err = g.late() // the context of the source was cancelled first
	}
	left := ctx.Err() != nil && !p.Last // the caller left without a token
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
		return g.partOf(ctx, w.record, l, p), nil
	case p.Err != nil:
		return g.interrupted(ctx, l, p), nil //nolint:nilerr // the result says it
	}
	r := l.head
	r.Body = p.List
	j, failed := g.validateOutput(ctx, w.record, l.entry, l.seen, &r)
	if failed != nil {
		return failed, nil
	}
	return g.split(ctx, l.entry, l.call, &r, j, l.entry.tool.MaxResult), nil
}

// next waits for a part, at most as long as a call can take. The items that have
// arrived by then are a part, too: the last one if no further part can be
// requested.
func (g *Gateway) next(ctx context.Context, l *liveStream) (stream.Part, error) {
	limited, cancel := context.WithTimeout(ctx, g.times.Load().timeout)
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

// partOf makes a part. One that violates its schema under enforce is the last.
func (g *Gateway) partOf(ctx context.Context, record *CallRecord, l *liveStream, p stream.Part) *tenon.Result {
	r := l.head
	r.Body = p.List
	l.delivered++
	if p.Err != nil {
		return g.interrupted(ctx, l, p)
	}
	l.items += p.Items
	j, failed := g.validateOutput(ctx, record, l.entry, l.seen, &r)
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

// interrupted is the result of a stream that ended with an error. It has the
// items that were not delivered yet, as far as contract, projection and size
// limit allow.
func (g *Gateway) interrupted(ctx context.Context, l *liveStream, p stream.Part) *tenon.Result {
	r := l.head
	r.Execution = unfinished(r.Execution)
	f := toolError{code: tenon.CodeOf(p.Err), message: p.Err.Error(), resp: tenon.Response{Execution: r.Execution, Status: r.Status}, judged: outputCheck{verdict: tenon.Unchecked}}
	if known, ok := errors.AsType[*tenon.Error](p.Err); ok {
		f.message = known.Message // its cause is for the log
	}
	g.log.Warn("a stream broke off", "tool", l.entry.tool.Name, "code", f.code, "error", p.Err)
	f.message = fmt.Sprintf("The stream was interrupted after %d items: %s", l.items+p.Items, f.message)
	f.suggestions = envelope.SilenceSuggestions(string(f.code), r.Execution.Executed(), r.Execution.Retry())
	if p.Items == 0 {
		return errorResult(l.entry, f)
	}
	came := r
	came.Body = p.List
	j, refused := g.validateOutput(ctx, nil, l.entry, l.seen, &came)
	if refused != nil {
		f.message += ". What came is not shown: " + refused.Message
		return errorResult(l.entry, f)
	}
	a := answerOf(&came, j.form)
	data, left := envelope.Within(l.entry.checks.data(&a), l.entry.tool.MaxResult/2)
	f.judged, f.message = j, f.message+". The items received until then do not match the schema of a whole response"
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
	if l.entry.tool.Envelope != tenon.OpenAPIMCP { // the details are part of the text
		f.text = data
	}
	res := errorResult(l.entry, f)
	res.Value = data
	return res
}

// resumeStream answers a call that requests a part of a stream: the next one, or
// the last one again.
func (g *Gateway) resumeStream(ctx context.Context, e *Tool, c callWithArgs, l *liveStream, number string) *tenon.Result {
	if l.call.Subject != c.Subject || !e.resumes && l.call.Tool != c.Tool {
		return unknownToken(e)
	}
	if !e.resumes && c.othersThan(l.call.key()) {
		return otherArguments(e)
	}
	ctx, cancel := context.WithTimeout(ctx, g.times.Load().timeout)
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
	l.last = g.partOf(ctx, nil, l, p)
	return l.last
}

func noFurther(e *Tool, err error) *tenon.Result {
	return errorResult(e, rejected(tenon.CodeOf(err), "No further item has arrived. This request executed nothing.", "Repeat the call with the same resume_token"))
}
