package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// laterDemands go on where demands ends.
func laterDemands() []demand {
	version, call := "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"
	return []demand{
		{"a form that is filled in wrongly never reaches who asked", checkForm},
		{"what is said before the answer makes it an event stream", checkStream},
		{"without a session only POST is served", verdictOf(func() *http.Request {
			r := postModern("tools/list", "", "")
			r.Method = http.MethodGet
			return r
		}, 405, -32600, "")},
		{"values of headers are compared with their case", verdictOf(func() *http.Request {
			return post(modernBody("tools/call", `"name":"greet"`), version, call, "Mcp-Name: GREET")
		}, 400, -32020, "")},
		{"discover is served without anything before it", verdictOf(func() *http.Request { return postModern("server/discover", "", "") }, 200, 0, `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`)},
		{"only calls, prompts and resources have rounds", checkRounds},
		{"an answer that needs input says which, and has a state", func(*testing.T) string {
			return missing(round("", forms), `"inputRequests":{"who":`, `"requestState":"`)
		}},
		{"the keys of questions are unique", checkKeys},
		{"several subscriptions live side by side", checkSeveral},
		{"an annotation that breaks a rule binds no header", checkBoundLegal},
		{"a header carries no integer that JavaScript cannot", bound(`{"deep":{"count":9007199254740992}}`, -32020, "Mcp-Param-Count: 9007199254740992")},
		{"an answer has the id of its request", verdictOf(func() *http.Request { return post(`{"jsonrpc":"2.0","id":"x\u0031","method":"ping"}`) }, 200, 0, `"id":"x\u0031"`)},
		{"nothing but messages is on the output of stdio", checkOnlyMessages},
		{"what was asked before the input ended is answered", checkDrain},
		{"the end of the input ends the conversation", checkEnd},
		{"calls at a time are bounded", checkBusy},
		{"initialize is answered with a version that is served", verdictOf(func() *http.Request {
			return post(legacyBody("initialize", `"protocolVersion":"2031-01-01"`))
		}, 200, 0, `"protocolVersion":"2025-11-25"`)},
	}
}

func checkStream(*testing.T) string {
	said := talking(`"progressToken":1`)
	if !strings.HasPrefix(said, "event: message\ndata: {") {
		return said
	}
	if quiet := talking(""); !strings.HasPrefix(quiet, "{") {
		return "nothing was said, and it is no JSON: " + quiet
	}
	return ""
}

// checkRounds: a completion that wants to ask is an error of the server.
func checkRounds(*testing.T) string {
	o := tenon.Features{Prompts: []tenon.Prompt{{
		Name: "p", Get: func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) { return nil, nil },
		Complete: func(context.Context, string, string, map[string]string) ([]string, error) {
			return nil, &tenon.InputRequiredError{Requests: []tenon.InputRequest{tenon.FormRequest("a", "?", []byte(`{}`))}}
		},
	}}}
	s := server.New(gateway.New(gateway.Build([]gateway.Mount{{Features: o}}, gateway.BuildOptions{}), gateway.Options{}), server.Options{})
	body := answer(s, postModern("completion/complete", "", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`)).Body.String()
	return missing(body, `"code":-32603`)
}

func checkKeys(*testing.T) string {
	twice := tool("twice", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		_, err := c.RequestInput(ctx, tenon.FormRequest("a", "1?", []byte(`{}`)), tenon.FormRequest("a", "2?", []byte(`{}`)))
		return tenon.Response{}, err
	})
	s := serve(server.Options{}, twice)
	r := post(withMeta("1", "tools/call", `"name":"twice"`, forms, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: twice")
	return missing(answer(s, r).Body.String(), `"code":-32603`)
}

func checkSeveral(t *testing.T) string {
	s := open(t, server.Options{}, catalog(fixtures()...))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var both []*response
	for _, id := range []string{"1", "2"} {
		w := s.modern(ctx, listenBody(id, `{"toolsListChanged":true}`), "subscriptions/listen", "")
		if problem := missing(w.next(), "acknowledged"); problem != "" {
			return problem
		}
		both = append(both, w)
	}
	s.gateway.Swap(catalog(fixtures()...))
	for i, w := range both {
		if problem := missing(w.next(), "list_changed", fmt.Sprintf(`subscriptionId":%d`, i+1)); problem != "" {
			return problem
		}
	}
	return ""
}

// checkBoundLegal: clients refuse such a tool, so no header is wanted for it.
func checkBoundLegal(*testing.T) string {
	for name, properties := range map[string]string{
		"no token":           `"a":{"type":"string","x-mcp-header":"no token"}`,
		"empty":              `"a":{"type":"string","x-mcp-header":""}`,
		"twice, case aside":  `"a":{"type":"string","x-mcp-header":"Same"},"b":{"type":"string","x-mcp-header":"sAME"}`,
		"on a number":        `"n":{"type":"number","x-mcp-header":"Number"}`,
		"below alternatives": `"a":{"type":"string","x-mcp-header":"Fine"},"c":{"anyOf":[{"properties":{"d":{"type":"string","x-mcp-header":"Deep"}}}]}`,
	} {
		s := serve(server.Options{}, annotated("locate", properties))
		headers := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: locate"}
		w := answer(s, post(modernBody("tools/call", `"name":"locate","arguments":{"a":"x","b":"y","n":1}`), headers...))
		if problem := missing(w.Body.String(), "called"); problem != "" {
			return name + ": " + problem
		}
	}
	return ""
}

func checkOnlyMessages(t *testing.T) string {
	s := serve(server.Options{}, fixtures()...)
	out := talk(t, s, legacyBody("ping", "")+"\n\n"+legacyBody("tools/call", `"name":"say"`)+"\n")
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
			return line
		}
	}
	return ""
}

// checkDrain: the call ends after the input did.
func checkDrain(t *testing.T) (problem string) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		slow := tool("slow", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return tenon.Response{Content: []tenon.Content{{Text: []byte("late")}}}, ctx.Err()
		})
		s := serve(server.Options{}, slow)
		p := converse(t.Context(), s)
		p.send(legacyBody("tools/call", `"name":"slow"`))
		_ = p.in.Close()
		synctest.Wait()
		close(goOn)
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
		problem = missing(p.out.take(), "late")
	})
	return problem
}

func checkEnd(t *testing.T) (problem string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := serve(server.Options{}, fixtures()...)
		p := converse(ctx, s)
		p.send(legacyBody("ping", ""))
		_ = p.in.Close()
		synctest.Wait()
		select {
		case err := <-p.ended:
			if err != nil && !errors.Is(err, io.EOF) {
				problem = err.Error()
			}
		default:
			problem = "the conversation goes on"
			cancel()
			if err := <-p.ended; err != nil {
				t.Errorf("the conversation ended with %v", err)
			}
		}
	})
	return problem
}

// checkBusy: one call has its place, one waits for it, the third is refused.
func checkBusy(t *testing.T) (problem string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began, ended := make(chan string, 3), make(chan string, 3)
		var told []server.RefusalRecord
		s := serve(server.Options{MaxConcurrent: 1, TaskAfter: -1, Refused: func(r server.RefusalRecord) { told = append(told, r) }}, waiter(began, ended))
		results := make(chan *httptest.ResponseRecorder, 3)
		for range 3 {
			go func() { results <- answer(s, postModern("tools/call", "wait", `"name":"wait"`).WithContext(ctx)) }()
			synctest.Wait()
		}
		select {
		case w := <-results:
			if w.Code != 503 || w.Header().Get("Retry-After") == "" {
				problem = fmt.Sprint(w.Code, w.Body)
			}
			if len(told) != 1 || told[0].Status != 503 || told[0].Method != "tools/call" || told[0].Name != "wait" || told[0].Peer != "192.0.2.1" || told[0].Reason == "" {
				problem += fmt.Sprintf(" told of %+v", told)
			}
		default:
			problem = "all three are served"
		}
		cancel()
	})
	return problem
}
