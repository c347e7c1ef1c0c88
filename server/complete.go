package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon"
)

// maxValues is the protocol's bound of the values in one completion.
const maxValues = 100

// completion is what completion/complete is asked for.
type completion struct {
	Ref struct {
		Type, Name, URI string
	}
	Argument struct {
		Name, Value string
	}
	Context struct {
		Arguments map[string]string
	}
}

func (s *Server) complete(ctx context.Context, q *request, a *answer) *rpcError {
	var in completion
	if json.Unmarshal(q.params, &in) != nil || in.Argument.Name == "" {
		return invalidParams("a completion has a ref and an argument with name and value")
	}
	complete, ok := s.completer(&in)
	if !ok {
		return invalidParams("there is no prompt or template " + strconv.Quote(clip(in.Ref.Name+in.Ref.URI)))
	}
	var values []string
	if complete != nil {
		err := s.within(ctx, q, a, func(ctx context.Context) (err error) {
			values, err = complete(ctx, in.Argument.Name, in.Argument.Value, in.Context.Arguments)
			return err
		})
		if err != nil {
			return s.failed(q, a, err)
		}
	}
	a.begin(q, nil)
	a.member("completion")
	a.write(`{"values":[`)
	for i, v := range values[:min(len(values), maxValues)] {
		if i > 0 {
			a.write(",")
		}
		a.text(v)
	}
	a.write(`],"total":`)
	a.buf = strconv.AppendInt(a.buf, int64(len(values)), 10)
	a.write(`,"hasMore":` + strconv.FormatBool(len(values) > maxValues) + `}`)
	a.end()
	return nil
}

// completer finds what proposes values; nil: nothing is known there.
func (s *Server) completer(in *completion) (tenon.CompletionHandler, bool) {
	c := s.gateway.Catalog()
	switch in.Ref.Type {
	case "ref/prompt":
		if i := slices.IndexFunc(c.Prompts(), func(p tenon.Prompt) bool { return p.Name == in.Ref.Name }); i >= 0 {
			return c.Prompts()[i].Complete, true
		}
	case "ref/resource":
		if i := slices.IndexFunc(c.Templates(), func(t tenon.ResourceTemplate) bool { return t.URI == in.Ref.URI }); i >= 0 {
			return c.Templates()[i].Complete, true
		}
		return nil, slices.ContainsFunc(c.Resources(), func(r tenon.Resource) bool { return r.URI == in.Ref.URI })
	}
	return nil, false
}
