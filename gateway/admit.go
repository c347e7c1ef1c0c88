package gateway

import (
	"context"

	"github.com/tenon-mcp/tenon"
)

// Admission can refuse calls: a limit that is reached, an audit log that is required
// and cannot be written.
type Admission interface {
	// Admit is asked before anything is done with a call. An error refuses it, and is
	// handled like that of a handler that sent nothing. Else leave is called when the
	// call has ended; nil: nobody has to know.
	Admit(ctx context.Context, a Attempt) (leave func(), err error)
}

// Attempt is what somebody wants to do.
type Attempt struct {
	Call *tenon.Call // nil: a resource is read, a prompt is got or a value completed
	// Tool is the tool that performs the call, also where another stands for it; nil:
	// there is no such tool, or no Call.
	Tool *Tool
	// Part: a further part of a result is wanted. Nothing is sent for it, unless the
	// token is wrong: then it is asked for once more as a call.
	Part bool
}

// Admit asks all admissions of the gateway. Whoever is admitted calls leave.
func (g *Gateway) Admit(ctx context.Context, a Attempt) (leave func(), err error) {
	leave = func() {}
	for _, one := range g.admission {
		left, err := one.Admit(ctx, a)
		if err != nil {
			leave()
			return nil, err
		}
		if left == nil {
			continue
		}
		before := leave
		leave = func() { left(); before() }
	}
	return leave, nil
}

// refuses asks for a call of which nothing becomes: it counts, too.
func (g *Gateway) refuses(ctx context.Context, c *tenon.Call, e *Tool) error {
	if len(g.admission) == 0 {
		return nil
	}
	done, err := g.Admit(ctx, Attempt{Call: c, Tool: e.Unadapted()})
	if err == nil {
		done()
	}
	return err
}

// failed is the result of a call that failed before it was asked for.
func (g *Gateway) failed(ctx context.Context, c *tenon.Call, e *Tool, err error) *tenon.Result {
	if refused := g.refuses(ctx, c, e); refused != nil {
		err = refused
	}
	return g.handlerError(e, &tenon.Response{}, err)
}

// part answers a call that requests a further part. One with a wrong token, or a
// token and other arguments, is a call like any other.
func (g *Gateway) part(ctx context.Context, e *Tool, c callWithArgs) (*tenon.Result, error) {
	res, err := g.resume(ctx, e, c)
	if err != nil {
		return nil, err
	}
	if res.Code == tenon.CodeValidation {
		if err := g.refuses(ctx, c.Call, e); err != nil {
			return g.handlerError(e, &tenon.Response{}, err), nil
		}
	}
	return res, nil
}
