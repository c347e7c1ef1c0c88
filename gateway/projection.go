package gateway

import (
	"context"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/projection"
)

// makeProjection makes the view of e's tool. The error names what the operator wrote
// and the contract does not know.
func (e *Tool) makeProjection() error {
	o := viewOptions(e.tool.Projection)
	if len(o.Select) == 0 && o.Filter == nil {
		return nil
	}
	contract, err := promiseOf(&e.tool).Contract()
	if err != nil {
		return err
	}
	e.view, err = projection.New(shapePromise(&e.tool, contract), o)
	return err
}

func viewOptions(v tenon.Projection) projection.Options {
	o := projection.Options{Select: v.Select, Made: v.Schema}
	if v.Filter != nil {
		o.Filter = v.Filter
	}
	return o
}

// publishedProjection is what is published of a promise that may be relaxed: the parts of
// the full one, unless they are larger than all that it would be.
func (e *Tool) publishedProjection(relaxed tenon.Contract) envelope.Contract {
	p := shapePromise(&e.tool, relaxed)
	if e.view == nil || e.view.Promise.Size() <= p.Size() || e.tool.Projection.Filter != nil {
		return e.fullView(relaxed)
	}
	if v, err := projection.New(p, viewOptions(e.tool.Projection)); err == nil {
		return v.Promise
	}
	return e.view.Promise
}

// fullView is what is promised of what callers get to see.
func (e *Tool) fullView(c tenon.Contract) envelope.Contract {
	if e.view == nil {
		return shapePromise(&e.tool, c)
	}
	return e.view.Promise
}

// projections returns the views through which a call looks at its answer: the tool's,
// then the one that the caller asks for. The error is about the latter.
func (e *Tool) projections(fields []byte) (seen []*projection.View, err error) {
	if e.view != nil {
		seen = append(seen, e.view)
	}
	if fields == nil {
		return seen, nil
	}
	asked, err := e.asked.Get(string(fields), func() (*projection.View, error) { return e.selects(fields) })
	if err != nil {
		return nil, err
	}
	return append(seen, asked), nil
}

// selects makes the view that a caller asks for.
func (e *Tool) selects(fields []byte) (*projection.View, error) {
	paths, err := projection.ReadPaths(fields)
	if err != nil {
		return nil, err
	}
	contract, err := promiseOf(&e.tool).Contract()
	if err != nil {
		contract = tenon.Contract{} // reported by Faults: any path is known
	}
	return projection.New(e.fullView(contract), projection.Options{Select: paths})
}

// show leaves of a success what callers get to see, and checks that.
func (g *Gateway) show(ctx context.Context, e *Tool, seen []*projection.View, r *tenon.Response, j outputCheck) (outputCheck, *tenon.Result) {
	t := &e.tool
	for _, v := range seen {
		if j.form != envelope.JSON {
			break
		}
		a := answerOf(r, j.form)
		part, broken, err := v.Show(ctx, e.checks.data(&a))
		if err != nil {
			g.log.Warn("the view of a tool cannot read an answer", "tool", t.Name, "error", err)
			return j, errorResult(e, toolError{
				code: tenon.CodeContract, message: "The answer of " + t.Name + " cannot be shown: " + err.Error(), reply: *r, judged: j,
				suggestions: []string{"Tell the operator: the service answers otherwise than the tool's view expects"},
			})
		}
		r.Body = part
		if t.Policy == tenon.Off || j.broken() {
			continue
		}
		j.against = v.Schema()
		if len(broken) == 0 {
			continue
		}
		j.verdict, j.violations = tenon.Violated, broken
		g.logViolation(t, r, &j)
		if t.Policy != tenon.Warn && !v.Guessed {
			return j, errorResult(e, contractViolation(t, r, j))
		}
	}
	return j, nil
}
