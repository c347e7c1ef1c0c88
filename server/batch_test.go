package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// asked is one message of a batch.
func asked(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

func TestBatch(t *testing.T) {
	s := serve(server.Options{}, append(fixtures(), talker())...)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string // the whole answer; empty: none
	}{
		"answers in the order of the requests": {`[` + asked("1", "ping", "") + `,` + asked(`"b"`, "ping", "") + `]`, 200, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]`},
		"a faulty message costs only itself":   {`[7,` + asked("2", "ping", "") + `]`, 200, `[{"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a message is a JSON object"}},{"jsonrpc":"2.0","id":2,"result":{}}]`},
		"notifications want no answer":         {`[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"result":{}}]`, 202, ``},
		"initialize is not part of one":        {`[` + asked("1", "initialize", `"protocolVersion":"2025-03-26"`) + `]`, 200, `[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request: initialize is not part of a batch"}}]`},
		"a batch is no message of one":         {`[[]]`, 200, `[{"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a batch holds messages, not batches"}}]`},
		"an empty one":                         {`[]`, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: an empty batch"}}`},
		"half of one":                          {`[` + asked("1", "ping", "") + `,`, 400, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error: offset 54: the message ends too early"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if w := answer(s, post(c.body, "Accept: ", "Accept: application/json")); w.Code != c.status || w.Body.String() != c.want {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
	t.Run("a stream where one says more", func(t *testing.T) {
		w := answer(s, post(`[`+asked("1", "ping", "")+`,`+asked("2", "tools/call", `"name":"talk"`)+`]`))
		if problem := missing(w.Body.String(), "notifications/message", `data: {"jsonrpc":"2.0","id":1,"result":{}}`, `data: {"jsonrpc":"2.0","id":2,`); problem != "" {
			t.Error(problem)
		}
	})
}

func TestBatchOverStdio(t *testing.T) {
	for revision, batched := range map[string]bool{"2025-03-26": true, "2025-06-18": false} {
		s := serve(server.Options{}, fixtures()...)
		synctest.Test(t, func(t *testing.T) {
			p := converse(t.Context(), s)
			p.send(legacyBody("initialize", `"protocolVersion":"`+revision+`"`))
			synctest.Wait()
			p.out.take()
			p.send(`[` + asked("1", "ping", "") + `,` + asked("2", "ping", "") + `]`)
			synctest.Wait()
			out := p.out.take()
			if got := strings.HasPrefix(out, `[{"jsonrpc"`) && strings.HasSuffix(out, "}]\n"); got != batched {
				t.Errorf("%s: %s", revision, out)
			}
			p.close(t)
		})
	}
}

func TestQuestionOverStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := converse(t.Context(), serve(server.Options{}, asker()))
		p.send(legacyBody("initialize", `"protocolVersion":"2025-11-25","capabilities":`+forms))
		p.send(asked("2", "tools/call", `"name":"ask"`))
		synctest.Wait()
		if problem := missing(p.out.take(), `{"jsonrpc":"2.0","id":"tenon-1","method":"elicitation/create"`); problem != "" {
			t.Fatal(problem)
		}
		p.send(`{"jsonrpc":"2.0","id":"tenon-1","result":{"action":"cancel"}}`)
		synctest.Wait()
		if problem := missing(p.out.take(), `"id":2,"result"`, "cancel"); problem != "" {
			t.Error(problem)
		}
		p.close(t)
	})
}

func TestQuestionIsWithdrawnWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := converse(t.Context(), serve(server.Options{}, asker()))
		p.send(legacyBody("initialize", `"protocolVersion":"2025-11-25","capabilities":`+forms))
		p.send(asked("2", "tools/call", `"name":"ask"`))
		synctest.Wait()
		p.out.take()
		// The gateway ends a call after a minute.
		if problem := missing(p.wait(`"id":2,`), `"method":"notifications/cancelled","params":{"requestId":"tenon-1"}`, `"isError":true`); problem != "" {
			t.Error(problem)
		}
		p.close(t)
	})
}

// wait lets time pass until the output holds a text.
func (p *pipe) wait(text string) string {
	out := ""
	for !strings.Contains(out, text) {
		synctest.Wait()
		out += p.out.take()
		p.tick()
	}
	return out
}

func TestSubscriptionsOverStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateway.New(gateway.Build([]gateway.Mount{{Features: library()}}, gateway.BuildOptions{}), gateway.Options{})
		p := converse(t.Context(), server.New(g, server.Options{}))
		p.send(listenBody(`"tools"`, `{"toolsListChanged":true}`))
		p.send(listenBody(`2`, `{"resourceSubscriptions":["shop://book/1"],"promptsListChanged":true}`))
		synctest.Wait()
		p.out.take()
		g.Notify(gateway.Event{URI: "shop://book/1"})
		synctest.Wait()
		if got, want := p.out.take(), `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2},"uri":"shop://book/1"}}`+"\n"; got != want {
			t.Errorf("got %s", got)
		}
		g.Swap(g.Catalog())
		synctest.Wait()
		if problem := missing(p.out.take(), `"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"tools"}}`,
			`"notifications/prompts/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}`); problem != "" {
			t.Error(problem)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		synctest.Wait()
		g.Swap(g.Catalog())
		synctest.Wait()
		if out := p.out.take(); strings.Contains(out, "prompts") || strings.Contains(out, `"id":2`) {
			t.Errorf("the cancelled one goes on: %s", out)
		}
		p.close(t)
		if problem := missing(p.out.take(), `{"jsonrpc":"2.0","id":"tools","result":{"resultType":"complete"`); problem != "" {
			t.Error(problem)
		}
	})
}

func TestLegacyChangesOverStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateway.New(catalog(fixtures()...), gateway.Options{})
		p := converse(t.Context(), server.New(g, server.Options{}))
		g.Swap(catalog(fixtures()...))
		synctest.Wait()
		if out := p.out.take(); out != "" {
			t.Errorf("before initialize came %s", out)
		}
		p.send(legacyBody("initialize", `"protocolVersion":"2025-06-18"`))
		synctest.Wait()
		p.out.take()
		g.Swap(catalog(fixtures()...))
		synctest.Wait()
		if got, want := p.out.take(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n"; got != want {
			t.Errorf("got %s", got)
		}
		p.close(t)
	})
}

func TestSubscriptionRules(t *testing.T) {
	s := serve(server.Options{MaxListeners: 1}, fixtures()...)
	listen := func(params string, headers ...string) *http.Request {
		return post(withMeta("1", "subscriptions/listen", params, "{}", ""), append(headers, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")...)
	}
	for name, c := range map[string]rule{
		"what to listen to is missing":   {request: listen(``), want: verdict{200, -32602}},
		"what to listen to is no object": {request: listen(`"notifications":[]`), want: verdict{200, -32602}},
		"a client that takes no stream":  {request: listen(`"notifications":{}`, "Accept: ", "Accept: application/json"), want: verdict{406, -32600}},
	} {
		if got, body := judge(t, s, c.request); got != c.want {
			t.Errorf("%s: got %+v: %s", name, got, body)
		}
	}
}

func TestBadAnnotationsAreVoid(t *testing.T) {
	for name, properties := range map[string]string{
		"not a token":       `"a":{"type":"string","x-mcp-header":"a b"}`,
		"empty":             `"a":{"type":"string","x-mcp-header":""}`,
		"twice":             `"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`,
		"on a number":       `"a":{"type":"number","x-mcp-header":"A"}`,
		"on an object":      `"a":{"type":"object","x-mcp-header":"A"}`,
		"below items":       `"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`,
		"below anyOf":       `"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}`,
		"one good, one bad": `"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"null","x-mcp-header":"B"}`,
	} {
		s := serve(server.Options{}, annotated("locate", properties))
		w := answer(s, postModern("tools/call", "locate", `"name":"locate","arguments":{"a":"x"}`))
		var m struct{ Error json.RawMessage }
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m.Error != nil {
			t.Errorf("%s: %v %s", name, err, w.Body)
		}
	}
}

func TestBoundArguments(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		code      int
		headers   []string
	}{
		"equal":                             {`{"region":"eu","deep":{"count":-7}}`, 0, []string{"Mcp-Param-Region: eu", "mcp-param-count: -7"}},
		"none":                              {`{}`, 0, nil},
		"no arguments at all":               {`null`, 0, nil},
		"null needs no header":              {`{"region":null}`, 0, nil},
		"the header is missing":             {`{"region":"eu"}`, -32020, nil},
		"the header stands there twice":     {`{"region":"eu"}`, -32020, []string{"Mcp-Param-Region: eu", "Mcp-Param-Region: eu"}},
		"the case counts":                   {`{"region":"eu"}`, -32020, []string{"Mcp-Param-Region: EU"}},
		"base64":                            {`{"region":"Zürich"}`, 0, []string{"Mcp-Param-Region: =?base64?WsO8cmljaA==?="}},
		"what belongs into base64":          {`{"region":"Zürich"}`, -32020, []string{"Mcp-Param-Region: Zürich"}},
		"broken base64":                     {`{"region":"eu"}`, -32020, []string{"Mcp-Param-Region: =?base64?eu?="}},
		"a header that no argument goes to": {`{}`, 0, []string{"Mcp-Param-Unknown: x"}},
		"another number":                    {`{"deep":{"count":7}}`, -32020, []string{"Mcp-Param-Count: 8"}},
		"no number":                         {`{"deep":{"count":7}}`, -32020, []string{"Mcp-Param-Count: seven"}},
	} {
		t.Run(name, func(t *testing.T) {
			if problem := bound(c.arguments, c.code, c.headers...)(t); problem != "" {
				t.Error(problem)
			}
		})
	}
}
