package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// plainTools are tools of every envelope and every outcome.
func plainTools() []tenon.Tool {
	upstream := func(status int, body string) tenon.Handler {
		return func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: status, MediaType: "application/json", Body: []byte(body), Header: http.Header{"Etag": {"x"}}}, nil
		}
	}
	withEnvelope := func(name string, env tenon.Envelope, h tenon.Handler) tenon.Tool {
		return tenon.Tool{Name: name, Envelope: env, Policy: tenon.Warn, Handler: h}
	}
	return append(fixtures(),
		withEnvelope("found", tenon.OpenAPIMCP, upstream(200, `{"id":9007199254740993}`)),
		withEnvelope("lost", tenon.OpenAPIMCP, upstream(404, `{"why":"gone"}`)),
		withEnvelope("list", tenon.Native, upstream(200, `[1,2]`)),
		withEnvelope("bad", tenon.Native, upstream(503, `{}`)),
		withEnvelope("odd", tenon.Native, func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{}, &tenon.Error{Code: `"},{`, Message: "of its own"}
		}),
		asker(), talker(),
	)
}

func plainPost(s *server.Server, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.JSONRPC().ServeHTTP(w, r)
	return w
}

func TestJSONRPC(t *testing.T) {
	s := serve(server.Options{}, plainTools()...)
	const ok = `{"jsonrpc":"2.0","id":1,"result":{`
	for name, c := range map[string]struct{ method, params, want string }{
		"its own env stays":            {"tools/call", `"name":"found"`, `"OutputFormat":"structured","OutputType":"json","type":"api_response","data":{"id":9007199254740993},"metadata":{"status_code":200`},
		"and stands beside MCP's form": {"tools/call", `"name":"found"`, `},"content":[{"type":"text","text":"{\"OutputFormat\"`},
		"an error of that env":         {"tools/call", `"name":"lost"`, `"type":"error","error":{"code":"not_found"`},
		"a native value is the data":   {"tools/call", `"name":"greet"`, ok + passed + `"OutputFormat":"structured","OutputType":"json","type":"api_response","data":{"hello":"world"},"metadata":{}`},
		"a native list is the data":    {"tools/call", `"name":"list"`, `"type":"api_response","data":[1,2],"metadata":{`},
		"a native failure":             {"tools/call", `"name":"fail"`, `"retry":"safe","code":"network_error"}},"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":"network_error","message":"nobody answered"`},
		"a native upstream's failure":  {"tools/call", `"name":"bad"`, `"type":"error","error":{"code":"server_error"`},
		"a code of an author's own":    {"tools/call", `"name":"odd"`, `"type":"error","error":{"code":"\"},{","message":"of its own"`},
		"what came with it":            {"tools/call", `"name":"bad"`, `"details":{"status":503`},
		"and what to do":               {"tools/call", `"name":"bad"`, `"suggestions":["The service failed`},
		"a failure is no error":        {"tools/call", `"name":"bad"`, `"isError":true}}`},
		"content of its own":           {"tools/call", `"name":"talk"`, `"OutputFormat":"unstructured","OutputType":"text","type":"api_response","data":"done"`},
		"nobody can be asked":          {"tools/call", `"name":"ask"`, `"type":"error","error":{"code":"request_error"`},
		"an unknown tool":              {"tools/call", `"name":"nobody"`, `"error":{"code":-32602`},
		"the list":                     {"tools/list", ``, ok + `"tools":[{"name":"greet"`},
		"ping":                         {"ping", ``, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"no handshake":                 {"initialize", `"protocolVersion":"2025-11-25"`, `"error":{"code":-32601`},
		"no resources":                 {"resources/list", ``, `"error":{"code":-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			w := plainPost(s, post(legacyBody(c.method, c.params), "Accept: "))
			if problem := missing(w.Body.String(), c.want); problem != "" || w.Code != http.StatusOK {
				t.Errorf("%d: %s", w.Code, problem)
			}
		})
	}
}

func TestJSONRPCAdmits(t *testing.T) {
	s := serve(server.Options{AllowedOrigins: []string{"https://friend.example"}}, fixtures()...)
	ping := legacyBody("ping", "")
	preflight := func(origin string) *http.Request {
		r := post("", "Origin: "+origin, "Access-Control-Request-Method: POST")
		r.Method = http.MethodOptions
		return r
	}
	get := post("")
	get.Method = http.MethodGet
	for name, c := range map[string]struct {
		request *http.Request
		status  int
		allowed string
	}{
		"a program":                        {post(ping), 200, ""},
		"plain text, as any page may send": {post(ping, "Content-Type: ", "Content-Type: text/plain"), 415, ""},
		"no type":                          {post(ping, "Content-Type: "), 415, ""},
		"a page of a named origin":         {post(ping, "Origin: https://friend.example"), 200, "https://friend.example"},
		"a page of another origin":         {post(ping, "Origin: https://evil.example"), 403, ""},
		"a page of the host that it names": {post(ping, "Origin: http://tenon.example"), 403, ""},
		"a question of a named origin":     {preflight("https://friend.example"), 204, "https://friend.example"},
		"a question of another origin":     {preflight("https://evil.example"), 403, ""},
		"GET":                              {get, 405, ""},
		"a batch":                          {post("[" + ping + "]"), 400, ""},
		"a notification":                   {post(`{"jsonrpc":"2.0","method":"x"}`), 202, ""},
		"a foreign host on loopback":       {rebound(), 403, ""},
	} {
		w := plainPost(s, c.request)
		if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != c.status || got != c.allowed {
			t.Errorf("%s: got %d for %q, want %d for %q", name, w.Code, got, c.status, c.allowed)
		}
	}
}
