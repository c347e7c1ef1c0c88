package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// turnstile admits so many attempts and writes down all of them.
type turnstile struct {
	places int
	inside int
	seen   []string
}

func (s *turnstile) Admit(_ context.Context, a gateway.Attempt) (leave func(), err error) {
	tool := "-"
	if a.Tool != nil {
		tool = a.Tool.Name()
	}
	s.seen = append(s.seen, fmt.Sprintf("%s %s %t", a.Call.Tool, tool, a.Part))
	if s.places == 0 {
		return nil, &tenon.Error{Code: tenon.CodeRateLimited, Message: "Enough.", RetryAfter: 1500 * time.Millisecond}
	}
	s.places--
	s.inside++
	return func() { s.inside-- }, nil
}

func admitting(s *turnstile, o ...gateway.Observer) *gateway.Gateway {
	list := tenon.Contract{
		Input:     []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"array","items":{"type":"string"}}`)}},
	}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{
		{Name: "list", Contract: list, MaxResult: 3000, Envelope: tenon.OpenAPIMCP, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			body := "[" + strings.Repeat(`"`+strings.Repeat("x", 90)+`",`, 30) + `""]`
			return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(body), Execution: tenon.Execution{Reads: tenon.Responded}}, nil
		}},
	}}}}, gateway.BuildOptions{})
	front := gateway.Build([]gateway.Mount{{
		Name:     "front",
		Features: tenon.Features{Tools: []tenon.Tool{{Name: "call_tool", Contract: tenon.Contract{Input: []byte(`{"type":"object","properties":{"args":{"type":"object"}}}`)}}}},
		Forward: map[string]gateway.Forward{"call_tool": func(args []byte) (*gateway.Tool, []byte, error) {
			if string(args) == `{}` {
				return nil, nil, tenon.Errorf(tenon.CodeNotFound, "no tool named")
			}
			return c.Find("list"), []byte(strings.TrimSuffix(strings.TrimPrefix(string(args), `{"args":`), "}")), nil
		}},
	}, {Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{c.Find("list").Tool()}}}}, gateway.BuildOptions{})
	return gateway.New(front, gateway.Options{Admission: []gateway.Admission{s}, Observers: o})
}

// Every call is admitted once, by the tool that performs it, also one of which nothing
// becomes; a further part is no call, but with a wrong token it is.
func TestEveryCallIsAdmittedOnce(t *testing.T) {
	s := &turnstile{places: 100}
	g := admitting(s)
	first, err := g.Call(t.Context(), &tenon.Call{Tool: "list", Args: []byte(`{"n":1}`)})
	if err != nil || first.IsError {
		t.Fatal(err, first)
	}
	_, token, _ := strings.Cut(string(first.Meta), `"resume_token":"`)
	token, _, _ = strings.Cut(token, `"`)
	for _, c := range []tenon.Call{
		{Tool: "list", Args: []byte(`{"resume_token":"` + token + `"}`)},
		{Tool: "next_part", Args: []byte(`{"resume_token":"` + token + `"}`)},
		{Tool: "list", Args: []byte(`{"resume_token":"wrong"}`)},
		{Tool: "list", Args: []byte(`{"resume_token":"` + token + `","n":2}`)},
		{Tool: "list", Args: []byte(`{"n":"one"}`)},
		{Tool: "nothing"},
		{Tool: "call_tool", Args: []byte(`{"args":{"n":1}}`)},
		{Tool: "call_tool", Args: []byte(`{}`)},
		{Tool: "call_tool", Args: []byte(`[]`)},
	} {
		_, _ = g.Call(t.Context(), &c)
	}
	want := []string{
		"list list false",
		"list list true",
		"next_part next_part true",
		"list list true", "list list false",
		"list list true", "list list false",
		"list list false",
		"nothing - false",
		"list list false",
		"call_tool call_tool false",
		"call_tool call_tool false",
	}
	if diff := cmp.Diff(want, s.seen); diff != "" || s.inside != 0 {
		t.Error(s.inside, "are inside;", diff)
	}
}

// A call that is refused sends nothing, says when to come again in every place, and is
// observed; one of a tool that does not exist has no result but the error.
func TestARefusedCallSaysWhenToComeAgain(t *testing.T) {
	var j journal
	s := &turnstile{}
	g := admitting(s, &j)
	for _, c := range []tenon.Call{
		{Tool: "list", Args: []byte(`{"n":1}`)},
		{Tool: "list", Args: []byte(`{"resume_token":"wrong"}`)},
		{Tool: "call_tool", Args: []byte(`{"args":{"n":1}}`)},
		{Tool: "call_tool", Args: []byte(`{}`)},
		{Tool: "call_tool", Args: []byte(`[]`)},
	} {
		r, err := g.Call(t.Context(), &c)
		if err != nil || !r.IsError || r.Code != tenon.CodeRateLimited || string(r.Details) != `{"retry_after":2}` || r.Outcome.RetryAfter != 1500*time.Millisecond || r.Outcome.Executed != "no" {
			t.Errorf("%s %s: %v %+v", c.Tool, c.Args, err, r)
			continue
		}
		if want := `{"tenon/contract":{"verdict":"unchecked","executed":"no","retry":"safe","retry_after":2,"code":"rate_limited"}}`; string(r.Meta) != want {
			t.Errorf("%s %s: %s", c.Tool, c.Args, r.Meta)
		}
	}
	if _, err := g.Call(t.Context(), &tenon.Call{Tool: "nothing"}); tenon.CodeOf(err) != tenon.CodeRateLimited {
		t.Error(err)
	}
	if len(j.lines) != 6 || !strings.Contains(strings.Join(j.lines, "\n"), `nothing -  "rate_limited"`) {
		t.Error(strings.Join(j.lines, "\n"))
	}
	if len(s.seen) != 6 {
		t.Error(s.seen)
	}
}

// Who was admitted by one leaves it when the next refuses.
func TestWhoIsRefusedLeavesWhereTheyWereAdmitted(t *testing.T) {
	first, second := &turnstile{places: 3}, &turnstile{places: 1}
	g := gateway.New(gateway.Build(nil, gateway.BuildOptions{}), gateway.Options{Admission: []gateway.Admission{first, second}})
	a := gateway.Attempt{Call: &tenon.Call{}}
	leave, err := g.Admit(t.Context(), a)
	if err != nil || first.inside != 1 || second.inside != 1 {
		t.Fatal(err, first, second)
	}
	if _, err := g.Admit(t.Context(), a); err == nil || first.inside != 1 {
		t.Error(err, first.inside)
	}
	if leave(); first.inside != 0 || second.inside != 0 {
		t.Error(first, second)
	}
}
