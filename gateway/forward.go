package gateway

import (
	"context"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// Forward returns the tool, of any catalog, that performs the call instead, and
// its arguments. args have passed input validation. The call takes the whole
// path of that tool, so that the result keeps that tool's contract. An error is
// handled like that of a handler.
type Forward func(args []byte) (to *Tool, inner []byte, err error)

// forward performs the call that c is forwarded to.
func (g *Gateway) forward(ctx context.Context, e *Tool, c *tenon.Call, r *CallRecord) (*tenon.Result, error) {
	r.performs(e, c.Args) // until it is known which other tool does
	checks, err := e.ready()
	if err != nil {
		return g.failed(ctx, c, e, err), nil
	}
	c, coerced, violations := checks.validateInput(e.readArguments(c), e.publishedNames(checks))
	if len(violations) > 0 {
		if err := g.refuses(ctx, c, e); err != nil {
			return g.handlerError(e, &tenon.Response{}, err), nil
		}
		return refusedArguments(e, violations), nil
	}
	to, args, err := e.forward(c.Args)
	if err != nil {
		return g.failed(ctx, c, e, err), nil
	}
	inner := *c
	inner.Tool, inner.Args = to.Name(), args
	return g.perform(ctx, to, &inner, outer{coerced, reservedargs.PlaceOf(c.Args, args), r})
}

// outer is the call that was forwarded; without one only its record is set.
type outer struct {
	fixes  []schema.Fix // coercions of its arguments
	within string       // JSON Pointer to the inner call's arguments in them
	record *CallRecord  // of the call, forwarded or not; nil: nobody observes
}

// below translates the pointers of fixes to the arguments that the caller sent.
func (o outer) below(fixes []schema.Fix) []schema.Fix {
	for i := range fixes {
		fixes[i].Path = o.within + fixes[i].Path
	}
	return fixes
}
