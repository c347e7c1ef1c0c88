package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/deadline"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/inflight"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/internal/projection"
)

// Options are the choices of New. The zero value works.
type Options struct {
	Logger  *slog.Logger  // nil: nothing is logged
	Timeout time.Duration // the longest that a call may take, without the time in which somebody is asked; 0: one minute
	// InputTimeout is how long a question waits for its answer where the call
	// waits, too. 0: ten minutes.
	InputTimeout time.Duration
	Store        tenon.Store // what is kept between calls; nil: in the memory of this process
	// FlushInterval is how long the first item of a part of a stream waits for
	// others. 0: five seconds; negative: streams are answered when they end.
	FlushInterval time.Duration
}

// Gateway performs calls: it finds the tool, checks what goes in, lets the
// tool's handler work, checks what comes back and gives it the envelope that the
// tool published. Both validations stand here, so that no source can forget one.
type Gateway struct {
	catalog atomic.Pointer[Catalog]

	subscribers   sync.Map // of *func(Event)
	log           *slog.Logger
	timeout       time.Duration
	inputTimeout  time.Duration
	flushInterval time.Duration
	store         tenon.Store
	streams       sync.Map // of *liveStream, by the name in their tokens
	places        places
	clock         deadline.Clock // of the calls' time
}

// New returns a gateway that serves c.
func New(c *Catalog, o Options) *Gateway {
	g := &Gateway{
		log: o.Logger, timeout: cmp.Or(o.Timeout, time.Minute), inputTimeout: cmp.Or(o.InputTimeout, 10*time.Minute),
		flushInterval: cmp.Or(o.FlushInterval, 5*time.Second), store: o.Store,
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.store == nil {
		g.store = memstore.New(memstore.Options{})
	}
	g.catalog.Store(c)
	return g
}

// Load reads a source and returns a gateway that serves what it offers: the
// short way for programs with one source. What was wrong inside the
// description is in the Diagnostics of the gateway's catalog.
func Load(ctx context.Context, s tenon.Source, o Options) (*Gateway, error) {
	offer, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	return New(Build([]Mount{{Features: offer}}, BuildOptions{}), o), nil
}

// Catalog returns the catalog in force.
func (g *Gateway) Catalog() *Catalog { return g.catalog.Load() }

// Swap puts c in force. Calls under way end under the catalog in which they
// began. Subscribers are told.
func (g *Gateway) Swap(c *Catalog) {
	g.catalog.Store(c)
	g.Notify(Event{})
}

// Call performs one call. Whatever goes wrong with the tool is a Result with
// IsError, so that the model can read it. An error means that there is no
// result: CodeNotFound for a tool that the catalog does not have, ctx's own
// error where it ended before anything was sent that can change something, and
// what a [tenon.Requester] said, untouched.
func (g *Gateway) Call(ctx context.Context, c *tenon.Call) (*tenon.Result, error) {
	if g.log.Enabled(ctx, slog.LevelInfo) {
		return g.logged(ctx, c)
	}
	return g.call(ctx, c)
}

func (g *Gateway) call(ctx context.Context, c *tenon.Call) (*tenon.Result, error) {
	e := g.catalog.Load().Find(c.Tool)
	if e == nil {
		return nil, tenon.Errorf(tenon.CodeNotFound, "unknown tool %q", c.Tool)
	}
	if c.Requester != nil {
		asking := *c
		asking.Requester = pausing{c.Requester}
		c = &asking
	}
	if e.forward != nil {
		return g.forward(ctx, e, c)
	}
	return g.perform(ctx, e, c, outer{})
}

// pausing asks while the time of the call stands still.
type pausing struct{ asker tenon.Requester }

func (p pausing) RequestInput(ctx context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	ctx, resume := deadline.Pause(ctx)
	defer resume()
	return p.asker.RequestInput(ctx, questions...)
}

// perform makes the call of e. What was changed in the arguments of the call
// that was forwarded is told beside what is changed here.
func (g *Gateway) perform(ctx context.Context, e *Tool, c *tenon.Call, from outer) (res *tenon.Result, err error) {
	fixes := from.fixes
	defer func() { res = withCoercions(res, fixes) }()
	checks, err := e.ready()
	if err != nil {
		return g.handlerError(e, &tenon.Response{}, err), nil
	}
	c, own := takeReservedArgs(c, &checks.own)
	fixes = append(fixes, from.below(coerced(&own))...)
	if own.Invalid != "" {
		return errorResult(e, rejected(tenon.CodeValidation, "Invalid arguments: "+own.Invalid, "Change the arguments as the message says, then call again")), nil
	}
	if own.Token != "" {
		same, _, _ := checks.validateInput(c, e.publishedNames(checks)) // the first call's arguments were compared after that, too
		return g.resume(ctx, e, callWithArgs{same, own}), nil
	}
	c, healed, violations := checks.validateInput(c, e.publishedNames(checks))
	fixes = append(fixes, from.below(healed)...)
	if len(violations) > 0 {
		return refusedArguments(e, violations), nil
	}
	seen, err := e.projections(own.Fields)
	if err != nil {
		return refusedFields(e, err), nil
	}
	giveBack, res, err := g.confirm(ctx, e, c, own)
	if res != nil || err != nil {
		return res, err
	}
	limited := g.clock.New(ctx, g.timeout, g.inputTimeout)
	defer limited.Stop()
	var w callInProgress // filled in place
	w.entry, w.seen, w.limited, w.work = e, seen, limited, checks.handlerContext(limited)
	w.call.Call, w.call.own = c, own
	if err := g.invoke(w.work, e, c, &w.reply); err != nil { //nolint:contextcheck // it stands on ctx
		return g.endWithError(ctx, &w, err, giveBack)
	}
	return g.end(ctx, &w)
}

// callInProgress is a call whose handler is at work. Few of its bytes are copied: a
// handler deep on the stack would make that grow.
type callInProgress struct {
	entry   *Tool
	call    callWithArgs
	seen    []*projection.View
	limited *deadline.Context
	work    context.Context //nolint:containedctx // the handler's, which may outlive the call
	reply   tenon.Response
}

// errEnded is told to who ended a call that may have changed something.
var errEnded = &tenon.Error{Code: tenon.CodeTimeout, Message: "The call was ended before its answer came."}

// endWithError is the end of a call whose handler failed.
func (g *Gateway) endWithError(ctx context.Context, w *callInProgress, err error, giveBack func()) (*tenon.Result, error) {
	switch {
	case ctx.Err() != nil && w.reply.Execution.Unsafe == tenon.NotSent:
		return nil, ctx.Err()
	case ctx.Err() != nil: // who still listens must hear what was left behind
		err = errEnded
	case unwinds(err):
		giveBack()
		return nil, err
	case w.limited.Expired() && !saysTimeout(err):
		err = g.late()
	}
	return g.handlerError(w.entry, &w.reply, err), nil
}

// holds is how many bytes an answer takes until it is shaped: what was read, and
// where more is made of it than one pass sees, its values decoded.
func (e *Tool) holds(seen []*projection.View, r *tenon.Response) (n int64) {
	if n = int64(len(r.Body)); seen != nil || e.tool.Policy == tenon.Repair || e.checks.decodes {
		n *= 9
	}
	for i := range r.Content {
		n += int64(len(r.Content[i].Text) + len(r.Content[i].Data))
	}
	return n
}

// late is the end of a call that took longer than the gateway lets it. Another
// deadline that a handler tells of is its own, with its own words.
func (g *Gateway) late() error {
	return tenon.Errorf(tenon.CodeTimeout, "the call took longer than %v and was ended", g.timeout)
}

// saysTimeout reports whether a source told in its own words that there was no
// answer in time. They stay also where the call's time ran out meanwhile: which
// of two limits ends first by a hair must not decide what is said.
func saysTimeout(err error) bool {
	known, ok := errors.AsType[*tenon.Error](err)
	return ok && known.Code == tenon.CodeTimeout
}

// end is the end of a call that has a response.
func (g *Gateway) end(ctx context.Context, w *callInProgress) (*tenon.Result, error) {
	e, reply := w.entry, &w.reply
	if reply.Items != nil {
		res, err := g.streamed(ctx, w, &liveStream{entry: e, call: w.call, seen: w.seen, head: *reply})
		return besideItems(res, w.seen != nil, reply), err
	}
	if err := inflight.Reach(ctx, e.holds(w.seen, reply)); err != nil {
		w.reply = tenon.Response{Execution: reply.Execution}
		w.reply.Execution.Reads = tenon.Responded
		return g.endWithError(ctx, w, &tenon.Error{Code: tenon.CodeRateLimited, Message: "The call was made, but its answer cannot be delivered: too many bytes wait for clients that read slowly.", Err: err}, nil)
	}
	if reply.Content != nil || reply.Meta != nil && reply.Status == 0 || reply.Failed {
		return g.passContent(w.limited, e, w.call, w.seen, reply), nil //nolint:contextcheck // it stands on ctx
	}
	j, failed := g.validateOutput(w.limited, e, w.seen, reply) //nolint:contextcheck // as above
	if failed != nil {
		return failed, nil
	}
	res := g.split(ctx, e, w.call, reply, j, e.tool.MaxResult)
	if reply.Meta != nil {
		res.Meta = envelope.Join(reply.Meta, res.Meta)
	}
	return res, nil
}
