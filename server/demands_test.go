package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// demand is one rule of the protocol and how to see whether a server keeps it.
type demand struct {
	name  string
	check func(t *testing.T) (problem string) // empty: the rule is kept
}

func demands() []demand {
	version, list := "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"
	call, greet := "Mcp-Method: tools/call", modernBody("tools/call", `"name":"greet"`)
	encoded := "Mcp-Name: =?base64?" + base64.StdEncoding.EncodeToString([]byte("greet")) + "?="
	const v, c = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	meta := func(meta string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`
	}
	return []demand{
		{"a notification is accepted with 202 and no body", verdictOf(func() *http.Request { return post(`{"jsonrpc":"2.0","method":"notifications/x"}`, version) }, 202, 0, "")},
		{"a page of a foreign origin is refused with 403", verdictOf(func() *http.Request {
			return post(greet, version, call, "Mcp-Name: greet", "Origin: http://evil.example")
		}, 403, -32600, "")},
		{"a foreign host name on a loopback address is refused with 403", verdictOf(rebound, 403, -32600, "")},
		{"the version header equals the body", verdictOf(func() *http.Request { return post(greet, call, "Mcp-Name: greet") }, 400, -32020, "")},
		{"Mcp-Method equals the body", verdictOf(func() *http.Request { return post(greet, version, list, "Mcp-Name: greet") }, 400, -32020, "")},
		{"Mcp-Name equals the body", verdictOf(func() *http.Request { return post(greet, version, call, "Mcp-Name: echo") }, 400, -32020, "")},
		{"Mcp-Name in base64 is decoded before it is compared", verdictOf(func() *http.Request { return post(greet, version, call, encoded) }, 200, 0, "")},
		{"white space around a header is not part of it", verdictOf(func() *http.Request { return post(greet, version, call, "Mcp-Name:  greet ") }, 200, 0, "")},
		{"_meta names the version", verdictOf(func() *http.Request { return post(meta(c), version, list) }, 400, -32602, "has no io.modelcontextprotocol/protocolVersion")},
		{"_meta holds the client's capabilities", verdictOf(func() *http.Request { return post(meta(v), version, list) }, 400, -32602, "")},
		{"an unknown version is refused with the known ones", verdictOf(func() *http.Request {
			return post(strings.ReplaceAll(meta(v+","+c), "2026-07-28", "2031-01-01"), "MCP-Protocol-Version: 2031-01-01", list)
		}, 400, -32022, `"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2031-01-01"`)},
		{"an unknown method is 404", verdictOf(func() *http.Request { return postModern("tools/burn", "", "") }, 404, -32601, "")},
		{"every result names its type", verdictOf(func() *http.Request { return postModern("tools/call", "greet", `"name":"greet"`) }, 200, 0, `"resultType":"complete"`)},
		{"lists and discover say for how long they hold", verdictOf(func() *http.Request { return postModern("server/discover", "", "") }, 200, 0, `"ttlMs":300000,"cacheScope":"public"`)},
		{"what is not declared is not served", verdictOf(func() *http.Request { return postModern("resources/list", "", "") }, 404, -32601, "")},
		{"a question is never a request of the server's own", checkNoRequests},
		{"nothing is asked that the client did not declare", checkAble},
		{"a state that was tampered with is refused", checkState},
		{"a state belongs to its request", checkBinding},
		{"a missing answer is asked for again", checkAskAgain},
		{"answers that nobody asked for are ignored", checkUnknownKeys},
		{"the acknowledgement comes first", checkAcknowledge},
		{"every message of a subscription names it", checkSubscription},
		{"only what was asked for is sent", checkFilter},
		{"a subscription that the server ends has a result", checkGoodbye},
		{"closing the stream cancels the call", checkDisconnect},
		{"nothing is sent for a cancelled request", checkSilence},
		{"no log message without a level", checkLogLevel},
		{"progress grows", checkProgress},
		{"headers that repeat arguments equal them", bound(`{"region":"eu"}`, -32020, "Mcp-Param-Region: us")},
		{"such a header is absent where its argument is", bound(`{"region":null}`, -32020, "Mcp-Param-Region: eu")},
		{"numbers are compared as numbers", bound(`{"deep":{"count":42.0}}`, 0, "Mcp-Param-Count: 42")},
		{"an id is a string or an integer", verdictOf(func() *http.Request { return post(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`) }, 400, -32600, "")},
		{"a message on stdio is one line", checkOneLine},
		{"only 2025-03-26 has batches", verdictOf(func() *http.Request {
			return post(`[`+legacyBody("ping", "")+`]`, "MCP-Protocol-Version: 2025-11-25")
		}, 400, -32600, "")},
		{"a batch is bounded", verdictOf(func() *http.Request {
			return post(`[` + strings.Repeat(legacyBody("ping", "")+",", 50) + legacyBody("ping", "") + `]`)
		}, 400, -32600, "")},
		{"an ended session is 404", checkSession},
		{"a link is text before 2025-06-18", verdictOf(func() *http.Request { return post(legacyBody("tools/call", `"name":"link"`)) }, 200, 0, `{"type":"text","text":"shop://book/1"}`)},
	}
}

// verdictOf checks one exchange: its status, its error's code, and a part of
// its text.
func verdictOf(request func() *http.Request, status, code int, part string) func(*testing.T) string {
	return func(*testing.T) string {
		s := serve(server.Options{}, append(fixtures(), linker())...)
		w := answer(s, request())
		var m struct{ Error struct{ Code int } }
		_ = json.Unmarshal(w.Body.Bytes(), &m) // an array or nothing has no code
		if w.Code != status || m.Error.Code != code || !strings.Contains(w.Body.String(), part) || status == 202 && w.Body.Len() > 0 {
			return fmt.Sprintf("want %d, %d and %q, got %d: %s", status, code, part, w.Code, w.Body)
		}
		return ""
	}
}

// rebound is a request under a foreign name that came in on loopback.
func rebound() *http.Request {
	r := postModern("tools/list", "", "")
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
}

const forms = `{"elicitation":{}}`

// round makes a request of the tool that asks.
func round(params, capabilities string) string {
	s := serve(server.Options{Secret: []byte("shared")}, asker(), echo())
	if params != "" {
		params = "," + params
	}
	r := post(withMeta("1", "tools/call", `"name":"ask"`+params, capabilities, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: ask")
	return answer(s, r).Body.String()
}

func stateOf(body string) string {
	var m struct{ Result struct{ RequestState string } }
	_ = json.Unmarshal([]byte(body), &m) // no state is an empty one
	return m.Result.RequestState
}

func missing(text string, parts ...string) string {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return "there is no " + p + " in " + text
		}
	}
	return ""
}

func checkNoRequests(*testing.T) string {
	body := round("", forms)
	if strings.Contains(body, "data: ") {
		return body
	}
	return missing(body, `"resultType":"input_required"`, `"inputRequests":{"who":{"method":"elicitation/create","params":{"mode":"form"`, `"requestState":"`)
}

func checkAble(*testing.T) string {
	return missing(round("", `{"sampling":{}}`), `"code":-32021`, `"requiredCapabilities":{"elicitation":{"form":{}}}`)
}

const ada = `"inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}`

func checkState(*testing.T) string {
	state := stateOf(round("", forms))
	if problem := missing(round(ada+`,"requestState":"`+state+`"`, forms), `accept {\"name\":\"Ada\"}`); problem != "" {
		return problem
	}
	return missing(round(ada+`,"requestState":"`+state[:len(state)-4]+`AAAA"`, forms), `"code":-32602`)
}

func checkBinding(*testing.T) string {
	state := stateOf(round(`"arguments":{"a":1,"b":2}`, forms))
	if problem := missing(round(ada+`,"arguments":{ "b":2,"a":1},"requestState":"`+state+`"`, forms), "Ada"); problem != "" {
		return problem
	}
	return missing(round(ada+`,"arguments":{"a":1},"requestState":"`+state+`"`, forms), `"code":-32602`)
}

func checkAskAgain(*testing.T) string {
	state := stateOf(round("", forms))
	for _, responses := range []string{`{}`, `{"who":7}`, `{"who":{"action":"perhaps"}}`, `{"who":{"action":"accept"}}`} {
		again := round(`"inputResponses":`+responses+`,"requestState":"`+state+`"`, forms)
		if problem := missing(again, `"resultType":"input_required"`); problem != "" {
			return problem
		}
	}
	return ""
}

// checkUnknownKeys answers the second question in the first round.
func checkUnknownKeys(*testing.T) string {
	two := tool("two", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		for _, key := range []string{"first", "second"} {
			if _, err := c.RequestInput(ctx, tenon.InputRequest{Key: key, Kind: tenon.Roots}); err != nil {
				return tenon.Response{}, err
			}
		}
		return tenon.Response{Content: []tenon.Content{}}, nil
	})
	s := serve(server.Options{}, two)
	ask := func(params string) string {
		return answer(s, post(withMeta("1", "tools/call", `"name":"two"`+params, `{"roots":{}}`, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: two")).Body.String()
	}
	state := stateOf(ask(""))
	return missing(ask(`,"inputResponses":{"first":{"roots":[]},"second":{"roots":[]}},"requestState":"`+state+`"`), `"inputRequests":{"second":`)
}

func listenBody(id, notifications string) string {
	return withMeta(id, "subscriptions/listen", `"notifications":`+notifications, "{}", "")
}

func checkAcknowledge(t *testing.T) string {
	s := open(t, server.Options{}, catalog(fixtures()...))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan string)
	go func() {
		first <- s.modern(ctx, listenBody(`"a"`, `{"toolsListChanged":true}`), "subscriptions/listen", "").next()
	}()
	// The first message may be any but a change that came before it.
	for {
		s.gateway.Swap(catalog(fixtures()...))
		select {
		case m := <-first:
			return missing(m, `"notifications/subscriptions/acknowledged"`, `"notifications":{"toolsListChanged":true}`)
		default:
		}
	}
}

// listening opens a subscription and reads its acknowledgement.
func listening(t *testing.T, notifications string) (*stand, *response, context.CancelFunc) {
	s := open(t, server.Options{}, catalog(fixtures()...))
	ctx, cancel := context.WithCancel(t.Context())
	w := s.modern(ctx, listenBody("7", notifications), "subscriptions/listen", "")
	w.next()
	return s, w, cancel
}

func checkSubscription(t *testing.T) string {
	s, w, cancel := listening(t, `{"toolsListChanged":true}`)
	defer cancel()
	s.gateway.Swap(catalog(fixtures()...))
	return missing(w.next(), `"method":"notifications/tools/list_changed"`, `"_meta":{"io.modelcontextprotocol/subscriptionId":7}`)
}

func checkFilter(t *testing.T) string {
	s, w, cancel := listening(t, `{}`)
	defer cancel()
	s.gateway.Swap(catalog(fixtures()...))
	go func() { _ = s.server.Shutdown(t.Context()) }()
	if m := w.next(); strings.Contains(m, "list_changed") {
		return m
	}
	return ""
}

func checkGoodbye(t *testing.T) string {
	s, w, cancel := listening(t, `{"toolsListChanged":true}`)
	defer cancel()
	go func() { _ = s.server.Shutdown(t.Context()) }()
	return missing(w.next(), `"id":7,"result":{"resultType":"complete"`, `"io.modelcontextprotocol/subscriptionId":7`)
}

func checkDisconnect(t *testing.T) (problem string) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := make(chan string, 1), make(chan string, 1)
		s := serve(server.Options{}, waiter(began, ended))
		ctx, cancel := context.WithCancel(t.Context())
		var client sync.WaitGroup
		client.Go(func() { answer(s, postModern("tools/call", "wait", `"name":"wait"`).WithContext(ctx)) })
		<-began
		cancel()
		synctest.Wait()
		if len(ended) == 0 {
			problem = "the call goes on"
		}
		client.Wait()
	})
	return problem
}

func checkSilence(t *testing.T) (problem string) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := make(chan string, 1), make(chan string, 1)
		s := serve(server.Options{}, waiter(began, ended))
		p := converse(t.Context(), s)
		p.send(legacyBody("tools/call", `"name":"wait"`))
		<-began
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		<-ended
		synctest.Wait()
		problem = p.out.take()
		p.close(t)
	})
	return problem
}

func talking(meta string) string {
	s := serve(server.Options{}, talker())
	r := post(withMeta("1", "tools/call", `"name":"talk"`, "{}", meta), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: talk")
	return answer(s, r).Body.String()
}

func checkLogLevel(*testing.T) string {
	if problem := missing(talking(`"io.modelcontextprotocol/logLevel":"info"`), `"method":"notifications/message","params":{"level":"info","data":{"said":"something"}}`); problem != "" {
		return problem
	}
	if s := talking(""); strings.Contains(s, "notifications/message") {
		return s
	}
	return ""
}

func checkProgress(*testing.T) string {
	s := talking(`"progressToken":"t\u00e9"`)
	if n := strings.Count(s, "notifications/progress"); n != 2 {
		return fmt.Sprintf("%d notifications in %s", n, s)
	}
	return missing(s, `"params":{"progressToken":"t\u00e9","progress":1,"total":3,"message":"begun"}`, `"progress":2,"total":3}`)
}

const annotations = `"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"count":{"type":"integer","x-mcp-header":"Count"}}}`

func bound(arguments string, code int, headers ...string) func(*testing.T) string {
	return func(*testing.T) string {
		s := serve(server.Options{}, annotated("locate", annotations))
		headers := append([]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: locate"}, headers...)
		w := answer(s, post(modernBody("tools/call", `"name":"locate","arguments":`+arguments), headers...))
		var m struct{ Error struct{ Code int } }
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m.Error.Code != code || (w.Code == 400) != (code != 0) {
			return fmt.Sprintf("%v %d %s", err, w.Code, w.Body)
		}
		return ""
	}
}

func checkOneLine(t *testing.T) string {
	lines := tool("lines", func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Content: []tenon.Content{}, Meta: []byte("{\n\"a\":\n[\n1\n,\n2]}")}, nil
	})
	s := serve(server.Options{}, lines)
	if out := talk(t, s, legacyBody("tools/call", `"name":"lines"`)+"\n"); strings.Count(out, "\n") != 1 {
		return out
	}
	return ""
}

func checkSession(t *testing.T) string {
	s := open(t, server.Options{}, catalog(fixtures()...))
	id := s.session("2025-11-25", "{}")
	if w := s.post(legacyBody("ping", ""), id); w.StatusCode != http.StatusOK {
		return w.Status
	}
	if w := s.do(t.Context(), http.MethodDelete, "", id); w.StatusCode != http.StatusNoContent {
		return w.Status
	}
	if w := s.post(legacyBody("ping", ""), id); w.StatusCode != http.StatusNotFound {
		return w.Status
	}
	return ""
}
