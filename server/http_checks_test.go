package server_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/server"
)

// at makes r come in on a local address, as http.Server tells it.
func at(addr string, r *http.Request) *http.Request {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		panic(err)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(tcp)))
}

func host(name string, r *http.Request) *http.Request {
	r.Host = name
	return r
}

func TestWhoMayAsk(t *testing.T) {
	ok, no := verdict{status: 200}, verdict{403, -32600}
	ping := legacyBody("ping", "")
	const loop, loop6, lan = "127.0.0.1:80", "[::1]:80", "192.0.2.1:80"
	check(t, serve(server.Options{}, fixtures()...), []rule{
		{"on loopback under its address", at(loop, host("127.0.0.1:80", post(ping))), ok},
		{"on loopback as localhost", at(loop, host("localhost:80", post(ping))), ok},
		{"on loopback as LOCALHOST without a port", at(loop, host("LOCALHOST", post(ping))), ok},
		{"on loopback of version 6", at(loop6, host("[::1]:80", post(ping))), ok},
		{"on loopback of version 6 without a port", at(loop6, host("[::1]", post(ping))), ok},
		{"on loopback under a foreign name", at(loop, host("evil.example", post(ping))), no},
		{"on loopback under a name that looks like it", at(loop, host("localhost.evil.example", post(ping))), no},
		{"on loopback without a name", at(loop, host("", post(ping))), no},
		{"on loopback under a port that is none", at(loop, host("127.0.0.1:20303.evil", post(ping))), no},
		{"on loopback under a port that is too long", at(loop, host("localhost:000080", post(ping))), no},
		{"on loopback under user information", at(loop, host("localhost@evil.example", post(ping))), no},
		{"on loopback under a bracket that is not closed", at(loop6, host("[::1", post(ping))), no},
		{"on loopback under a bracketed name", at(loop, host("[localhost]", post(ping))), no},
		{"elsewhere under its address", at(lan, host("192.0.2.1:80", post(ping))), ok},
		{"elsewhere under its address of version 6", at("[2001:db8::1]:80", host("[2001:db8::1]:80", post(ping))), ok},
		{"elsewhere under another address", at(lan, host("192.0.2.2:80", post(ping))), no},
		{"elsewhere under a foreign name", at(lan, host("evil.example", post(ping))), no},
		{"elsewhere as localhost", at(lan, host("localhost", post(ping))), no},
		{"from a page of a foreign origin", at(lan, host("192.0.2.1", post(ping, "Origin: https://evil.example"))), no},
		{"from a page of the host that was called", at(lan, host("192.0.2.1:80", post(ping, "Origin: http://192.0.2.1:80"))), no},
		{"from a page without an origin", at(lan, host("192.0.2.1", post(ping, "Origin: null"))), no},
		{"from two origins", at(lan, host("a", post(ping, "Origin: http://a", "Origin: http://b"))), no},
		{"on loopback from a page of this machine", at(loop, host("localhost:80", post(ping, "Origin: http://localhost:6274"))), ok},
		{"on loopback from a page whose port is none", at(loop, host("localhost:80", post(ping, "Origin: http://localhost:80.evil"))), no},
		{"elsewhere from a page of this machine", at(lan, host("192.0.2.1", post(ping, "Origin: http://localhost:6274"))), no},
		{"on loopback from a file", at(loop, host("localhost", post(ping, "Origin: file://localhost"))), no},
	})
	check(t, serve(server.Options{AllowedOrigins: []string{"https://app.example"}, AllowedHosts: []string{"tenon.example"}}, fixtures()...), []rule{
		{"an allowed origin", at(lan, host("tenon.example", post(ping, "Origin: https://app.example"))), ok},
		{"an allowed origin without its s", at(lan, host("tenon.example", post(ping, "Origin: http://app.example"))), no},
		{"a page of an allowed host", at(lan, host("tenon.example", post(ping, "Origin: https://tenon.example"))), no},
		{"an allowed origin and another", at(lan, host("tenon.example", post(ping, "Origin: https://app.example", "Origin: http://evil.example"))), no},
		{"an allowed host on loopback", at(loop, host("Tenon.Example:443", post(ping))), ok},
		{"loopback names stay allowed on loopback", at(loop, host("localhost", post(ping))), ok},
		{"another host, elsewhere", at(lan, host("evil.example", post(ping))), no},
		{"the address that was called", at(lan, host("192.0.2.1", post(ping))), ok},
		{"a loopback name, elsewhere", at(lan, host("localhost", post(ping))), no},
	})
	check(t, serve(server.Options{AllowedHosts: []string{"*"}}, fixtures()...), []rule{
		{"any host", at(lan, host("any.example", post(ping))), ok},
		{"what is no host", at(lan, host("any.example:x", post(ping))), no},
	})
	check(t, serve(server.Options{AllowedOrigins: []string{"*"}}, fixtures()...), []rule{
		{"any origin", at(lan, host("192.0.2.1", post(ping, "Origin: null"))), ok},
	})
}

func TestCallersAreKnown(t *testing.T) {
	o := server.Options{AllowedOrigins: []string{"https://app.example"}, Authenticate: func(r *http.Request) (context.Context, string, error) {
		switch key := r.Header.Get("X-Key"); key {
		case "a", "b":
			return r.Context(), key, nil
		}
		return nil, "", errors.New("the key is missing")
	}}
	s := serve(o, fixtures()...)
	ok, no := verdict{status: 200}, verdict{401, -32600}
	ping := legacyBody("ping", "")
	check(t, s, []rule{
		{"a caller", post(ping, "X-Key: a"), ok},
		{"nobody", post(ping), no},
		{"nobody with what is no JSON", post("{", "X-Key: c"), no},
		{"nobody's batch", post("[" + ping + "]"), no},
	})
	for key, want := range map[string]int{"a": 200, "": 401} {
		w := httptest.NewRecorder()
		s.JSONRPC().ServeHTTP(w, post(ping, "X-Key: "+key))
		if w.Code != want {
			t.Errorf("at the JSON-RPC endpoint, key %q: %d: %s", key, w.Code, w.Body)
		}
	}
	w := answer(s, post(ping, "Origin: https://app.example"))
	if w.Header().Get("WWW-Authenticate") != "Bearer" || w.Header().Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("a page cannot read why it was refused: %v", w.Header())
	}
	preflight := post("", "Origin: https://app.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-key")
	preflight.Method = http.MethodOptions
	if w := answer(s, preflight); w.Code != http.StatusNoContent {
		t.Errorf("a browser that asks whether it may send a key is answered %d", w.Code)
	}
	id := answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-06-18"`), "X-Key: a")).Header().Get("Mcp-Session-Id")
	check(t, s, []rule{
		{"a caller's own session", post(ping, "X-Key: a", "Mcp-Session-Id: "+id), ok},
		{"another caller's session", post(ping, "X-Key: b", "Mcp-Session-Id: "+id), verdict{404, -32600}},
	})
}

func TestFormOfRequests(t *testing.T) {
	ok := verdict{status: 200}
	ping := legacyBody("ping", "")
	method := func(m string) *http.Request { r := post(ping); r.Method = m; return r }
	unknownLength := func(body string) *http.Request { r := post(body); r.ContentLength = -1; return r }
	spaces := func(n int) string { return ping + strings.Repeat(" ", n-len(ping)) }
	check(t, serve(server.Options{MaxBody: 1000}, fixtures()...), []rule{
		{"GET has no stream to offer", method("GET"), verdict{405, -32600}},
		{"DELETE has no session to end", method("DELETE"), verdict{405, -32600}},
		{"PUT", method("PUT"), verdict{405, -32600}},
		{"JSON with parameters", post(ping, "Content-Type: ", "Content-Type: Application/JSON; charset=utf-8"), ok},
		{"no media type", post(ping, "Content-Type: "), verdict{415, -32600}},
		{"text", post(ping, "Content-Type: ", "Content-Type: text/plain"), verdict{415, -32600}},
		{"a media type that only begins like it", post(ping, "Content-Type: ", "Content-Type: application/jsonx"), verdict{415, -32600}},
		{"a compressed body", post(ping, "Content-Encoding: gzip"), verdict{415, -32600}},
		{"no Accept takes anything", post(ping, "Accept: "), ok},
		{"anything", post(ping, "Accept: ", "Accept: */*"), ok},
		{"any application type", post(ping, "Accept: ", "Accept: text/html, application/*;q=0.5"), ok},
		{"only events", post(ping, "Accept: ", "Accept: text/event-stream"), verdict{406, -32600}},
		{"two Accepts", post(ping, "Accept: ", "Accept: text/event-stream", "Accept: application/json"), ok},
		{"JSON is the one thing that is not taken", post(ping, "Accept: ", "Accept: text/event-stream, application/json;q=0.0"), verdict{406, -32600}},
		{"a body at the limit", post(spaces(1000)), ok},
		{"a body over the limit", post(spaces(1001)), verdict{413, -32600}},
		{"a body of unknown length at the limit", unknownLength(spaces(1000)), ok},
		{"a body of unknown length over the limit", unknownLength(spaces(1001)), verdict{413, -32600}},
	})
	w := answer(serve(server.Options{}), method("GET"))
	if got := w.Header().Get("Allow"); got != "POST" {
		t.Errorf("Allow is %q", got)
	}
}
