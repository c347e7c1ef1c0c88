package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

// sameAnswer answers every question in the same way.
type sameAnswer struct {
	answer tenon.InputResponse
	err    error
	asked  []string // messages
}

func (p *sameAnswer) RequestInput(ctx context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	for _, q := range questions {
		p.asked = append(p.asked, string(q.Params))
	}
	if errors.Is(p.err, context.DeadlineExceeded) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []tenon.InputResponse{p.answer}, p.err
}

func says(action, body string) *sameAnswer {
	return &sameAnswer{answer: tenon.InputResponse{Action: action, Body: []byte(body)}}
}

func mute() *sameAnswer {
	return &sameAnswer{err: &tenon.UnsupportedInputError{Kind: tenon.ElicitForm}}
}

// deletes is a tool that needs consent, and counts what reaches its upstream.
func deletes(mode tenon.ConfirmMode, env tenon.Envelope, o gateway.Options) (g *gateway.Gateway, sent *[]string) {
	sent = new([]string)
	tool := tenon.Tool{
		Name: "get_book", Envelope: env,
		Confirmation: tenon.ConfirmRule{Mode: mode, Action: tenon.DeleteResource, Effect: "DELETE /books/{id} deletes what is there"},
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			*sent = append(*sent, string(c.Args))
			return tenon.Response{Status: 204, Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
		},
	}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	return gateway.New(c, o), sent
}

func TestConsentOfAPerson(t *testing.T) {
	const yes, no = `{"confirm":true}`, `{"confirm":false}`
	tests := map[string]struct {
		mode   tenon.ConfirmMode
		person *sameAnswer
		args   string
		sent   int
		text   string // contained in the text copy
	}{
		"auto: yes":                                        {"", says("accept", yes), `{"id":1}`, 1, ""},
		"auto: accepted without the field":                 {"", says("accept", `{}`), `{"id":1}`, 0, "did not confirm"},
		"auto: accepted with no":                           {"", says("accept", no), `{"id":1}`, 0, "did not confirm"},
		"auto: declined":                                   {"", says("decline", ""), `{"id":1}`, 0, "did not confirm"},
		"auto: cancelled":                                  {"", says("cancel", yes), `{"id":1}`, 0, "did not confirm"},
		"auto: the argument does not count":                {"", says("decline", ""), `{"id":1,"confirmed":true}`, 0, "did not confirm"},
		"auto: the client cannot ask":                      {"", mute(), `{"id":1}`, 0, `"type":"confirmation_request"`},
		"auto: a question that failed":                     {"", &sameAnswer{err: &tenon.Error{Code: tenon.CodeRequest, Message: "no form"}}, `{"id":1}`, 0, "no form"},
		"human: yes":                                       {tenon.ConfirmHuman, says("accept", yes), `{"id":1}`, 1, ""},
		"human: declined":                                  {tenon.ConfirmHuman, says("decline", ""), `{"id":1}`, 0, "did not confirm"},
		"human: the client cannot ask":                     {tenon.ConfirmHuman, mute(), `{"id":1}`, 0, "cannot ask the user"},
		"human: the argument is refused":                   {tenon.ConfirmHuman, says("accept", yes), `{"id":1,"confirmed":true}`, 0, "Only the user"},
		"arg: a person is not asked":                       {tenon.ConfirmArg, says("accept", yes), `{"id":1}`, 0, `"type":"confirmation_request"`},
		"arg: the first call is answered with the request": {tenon.ConfirmArg, mute(), `{"id":1,"confirmed":true}`, 0, `"type":"confirmation_request"`},
		"off: nobody is asked":                             {tenon.ConfirmOff, says("decline", ""), `{"id":1}`, 1, ""},
	}
	for name, tt := range tests {
		for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			t.Run(name+", "+string(env), func(t *testing.T) {
				g, sent := deletes(tt.mode, env, gateway.Options{})
				res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Args: []byte(tt.args), Requester: tt.person})
				if err != nil {
					t.Fatal(err)
				}
				if len(*sent) != tt.sent {
					t.Errorf("the upstream was called %d times, want %d", len(*sent), tt.sent)
				}
				if tt.sent == 0 {
					if v := verdictOf(t, res); v.Executed != "no" || v.Retry != "safe" {
						t.Errorf("executed %q, retry %q", v.Executed, v.Retry)
					}
					if !strings.Contains(string(res.Content[0].Text), tt.text) {
						t.Errorf("the text lacks %q: %s", tt.text, res.Content[0].Text)
					}
				}
				if request := res.Confirmation != nil; request && res.IsError != (env != tenon.OpenAPIMCP) {
					t.Errorf("isError of a request is %v", res.IsError)
				}
			})
		}
	}
}

// confirm calls as one client would and reports whether the upstream was called.
func confirm(t *testing.T, g *gateway.Gateway, sent *[]string, subject tenon.Subject, args string) bool {
	t.Helper()
	before := len(*sent)
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Args: []byte(args), Subject: subject})
	if err != nil {
		t.Fatal(err)
	}
	if called := len(*sent) > before; called == (res.Confirmation != nil) {
		t.Errorf("called: %v, asked: %v: %s", called, res.Confirmation != nil, res.Content[0].Text)
	}
	return len(*sent) > before
}

func TestConsentByArgumentIsBoundAndUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := memstore.New(memstore.Options{})
		defer state.Close()
		g, sent := deletes(tenon.ConfirmArg, tenon.OpenAPIMCP, gateway.Options{Store: state})
		steps := []struct {
			about   string
			wait    time.Duration
			subject tenon.Subject
			args    string
			called  bool
		}{
			{"a request", 0, "ann", `{"id":1,"note":"a"}`, false},
			{"consent of somebody else", 0, "bob", `{"id":1,"note":"a","confirmed":true}`, false},
			{"consent to another call", 0, "ann", `{"id":2,"note":"a","confirmed":true}`, false},
			{"consent, written differently", 0, "ann", `{ "confirmed":true, "note":"\u0061", "id":1 }`, true},
			{"the same consent again", 0, "ann", `{"id":1,"note":"a","confirmed":true}`, false},
			{"that was a request", 0, "ann", `{"id":1,"note":"a","confirmed":true}`, true},
			{"a request that is forgotten", 0, "ann", `{"id":1}`, false},
			{"too late", 11 * time.Minute, "ann", `{"id":1,"confirmed":true}`, false},
			{"in time", 9 * time.Minute, "ann", `{"id":1,"confirmed":true}`, true},
		}
		for _, s := range steps {
			time.Sleep(s.wait)
			if called := confirm(t, g, sent, s.subject, s.args); called != s.called {
				t.Errorf("%s: called is %v", s.about, called)
			}
		}
		for _, args := range *sent {
			if strings.Contains(args, "confirmed") {
				t.Errorf("the handler saw %s", args)
			}
		}
	})
}

// again answers from a request that was made again, as 2026-07-28 does.
type again struct {
	round   string
	answers map[string]tenon.InputResponse
}

func (r *again) RequestInput(_ context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	var answers []tenon.InputResponse
	for _, q := range questions {
		a, ok := r.answers[q.Key]
		if !ok {
			return nil, &tenon.InputRequiredError{Requests: questions}
		}
		a.RequestState = r.round
		answers = append(answers, a)
	}
	return answers, nil
}

func TestConsentOfARoundIsUsedOnce(t *testing.T) {
	called := 0
	asks := true
	yes := map[string]tenon.InputResponse{"tenon/confirmation": {Action: "accept", Body: []byte(`{"confirm":true}`)}}
	g := one(tenon.Tool{Confirmation: tenon.ConfirmRule{Action: tenon.RunTool}}, func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		if asks {
			if _, err := c.RequestInput(ctx, tenon.FormRequest("more", "How many?", []byte(`{"type":"object"}`))); err != nil {
				return tenon.Response{}, err
			}
		}
		called++
		return jsonResponse(200, `{}`), nil
	})
	call := func(r *again) (*tenon.Result, error) {
		return g.Call(t.Context(), &tenon.Call{Tool: "get_book", Requester: r})
	}
	if _, err := call(&again{}); !errors.As(err, new(*tenon.InputRequiredError)) {
		t.Fatalf("the first round: %v", err)
	}
	for range 2 { // a handler that asks gives the consent back, for it is run again
		if _, err := call(&again{round: "r", answers: yes}); !errors.As(err, new(*tenon.InputRequiredError)) {
			t.Fatalf("the second round: %v", err)
		}
	}
	asks = false
	for i, want := range []int{1, 1} {
		res, err := call(&again{round: "r", answers: yes})
		if err != nil || called != want || res.IsError != (i == 1) {
			t.Fatalf("use %d: called %d times, %v, %s", i+1, called, err, res.Content[0].Text)
		}
	}
	if _, err := call(&again{round: "s", answers: yes}); err != nil || called != 2 {
		t.Fatalf("another consent: called %d times, %v", called, err)
	}
}

func TestConsentThatNobodyGivesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, sent := deletes("", tenon.OpenAPIMCP, gateway.Options{InputTimeout: time.Minute})
		began := time.Now()
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Requester: &sameAnswer{err: context.DeadlineExceeded}})
		if err != nil || len(*sent) > 0 || res.Code != tenon.CodeTimeout || time.Since(began) != time.Minute {
			t.Errorf("%v, sent %d, %s after %s", err, len(*sent), res.Content[0].Text, time.Since(began))
		}
	})
}

func TestConsentThatCannotBeKeptSendsNothing(t *testing.T) {
	g, sent := deletes(tenon.ConfirmArg, tenon.Native, gateway.Options{Store: memstore.New(memstore.Options{MaxBytes: 1})})
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Args: []byte(`{"id":1}`)})
	if err != nil || len(*sent) > 0 || !res.IsError || res.Code != tenon.CodeInternal {
		t.Errorf("%v, sent %d, %s", err, len(*sent), res.Content[0].Text)
	}
}

// TestTimeStandsStillWhileAPersonThinks lets a handler work for 40 seconds of
// its minute, ask for an hour's half, and work again.
func TestTimeStandsStillWhileAPersonThinks(t *testing.T) {
	tests := map[string]struct {
		after   time.Duration
		isError bool
	}{"in time": {19 * time.Second, false}, "too late": {21 * time.Second, true}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := one(tenon.Tool{}, func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
					work := func(d time.Duration) error {
						select {
						case <-ctx.Done():
							return ctx.Err()
						case <-time.After(d):
							return nil
						}
					}
					if err := work(40 * time.Second); err != nil {
						return tenon.Response{}, err
					}
					if _, err := c.RequestInput(ctx, tenon.InputRequest{Key: "k"}); err != nil {
						return tenon.Response{}, err
					}
					return jsonResponse(200, `{}`), work(tt.after)
				})
				res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Requester: slowAsker(9 * time.Minute)})
				if err != nil || res.IsError != tt.isError || tt.isError && res.Code != tenon.CodeTimeout {
					t.Errorf("%v, %+v", err, res)
				}
			})
		})
	}
}

type slowAsker time.Duration

func (s slowAsker) RequestInput(ctx context.Context, _ ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(s)):
		return []tenon.InputResponse{{}}, nil
	}
}

func TestConsentIsPublishedWhereItIsDue(t *testing.T) {
	yes := true
	tests := map[string]struct {
		tool      tenon.Tool
		argument  bool
		structure bool
	}{
		"a tool that changes nothing":   {tenon.Tool{}, false, false},
		"a tool that destroys":          {tenon.Tool{Annotations: tenon.Annotations{Destructive: &yes}}, true, true},
		"a tool with an action":         {tenon.Tool{Confirmation: tenon.ConfirmRule{Action: tenon.RunTool}}, true, true},
		"a person alone may agree":      {tenon.Tool{Confirmation: tenon.ConfirmRule{Action: tenon.RunTool, Mode: tenon.ConfirmHuman}}, false, true},
		"the operator wants no consent": {tenon.Tool{Confirmation: tenon.ConfirmRule{Action: tenon.RunTool, Mode: tenon.ConfirmOff}}, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.tool.Contract, tt.tool.Envelope = bookContract(), tenon.OpenAPIMCP
			e := one(tt.tool, answer(tenon.Response{})).Catalog().Find("get_book")
			input, output := e.Schemas()
			if got := strings.Contains(string(input), `"confirmed"`); got != tt.argument {
				t.Errorf("the argument is published: %v", got)
			}
			if got := strings.Contains(string(output), `"confirmation_request"`); got != tt.structure {
				t.Errorf("the structure is published: %v", got)
			}
		})
	}
}

// A consent to one tool is none to another, whatever the arguments.
func TestConsentIsForOneTool(t *testing.T) {
	called := map[string]int{}
	var tools []tenon.Tool
	for _, name := range []string{"delete_book", "delete_shop"} {
		tools = append(tools, tenon.Tool{Name: name, Confirmation: tenon.ConfirmRule{Mode: tenon.ConfirmArg, Action: tenon.DeleteResource}, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			called[name]++
			return tenon.Response{Status: 204}, nil
		}})
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{}), gateway.Options{})
	get(t, g, "delete_book", "ann", `{"id":1}`)
	get(t, g, "delete_shop", "ann", `{"id":1,"confirmed":true}`)
	if called["delete_shop"] != 0 {
		t.Error("a consent to another tool counted")
	}
	if get(t, g, "delete_book", "ann", `{"id":1,"confirmed":true}`); called["delete_book"] != 1 {
		t.Error("the consent was lost")
	}
}

// A form of a tool's own is a consent only where it is accepted.
func TestDeclinedFormsOfATool(t *testing.T) {
	for action, sends := range map[string]int{"accept": 1, "decline": 0, "cancel": 0} {
		called := 0
		tool := tenon.Tool{Confirm: func([]byte) (tenon.InputRequest, error) {
			return tenon.FormRequest("", "Sure?", []byte(`{"type":"object"}`)), nil
		}}
		g := one(tool, func(context.Context, *tenon.Call) (tenon.Response, error) {
			called++
			return jsonResponse(200, `{}`), nil
		})
		if _, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Requester: says(action, `{}`)}); err != nil || called != sends {
			t.Errorf("%s: called %d times, %v", action, called, err)
		}
	}
}
