package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
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

// Options are the options of New. The zero value works.
type Options struct {
	Logger  *slog.Logger  // nil: nothing is logged
	Timeout time.Duration // limit of a call, without the time in which input is pending; 0: one minute
	// InputTimeout limits how long a call waits for requested input. 0: ten
	// minutes.
	InputTimeout time.Duration
	Store        tenon.Store // state between calls; nil: in the memory of this process
	// FlushInterval is how long the first item of a part of a stream waits for
	// further items. 0: five seconds; negative: a stream is one result, when it
	// has ended.
	FlushInterval time.Duration
	Observers     []Observer  // told of every call
	Admission     []Admission // asked, in this order, before anything else is done with a call
	// Scopes refuses callers whose access token lacks one of the scopes that a tool
	// needs, by a [tenon.ScopeError]. nil: nobody has any.
	Scopes func(ctx context.Context, needed []string) error
	// Unknown is asked for the error of a call of a tool that its caller does not have:
	// one who has not said yet who it is may have it then. nil, or a nil error: there is
	// no such tool.
	Unknown func(ctx context.Context) error
}

// Gateway performs calls: it finds the tool, validates the arguments, runs the
// tool's handler, validates the response and puts it into the published
// envelope. Both validations are here, so that no source can forget one.
type Gateway struct {
	catalog atomic.Pointer[Catalog]

	subscribers  sync.Map // of *func(Event)
	observers    []Observer
	admission    []Admission
	scopes       func(context.Context, []string) error
	unknown      func(context.Context) error
	records      sync.Pool // of *CallRecord, to be filled again
	log          *slog.Logger
	times        atomic.Pointer[times]
	inputTimeout time.Duration
	store        tenon.Store
	streams      sync.Map // of *liveStream, by the id in their tokens
	places       places
}

// New returns a gateway that serves c.
func New(c *Catalog, o Options) *Gateway {
	g := &Gateway{
		log: o.Logger, inputTimeout: cmp.Or(o.InputTimeout, 10*time.Minute), store: o.Store, observers: slices.Clone(o.Observers), admission: slices.Clone(o.Admission),
		scopes: o.Scopes, unknown: o.Unknown,
	}
	if o.Logger != nil {
		g.observers = append(g.observers, callLog{o.Logger})
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.store == nil {
		g.store = memstore.New(memstore.Options{})
	}
	g.SetTimes(o.Timeout, o.FlushInterval)
	g.catalog.Store(c)
	return g
}

// times are those of calls that begin now.
type times struct{ timeout, flushInterval time.Duration }

// SetTimes replaces Options.Timeout and Options.FlushInterval, for calls that begin
// from then on.
func (g *Gateway) SetTimes(timeout, flushInterval time.Duration) {
	g.times.Store(&times{cmp.Or(timeout, time.Minute), cmp.Or(flushInterval, 5*time.Second)})
}

// Load reads a source and returns a gateway that serves its features, for
// programs with one source. The problems of the description are the Diagnostics
// of the gateway's catalog.
func Load(ctx context.Context, s tenon.Source, o Options) (*Gateway, error) {
	offer, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	return New(Build([]Mount{{Features: offer}}, BuildOptions{}), o), nil
}

// Catalog returns the current catalog, whole: [Catalog.For] is what a caller sees.
func (g *Gateway) Catalog() *Catalog { return g.catalog.Load() }

// Swap replaces the current catalog and notifies subscribers. Calls in progress
// end with the catalog in which they began.
func (g *Gateway) Swap(c *Catalog) {
	g.Replace(c)
	g.Notify(Event{})
}

// Replace is Swap for who notifies later, by an empty [Event].
func (g *Gateway) Replace(c *Catalog) { g.catalog.Store(c) }

// Call performs one call. A failure of the tool is a Result with IsError, so
// that the model can read it. An error means that there is no result:
// CodeNotFound for an unknown tool, ctx's error if it ended before an unsafe
// request was sent, and the errors of a [tenon.Requester], unchanged.
func (g *Gateway) Call(ctx context.Context, c *tenon.Call) (*tenon.Result, error) {
	return g.answer(ctx, c, nil)
}

// Refuse returns what Call returns for a call that somebody refuses before it is
// made, such as a transport, and tells the observers.
func (g *Gateway) Refuse(ctx context.Context, c *tenon.Call, why error) (*tenon.Result, error) {
	return g.answer(ctx, c, why)
}

func (g *Gateway) answer(ctx context.Context, c *tenon.Call, refused error) (*tenon.Result, error) {
	if len(g.observers) > 0 {
		return g.observed(ctx, c, refused)
	}
	return g.call(ctx, c, nil, refused)
}

func (g *Gateway) call(ctx context.Context, c *tenon.Call, r *CallRecord, refused error) (*tenon.Result, error) {
	e := g.catalog.Load().For(ctx).Find(c.Tool)
	if refused != nil {
		if e == nil {
			return nil, refused
		}
		r.performs(e, c.Args)
		return g.handlerError(e, &tenon.Response{}, refused), nil
	}
	if e == nil {
		if err := g.refuses(ctx, c, nil); err != nil {
			return nil, err
		}
		if g.unknown != nil {
			if err := g.unknown(ctx); err != nil {
				return nil, err
			}
		}
		return nil, tenon.Errorf(tenon.CodeNotFound, "unknown tool %q", c.Tool)
	}
	if c.Requester != nil {
		asking := *c
		asking.Requester = pausing{c.Requester}
		c = &asking
	}
	if e.forward != nil {
		return g.forward(ctx, e, c, r)
	}
	return g.perform(ctx, e, c, outer{record: r})
}

// pausing pauses the deadline of the call while input is pending.
type pausing struct{ asker tenon.Requester }

func (p pausing) RequestInput(ctx context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	ctx, resume := deadline.Pause(ctx)
	defer resume()
	return p.asker.RequestInput(ctx, questions...)
}

// perform performs a call of e. The coercions of a forwarded call are reported
// beside those made here.
func (g *Gateway) perform(ctx context.Context, e *Tool, c *tenon.Call, from outer) (res *tenon.Result, err error) {
	from.record.performs(e, c.Args)
	if err := g.mayCall(ctx, e); err != nil {
		return nil, err
	}
	fixes := from.fixes
	defer func() { res = e.inChannels(withCoercions(res, fixes)) }()
	checks, err := e.ready()
	if err != nil {
		return g.failed(ctx, c, e, err), nil
	}
	c, own := takeReservedArgs(e.readArguments(c), &checks.own)
	if len(g.admission) > 0 {
		leave, err := g.Admit(ctx, Attempt{Call: c, Tool: e.Unadapted(), Part: own.Token != ""})
		if err != nil {
			return g.handlerError(e, &tenon.Response{}, err), nil
		}
		defer leave()
	}
	fixes = append(fixes, from.below(coerced(&own))...)
	if own.Invalid != "" {
		return errorResult(e, rejected(tenon.CodeValidation, "Invalid arguments: "+own.Invalid, "Change the arguments as the message says, then call again")), nil
	}
	if own.Token != "" {
		same, _, _ := checks.validateInput(c, e.publishedNames(checks)) // the arguments of the first call were stored after coercion, too
		return g.part(ctx, e, callWithArgs{same, own})
	}
	c, coerced, violations := checks.validateInput(c, e.publishedNames(checks))
	fixes = append(fixes, from.below(coerced)...)
	if len(violations) > 0 {
		return refusedArguments(e, violations), nil
	}
	seen, err := e.projections(own.Fields)
	if err != nil {
		return refusedFields(e, err), nil
	}
	release, res, err := g.confirm(ctx, e, c, own, from.record)
	if res != nil || err != nil {
		return res, err
	}
	limited := deadline.New(ctx, g.times.Load().timeout, g.inputTimeout)
	defer limited.Stop()
	var w callInProgress // filled in place
	w.entry, w.seen, w.limited, w.work = e, seen, limited, checks.handlerContext(limited)
	w.call.Call, w.call.own, w.record = c, own, from.record
	if err := g.invoke(w.work, e, c, &w.resp); err != nil { //nolint:contextcheck // it stands on ctx
		return g.endWithError(ctx, &w, err, release)
	}
	return g.end(ctx, &w)
}

// callInProgress is a call whose handler is running. It is passed by pointer to
// keep the stack small: growing it costs more than the rest of a small call.
type callInProgress struct {
	entry   *Tool
	call    callWithArgs
	seen    []*projection.View
	limited *deadline.Context
	work    context.Context //nolint:containedctx // the handler's, which may outlive the call
	resp    tenon.Response
	record  *CallRecord // nil: nobody observes
}

// errEnded is the result of a cancelled call that may have changed something.
var errEnded = &tenon.Error{Code: tenon.CodeTimeout, Message: "The call was ended before its response arrived."}

// endWithError makes the result of a call whose handler failed.
func (g *Gateway) endWithError(ctx context.Context, w *callInProgress, err error, release func()) (*tenon.Result, error) {
	switch {
	case ctx.Err() != nil && w.resp.Execution.Unsafe == tenon.NotSent:
		return nil, ctx.Err()
	case ctx.Err() != nil: // the result says whether the call was executed
		err = errEnded
	case unwinds(err):
		release()
		return nil, err
	case w.limited.Expired() && !saysTimeout(err):
		err = g.late()
	}
	return g.handlerError(w.entry, &w.resp, err), nil
}

// holds returns how many bytes a response takes until it is in its envelope: the
// body, and its decoded values where validation needs them.
func (e *Tool) holds(seen []*projection.View, r *tenon.Response) (n int64) {
	if n = int64(len(r.Body)); seen != nil || e.tool.Policy == tenon.Repair || e.checks.decodes {
		n *= 9
	}
	for i := range r.Content {
		n += int64(len(r.Content[i].Text) + len(r.Content[i].Data))
	}
	return n
}

// late is the error of a call that exceeded the gateway's timeout. Other
// timeouts that a handler reports keep their own message.
func (g *Gateway) late() error {
	return tenon.Errorf(tenon.CodeTimeout, "the call took longer than %v and was ended", g.times.Load().timeout)
}

// saysTimeout reports whether a source reported a timeout with its own message.
// That message is kept also if the call's deadline has passed meanwhile: which
// of two limits ends first must not decide the text.
func saysTimeout(err error) bool {
	known, ok := errors.AsType[*tenon.Error](err)
	return ok && known.Code == tenon.CodeTimeout
}

// end makes the result of a call that has a response.
func (g *Gateway) end(ctx context.Context, w *callInProgress) (*tenon.Result, error) {
	e, resp := w.entry, &w.resp
	if resp.Items != nil {
		res, err := g.streamed(ctx, w, &liveStream{entry: e, call: w.call, seen: w.seen, head: *resp})
		return besideItems(res, w.seen != nil, resp), err
	}
	if err := inflight.Reach(ctx, e.holds(w.seen, resp)); err != nil {
		w.resp = tenon.Response{Execution: resp.Execution}
		w.resp.Execution.Reads = tenon.Responded
		return g.endWithError(ctx, w, &tenon.Error{Code: tenon.CodeRateLimited, Message: "The call was executed, but its result cannot be delivered: too many bytes are waiting for clients that read slowly.", Err: err}, nil)
	}
	if resp.Content != nil || resp.Meta != nil && resp.Status == 0 || resp.Failed {
		return g.passContent(w.limited, w), nil //nolint:contextcheck // it stands on ctx
	}
	j, failed := g.validateOutput(w.limited, w.record, e, w.seen, resp) //nolint:contextcheck // as above
	if failed != nil {
		return failed, nil
	}
	res := g.split(ctx, e, w.call, resp, j, e.tool.MaxResult)
	if resp.Meta != nil {
		res.Meta = envelope.Join(resp.Meta, res.Meta)
	}
	return res, nil
}
