package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// journal is an observer that writes a line for each call.
type journal struct{ lines []string }

func (j *journal) ObserveCall(_ context.Context, r *gateway.CallRecord) {
	tool, outcome := "-", ""
	if r.Tool != nil {
		tool = r.Tool.Source() + "/" + r.Tool.Name()
	}
	if r.Result != nil {
		o := r.Result.Outcome
		outcome = fmt.Sprintf(" {%s %d %s %s}", o.Verdict, o.Status, o.Executed, o.Retry)
	}
	j.lines = append(j.lines, fmt.Sprintf("%s %s %s %q %q%s", r.Call.Tool, tool, r.Args, r.Code(), r.Consent, outcome))
	if r.Duration < 0 || r.Began.IsZero() || (r.Result == nil) != (r.Err != nil) {
		j.lines = append(j.lines, "no time, or neither result nor error")
	}
}

// A call has one record, whatever became of it: refused, asked about, declined,
// performed by another tool, or of no tool at all.
func TestEveryCallIsObservedOnce(t *testing.T) {
	var j journal
	count := tenon.Contract{
		Input:     []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"integer"}`)}},
	}
	responds := func(status int, body string) tenon.Handler {
		return func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: status, MediaType: "application/json", Body: []byte(body), Execution: tenon.Execution{Reads: tenon.Responded}}, nil
		}
	}
	remove := tenon.Tool{Name: "remove", Confirmation: tenon.ConfirmRule{Action: tenon.DeleteResource}, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Status: 204, Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
	}}
	tools := []tenon.Tool{
		{Name: "fits", Contract: count, Handler: responds(200, "7")},
		{Name: "violates", Contract: count, Policy: tenon.Enforce, Handler: responds(200, `"7"`)},
		{Name: "fails", Contract: count, Handler: responds(503, `{}`)},
		remove,
	}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{})
	front := gateway.Build([]gateway.Mount{{
		Name:     "front",
		Features: tenon.Features{Tools: []tenon.Tool{{Name: "call_tool", Contract: tenon.Contract{Input: []byte(`{"type":"object"}`)}}}},
		Forward: map[string]gateway.Forward{"call_tool": func(args []byte) (*gateway.Tool, []byte, error) {
			if string(args) == `{}` {
				return nil, nil, tenon.Errorf(tenon.CodeNotFound, "no tool named")
			}
			return c.Find("fits"), []byte(`{"n":2}`), nil
		}},
	}}, gateway.BuildOptions{})
	calls := []struct {
		on     *gateway.Catalog
		tool   string
		args   string
		person tenon.Requester
		want   string
	}{
		{c, "fits", `{"n":1}`, nil, `fits shop/fits {"n":1} "" "" {fits 200 yes safe}`},
		{c, "fits", `{}`, nil, `fits shop/fits {} "validation_error" "" {unchecked 0 no safe}`},
		{c, "violates", `{"n":1}`, nil, `violates shop/violates {"n":1} "contract_violation" "" {violated 200 yes safe}`},
		{c, "fails", `{"n":1}`, nil, `fails shop/fails {"n":1} "server_error" "" {undeclared 503 yes safe}`},
		{c, "none", `{}`, nil, `none - {} "not_found" ""`},
		{c, "remove", `{}`, says("accept", `{"confirm":true}`), `remove shop/remove {} "" "person" {unchecked 204 yes unsafe}`},
		{c, "remove", `{}`, says("decline", `{}`), `remove shop/remove {} "authorization_error" "declined" {unchecked 0 no safe}`},
		{c, "remove", `{}`, &sameAnswer{err: &tenon.InputRequiredError{}}, `remove shop/remove {} "" "asked"`},
		{c, "remove", `{}`, nil, `remove shop/remove {} "" "asked" {unchecked 0 no safe}`},
		{c, "remove", `{"confirmed":true}`, nil, `remove shop/remove {"confirmed":true} "" "argument" {unchecked 204 yes unsafe}`},
		{front, "call_tool", `{"tool":"fits"}`, nil, `call_tool shop/fits {"n":2} "" "" {fits 200 yes safe}`},
		{front, "call_tool", `{}`, nil, `call_tool front/call_tool {} "not_found" "" {unchecked 0 no safe}`},
	}
	g := gateway.New(c, gateway.Options{Observers: []gateway.Observer{&j}})
	var want []string
	for _, call := range calls {
		g.Swap(call.on)
		_, err := g.Call(t.Context(), &tenon.Call{Tool: call.tool, Args: []byte(call.args), Requester: call.person})
		if unwinds := errors.As(err, new(*tenon.InputRequiredError)); err != nil && !unwinds && call.tool != "none" {
			t.Error(call.tool, err)
		}
		want = append(want, call.want)
	}
	if d := cmp.Diff(want, j.lines); d != "" {
		t.Error(d)
	}
}

// quiet is an observer that reads what metrics need.
type quiet struct{ calls int }

func (q *quiet) ObserveCall(_ context.Context, r *gateway.CallRecord) {
	if r.Tool != nil && r.Code() == "" {
		q.calls++
	}
}

func TestObservingAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("the race detector makes a pool forget")
	}
	tool := tenon.Tool{Name: "ping", Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Body: []byte(`1`)}, nil
	}}
	c := gateway.Build([]gateway.Mount{{Name: "a", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	var q quiet
	allocs := func(g *gateway.Gateway) float64 {
		call := &tenon.Call{Tool: "ping", Args: []byte(`{}`)}
		return testing.AllocsPerRun(1000, func() { _, _ = g.Call(t.Context(), call) })
	}
	without, with := allocs(gateway.New(c, gateway.Options{})), allocs(gateway.New(c, gateway.Options{Observers: []gateway.Observer{&q}}))
	if with != without || q.calls == 0 {
		t.Errorf("%v allocations with an observer, %v without; %d calls observed", with, without, q.calls)
	}
}
