package tenon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/schema"
)

// GatewayOptions are the choices of NewGateway. The zero value works.
type GatewayOptions struct {
	Logger  *slog.Logger  // nil: nothing is logged
	Timeout time.Duration // the longest that a call may take; 0: one minute
}

// Gateway performs calls: it finds the tool, checks what goes in, lets the
// tool's handler work, checks what comes back and gives it the shape that the
// tool published. Both walls stand here, so that no source can forget one.
type Gateway struct {
	catalog atomic.Pointer[Catalog]

	subscribers sync.Map // of *func(Change)
	log         *slog.Logger
	timeout     time.Duration
}

// NewGateway returns a gateway that serves c.
func NewGateway(c *Catalog, o GatewayOptions) *Gateway {
	g := &Gateway{log: o.Logger, timeout: o.Timeout}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.timeout == 0 {
		g.timeout = time.Minute
	}
	g.catalog.Store(c)
	return g
}

// Catalog returns the catalog in force.
func (g *Gateway) Catalog() *Catalog { return g.catalog.Load() }

// Swap puts c in force. Calls under way end under the catalog in which they
// began. Subscribers are told.
func (g *Gateway) Swap(c *Catalog) {
	g.catalog.Store(c)
	g.Tell(Change{})
}

// Call performs one call. Whatever goes wrong with the tool is a Result with
// IsError, so that the model can read it. An error means that there is no
// result: CodeNotFound for a tool that the catalog does not have, ctx's own
// error where the caller is gone, and what an [Asker] said, untouched.
func (g *Gateway) Call(ctx context.Context, c *Call) (*Result, error) {
	e := g.catalog.Load().Find(c.Tool)
	if e == nil {
		return nil, errorf(CodeNotFound, "unknown tool %q", c.Tool)
	}
	checks := e.prepare()
	if len(c.Args) == 0 {
		withArgs := *c
		withArgs.Args = []byte("{}")
		c = &withArgs
	}
	if violations := wallOne(checks, c.Args); len(violations) > 0 {
		return shapeFailure(&e.tool, invalidArguments(violations)), nil
	}
	limited, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	reply, err := g.handle(limited, e, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if unwinds(err) {
			return nil, err
		}
		return g.failed(e, &reply, err), nil
	}
	if reply.Blocks != nil {
		return &Result{Content: reply.Blocks, Meta: reply.Meta}, nil
	}
	return g.answered(e, checks, &reply), nil
}

// wallOne validates the arguments as they came.
func wallOne(checks *checks, args []byte) []schema.Violation {
	if checks.input == nil {
		return nil
	}
	return checks.input.Validate(args)
}

// handle runs the tool's handler. A panic is an error with an id that links
// what the caller sees to the log.
func (g *Gateway) handle(ctx context.Context, e *Entry, c *Call) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			id := incident()
			g.log.Error("a handler panicked", "tool", e.tool.Name, "incident", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			reply = Reply{}
			if readOnly := e.tool.Hints.ReadOnly; readOnly == nil || !*readOnly {
				reply.Sent.Unsafe = SentNoAnswer
			}
			err = errorf(CodeInternal, "the tool failed inside; the operator finds incident %s in the log", id)
		}
	}()
	return e.tool.Handler(ctx, c)
}

// failed turns a handler's error into a result.
func (g *Gateway) failed(e *Entry, r *Reply, err error) *Result {
	f := failure{code: CodeOf(err), reply: Reply{Sent: r.Sent, Status: r.Status}, judged: judgement{verdict: Unchecked}}
	var known *Error
	switch {
	case errors.As(err, &known):
		f.message = known.Message
		if known.Err != nil {
			g.log.Warn("call failed", "tool", e.tool.Name, "code", f.code, "error", err)
		}
	case f.code == CodeTimeout:
		f.message = "the call took longer than " + g.timeout.String() + " and was ended"
	default:
		f.message = err.Error()
	}
	return shapeFailure(&e.tool, f)
}

// answered judges a reply and gives it its shape.
func (g *Gateway) answered(e *Entry, checks *checks, r *Reply) *Result {
	j := judgement{verdict: Unchecked, form: formOfReply(r)}
	if e.tool.Policy == Off {
		j = j.strict(r.Body)
	} else {
		j = checks.judge(r)
	}
	if len(j.violations) > 0 && e.tool.Policy != Off {
		v := j.violations[0]
		g.log.Warn("the answer breaks its contract", "tool", e.tool.Name, "policy", string(e.tool.Policy), "verdict", string(j.verdict),
			"status", r.Status, "path", v.Path, "keyword", v.Keyword, "expected", v.Expected, "violations", len(j.violations))
	}
	switch {
	case r.Status != 0 && (r.Status < 200 || r.Status > 299):
		return shapeFailure(&e.tool, upstreamError(r, j))
	case (j.verdict == Violated || j.verdict == Undeclared) && e.tool.Policy != Warn && e.tool.Policy != Off:
		return shapeFailure(&e.tool, breach(&e.tool, r, j))
	}
	return shapeSuccess(e, r, j)
}

// incident returns a short random id.
func incident() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}
