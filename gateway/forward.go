package gateway

import (
	"context"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// Forward names the tool, of any catalog, that a call is really one of, and the
// arguments for it. Input validation has passed args. The call then takes the whole
// path of that tool, so that its answer keeps that tool's contract. An error
// is told to the caller as that of a handler.
type Forward func(args []byte) (to *Tool, inner []byte, err error)

// forward performs the call that c stands for.
func (g *Gateway) forward(ctx context.Context, e *Tool, c *tenon.Call) (*tenon.Result, error) {
	checks, err := e.ready()
	if err != nil {
		return g.handlerError(e, &tenon.Response{}, err), nil
	}
	c, healed, violations := checks.validateInput(c, e.publishedNames(checks))
	if len(violations) > 0 {
		return refusedArguments(e, violations), nil
	}
	to, args, err := e.forward(c.Args)
	if err != nil {
		return g.handlerError(e, &tenon.Response{}, err), nil
	}
	inner := *c
	inner.Tool, inner.Args = to.Name(), args
	return g.perform(ctx, to, &inner, outer{healed, reservedargs.PlaceOf(c.Args, args)})
}

// outer is the call that was forwarded; zero: none was.
type outer struct {
	fixes  []schema.Fix // what was changed in its arguments
	within string       // JSON Pointer in them of the arguments that go on
}

// below names the places of what was changed in the arguments as the caller sent
// them.
func (o outer) below(fixes []schema.Fix) []schema.Fix {
	for i := range fixes {
		fixes[i].Path = o.within + fixes[i].Path
	}
	return fixes
}
