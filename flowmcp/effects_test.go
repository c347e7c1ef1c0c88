package flowmcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// TestPayloadHoldsTheArguments passes arguments named like the request's own
// fields. They never hide what the tool declares, and undeclared ones never
// replace a field.
func TestPayloadHoldsTheArguments(t *testing.T) {
	const names = `url method headers body userParams serverParams status messages data`
	var declared, given []string
	for name := range strings.FieldsSeq(names) {
		declared = append(declared, `{ position: { key: '`+name+`', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } }`)
		given = append(given, `"`+name+`":"mine"`)
	}
	tool := func(parameters, tests string) string {
		return `a: { method: 'GET', path: '/echo', description: 'x', parameters: [ ` + parameters + ` ], tests: [ ` + tests + ` ] }`
	}
	const code = `
export const handlers = () => ({ a: { executeRequest: async ({ payload, struct }) => ({ response: { payload, url: struct.url, method: struct.method } }) } })`
	args := "{" + strings.Join(given, ",") + "}"
	for name, tt := range map[string]struct{ tool, args, want string }{
		"declared": {tool(strings.Join(declared, ","), ""), args, args},
		"given by a case": {
			tool("", `{ _description: 'x', method: 'mine' }`), `{"method":"mine"}`,
			`{"method":"mine","url":"https://shop.example/echo","headers":{},"body":{},"userParams":{"method":"mine"},"serverParams":{}}`,
		},
		"not declared": {
			tool("", `{ _description: 'x', open: 1 }`), `{"url":"https://evil.example/","userParams":{"a":1},"serverParams":{"b":1},"other":2}`,
			`{"url":"https://shop.example/echo","method":"GET","headers":{},"body":{},"other":2,"serverParams":{},` +
				`"userParams":{"url":"https://evil.example/","userParams":{"a":1},"serverParams":{"b":1},"other":2}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tool := load(t, file(tt.tool)+code, flowmcp.Options{Client: &http.Client{Transport: &seen{}}})
			response, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Payload     any
				URL, Method string
			}
			if err := json.Unmarshal(response.Body, &got); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got.Payload) != fmt.Sprint(decode(t, tt.want)) || got.Method != "GET" || !strings.HasPrefix(got.URL, "https://shop.example/echo") {
				t.Errorf("got %s\nwant %s", response.Body, tt.want)
			}
		})
	}
}

// TestHandlersSendWhatIsDeclared sends every method from the handlers of every
// kind of tool. No request exceeds the tool's declaration.
func TestHandlersSendWhatIsDeclared(t *testing.T) {
	meta := func(readOnly, destructive bool) string {
		return fmt.Sprintf("meta: { isReadOnly: %v, isConcurrencySafe: true, isDestructive: %v, searchHint: 'x', aliases: [], alwaysLoad: false }, ", readOnly, destructive)
	}
	const all = "GET HEAD OPTIONS POST PUT PATCH DELETE"
	for _, tt := range []struct{ method, meta, reads, writes, sent string }{
		{"GET", "", "", "", "GET HEAD OPTIONS"},
		{"GET", "", "shop", "", "GET HEAD OPTIONS POST"},
		{"GET", "", "shop/Test", "", "GET HEAD OPTIONS POST"},
		{"GET", "", "shop/Test::a", "", "GET HEAD OPTIONS POST"},
		{"GET", "", "shop/Test::b", "", "GET HEAD OPTIONS"},
		{"GET", "", "", "shop/Test::a", all},
		{"GET", "", "shop", "shop", all},
		{"GET", meta(true, false), "", "", "GET HEAD OPTIONS POST"},
		{"GET", meta(true, true), "", "", "GET HEAD OPTIONS POST"},
		{"GET", meta(false, false), "", "", "GET HEAD OPTIONS POST"},
		{"GET", meta(false, true), "", "", all},
		{"POST", "", "", "", "GET HEAD OPTIONS POST"},
		{"POST", meta(true, false), "", "", "GET HEAD OPTIONS POST"},
		{"POST", meta(false, true), "", "", all},
		{"PUT", "", "", "", "GET HEAD OPTIONS PUT"},
		{"PUT", meta(true, false), "", "", "GET HEAD OPTIONS PUT"},
		{"DELETE", "", "", "", "GET HEAD OPTIONS DELETE"},
		{"DELETE", meta(true, false), "shop", "", "GET HEAD OPTIONS DELETE"},
		{"DELETE", "", "", "shop", all},
	} {
		name := fmt.Sprintf("%s %s reads %q writes %q", tt.method, tt.meta, tt.reads, tt.writes)
		text := strings.Replace(handled(`executeRequest: async ({ struct, payload }) => {
			for (const method of payload.method.split(' ')) { try { await fetch(struct.url, { method, headers: payload.as ? { 'x-http-method-override': payload.as } : {} }) } catch {} }
			return { response: 'all went well' } }`), "method: 'GET', path: '/echo', description: 'x', parameters: []",
			"method: '"+tt.method+"', "+tt.meta+"path: '/echo', description: 'x', parameters: [], tests: [ { _description: 'x', method: 'GET', as: 'GET' } ]", 1)
		out := &seen{}
		tool := load(t, text, flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey, HandlerReads: []string{tt.reads}, HandlerWrites: []string{tt.writes}})
		readOnly := tool.Annotations.ReadOnly != nil && *tool.Annotations.ReadOnly
		repeatable := tool.Annotations.Idempotent != nil && *tool.Annotations.Idempotent
		asks := tool.Confirmation.Action != "" || tool.Annotations.Destructive != nil && *tool.Annotations.Destructive
		for method := range strings.FieldsSeq(all + " CONNECT TRACE") {
			want := strings.Contains(tt.sent, method)
			for _, args := range []string{`{"method":"` + method + `"}`, `{"method":"GET","as":"` + strings.ToLower(method) + `"}`} {
				out.all = nil
				response, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(args)})
				if sent := len(out.all) == 1; sent != want || (err == nil) != want {
					t.Errorf("%s: %s: sent %v, want %v: %s %v", name, args, sent, want, response.Body, err)
				}
				if !want && (err == nil || !strings.Contains(err.Error(), method) || !strings.Contains(err.Error(), "handler-writes shop/Test::a")) {
					t.Errorf("%s: %s: the error does not say what to do: %v", name, args, err)
				}
			}
			unsafe := method != "GET" && method != "HEAD" && method != "OPTIONS"
			switch {
			case !want || !unsafe:
			case readOnly && method != "POST":
				t.Errorf("%s: is read-only and sends %s", name, method)
			case method != "POST" && !asks && tt.method != method:
				t.Errorf("%s: sends %s and nobody is asked", name, method)
			case repeatable && (method == "POST" || method == "PATCH"):
				t.Errorf("%s: can be repeated and sends %s", name, method)
			}
			if want && unsafe && !readOnly {
				response, _ := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"method":"` + method + `"}`)})
				if response.Execution.Unsafe != tenon.Responded {
					t.Errorf("%s: %s arrived, and Sent says %v", name, method, response.Execution)
				}
			}
		}
	}
}

// TestPreRequestKeepsTheMethod changes the method of the request itself.
func TestPreRequestKeepsTheMethod(t *testing.T) {
	for _, tt := range []struct{ method, reads, writes, want string }{
		{"POST", "", "", "handler-reads shop/Test::a"},
		{"DELETE", "", "", "handler-writes shop/Test::a"},
		{"POST", "shop", "", ""},
		{"DELETE", "", "shop", ""},
		{"PATCH", "", "shop", "SEC101"},
		{"post", "", "shop", "SEC101"},
		{"GET", "", "", ""},
	} {
		out := &seen{}
		tool := load(t, handled(`preRequest: async ({ struct }) => { struct.method = '`+tt.method+`'; return { struct } }`),
			flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey, HandlerReads: []string{tt.reads}, HandlerWrites: []string{tt.writes}})
		_, err := tool.Handler(t.Context(), &tenon.Call{})
		if tt.want == "" && (err != nil || len(out.all) != 1 || !strings.Contains(out.all[0], "\n"+tt.method+" ")) ||
			tt.want != "" && (err == nil || len(out.all) != 0 || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; sent %q", tt.method, err, out.all)
		}
	}
}

// TestRedirectsKeepTheMethod redirects to other methods. The second request is
// a GET, or none.
func TestRedirectsKeepTheMethod(t *testing.T) {
	var arrived []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived = append(arrived, r.Method+" "+r.URL.Path)
		if code := r.URL.Query().Get("code"); code != "" {
			var status int
			_, _ = fmt.Sscan(code, &status)
			w.Header().Set("Location", "/second")
			w.WriteHeader(status)
		}
	}))
	defer upstream.Close()
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	tool := load(t, handled(`executeRequest: async ({ struct, payload }) => { await fetch(struct.url + '?code=' + payload.code, { method: payload.m }); return { response: 1 } }`),
		flowmcp.Options{BaseURL: upstream.URL, Client: client, Env: shopKey, HandlerReads: []string{"shop"}})
	for _, code := range []string{"301", "302", "303", "307", "308"} {
		for _, method := range []string{"GET", "POST"} {
			arrived = nil
			_, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"code":` + code + `,"m":"` + method + `"}`)})
			if err != nil || arrived[0] != method+" /echo" || len(arrived) == 2 && arrived[1] != "GET /second" {
				t.Errorf("%s %s: %q, %v", method, code, arrived, err)
			}
		}
	}
}

// TestUnsafeRequestsOfReadsAreFound has handlers that may send more than the
// tool that they belong to declares.
func TestUnsafeRequestsOfReadsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, tool, code string
		want             bool
	}{
		{"a fetch", "method: 'GET'", "const handlers = () => ({ a: { executeRequest: async () => ({ response: await fetch('https://shop.example/', { method: 'POST' }) }) } })", true},
		{"a fetch elsewhere", "method: 'GET'", "const ask = async (u) => fetch(u, { method: 'DELETE' }); export const handlers = () => ({ a: { executeRequest: async () => ({ response: await ask('https://shop.example/') }) } })", true},
		{"the method of the struct", "method: 'GET'", "const handlers = () => ({ a: { preRequest: async ({ struct, payload }) => { struct.method = 'PUT'; return { struct, payload } } } })", true},
		{"a library", "method: 'GET'", "const handlers = ({ libraries }) => ({ a: { executeRequest: async () => ({ response: await new libraries.ethers.JsonRpcProvider('https://shop.example').getBlockNumber() }) } })", true},
		{"only reads", "method: 'GET'", "const handlers = () => ({ a: { executeRequest: async () => ({ response: await fetch('https://shop.example/', { method: 'GET' }) }) } })", false},
		{"that of another tool", "method: 'GET'", "const handlers = () => ({ a: { postRequest: async ({ response }) => ({ response }) }, b: { executeRequest: async () => ({ response: await fetch('https://shop.example/', { method: 'POST' }) }) } })", false},
		{"a POST", "method: 'POST'", "const handlers = () => ({ a: { executeRequest: async () => ({ response: await fetch('https://shop.example/', { method: 'POST' }) }) } })", false},
		{"a read by POST", "method: 'GET', meta: { isReadOnly: true }", "const handlers = () => ({ a: { executeRequest: async () => ({ response: await fetch('https://shop.example/', { method: 'POST' }) }) } })", false},
	} {
		if !strings.Contains(c.code, "export") {
			c.code = "export " + c.code
		}
		text := file(`a: { ` + c.tool + `, path: '/a', description: 'x', parameters: [] }, b: { method: 'POST', path: '/b', description: 'x', parameters: [] }`)
		if got := has(check(t, text+"\n"+c.code, flowmcp.Options{}), "SEC107", flowmcp.Warning); got != c.want {
			t.Errorf("%s: found %v", c.name, got)
		}
		if has(check(t, text+"\n"+c.code, flowmcp.Options{HandlerReads: []string{"shop"}, HandlerWrites: []string{"shop/Test::a"}}), "SEC107", flowmcp.Warning) {
			t.Errorf("%s: found though the operator allows it", c.name)
		}
	}
}

// TestNamesThatStandForNothing reports unknown names with suggestions.
func TestNamesThatStandForNothing(t *testing.T) {
	path := write(t, "Test.mjs", strings.Replace(file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [] }`), "tools:", "requiredLibraries: [ 'ethers' ], tools:", 1))
	for _, c := range []struct {
		o        flowmcp.Options
		reported string // empty: nothing
	}{
		{flowmcp.Options{HandlerReads: []string{"shop", "shop/Test", "shop/Test::a"}, HandlerWrites: []string{"shop"}, HandlerSecrets: []string{"shop/Test"}, Libraries: []string{"ethers"}}, ""},
		{flowmcp.Options{HandlerReads: []string{"shpo"}}, "--handler-reads shpo: matches no tool, file or namespace (did you mean shop?)"},
		{flowmcp.Options{HandlerWrites: []string{"shop/Test::b"}}, "--handler-writes shop/Test::b: matches no tool, file or namespace (did you mean shop/Test::a"},
		{flowmcp.Options{HandlerSecrets: []string{"shop/Test::a"}}, "--handler-secrets shop/Test::a: matches no file or namespace"},
		{flowmcp.Options{Libraries: []string{"ether"}}, "--allow-library ether: no file requires this library (did you mean ethers?)"},
	} {
		features, err := flowmcp.New(path, c.o).Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		reported := ""
		for _, f := range features.Diagnostics {
			if f.Kind == tenon.DiagnosticSelector {
				reported += f.String() + "\n"
			}
		}
		if (reported == "") != (c.reported == "") || !strings.Contains(reported, c.reported) {
			t.Errorf("reported %q, want %q", reported, c.reported)
		}
	}
}
