package gateway

import (
	"context"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/projection"
)

// makeProjection makes the projection of e's tool. The error names a path that
// the contract does not have.
func (e *Tool) makeProjection() error {
	o := viewOptions(e.tool.Projection)
	if len(o.Select) == 0 && o.Filter == nil {
		return nil
	}
	contract, err := contractOf(&e.tool).Contract()
	if err != nil {
		return err
	}
	e.view, err = projection.New(successContract(&e.tool, contract), o)
	return err
}

func viewOptions(v tenon.Projection) projection.Options {
	o := projection.Options{Select: v.Select, FilterSchema: v.Schema}
	if v.Filter != nil {
		o.Filter = v.Filter
	}
	return o
}

// publishedProjection returns the output schema that is published for a
// projection: the selected parts of the full schema, unless these are larger
// than the whole published schema.
func (e *Tool) publishedProjection(relaxed tenon.Contract) envelope.Contract {
	p := successContract(&e.tool, relaxed)
	if e.view == nil || e.view.Contract.Size() <= p.Size() || e.tool.Projection.Filter != nil {
		return e.fullView(relaxed)
	}
	if v, err := projection.New(p, viewOptions(e.tool.Projection)); err == nil {
		return v.Contract
	}
	return e.view.Contract
}

// fullView returns the full output schema after projection.
func (e *Tool) fullView(c tenon.Contract) envelope.Contract {
	if e.view == nil {
		return successContract(&e.tool, c)
	}
	return e.view.Contract
}

// projections returns the projections that apply to a call: the tool's, then
// the one that the caller selects. The error is about the latter.
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

// selects makes the projection that a caller selects.
func (e *Tool) selects(fields []byte) (*projection.View, error) {
	paths, err := projection.ReadPaths(fields)
	if err != nil {
		return nil, err
	}
	contract, err := contractOf(&e.tool).Contract()
	if err != nil {
		contract = tenon.Contract{} // reported by Diagnostics; any path is accepted
	}
	return projection.New(e.fullView(contract), projection.Options{Select: paths})
}

// show applies a projection to a success and validates the result.
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
				code: tenon.CodeContract, message: "The response of " + t.Name + " cannot be projected: " + err.Error(), resp: *r, judged: j,
				suggestions: []string{"Tell the operator: the API does not match the tool's projection"},
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
		if t.Policy != tenon.Warn && !v.Inferred {
			return j, errorResult(e, contractViolation(t, r, j))
		}
	}
	return j, nil
}
