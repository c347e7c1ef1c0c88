package flowmcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// endless responds with bodies of a given size and counts the bytes that are
// read.
type endless struct {
	bytes, announced int64
	read             atomic.Int64
}

type endlessBody struct {
	of   *endless
	left int64
}

func (b *endlessBody) Read(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'a'
	}
	b.left -= n
	b.of.read.Add(n)
	return int(n), nil
}

func (b *endlessBody) Close() error { return nil }

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &endlessBody{e, e.bytes}, ContentLength: e.announced, Request: r}, nil
}

// TestFetchesShareABudget reads 64 responses concurrently, a few of which fit.
// Beyond the limit, at most one chunk of each is read.
func TestFetchesShareABudget(t *testing.T) {
	const each, allowed, piece = 8 << 20, 64 << 20, 64 << 10
	for name, announced := range map[string]int64{"announced": each, "not announced": -1} {
		out := &endless{bytes: each, announced: announced}
		tool := load(t, handled(`executeRequest: async ({ struct }) => {
			const all = await Promise.allSettled(Array.from({ length: 64 }, () => fetch(struct.url).then((r) => r.status)))
			return { response: { good: all.filter((a) => a.status === 'fulfilled').length, why: all.find((a) => a.status === 'rejected')?.reason.message } } }`),
			flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey})
		response, err := tool.Handler(t.Context(), &tenon.Call{})
		if err != nil || !strings.Contains(string(response.Body), "67108864 bytes") {
			t.Errorf("%s: %s %v", name, response.Body, err)
		}
		most := int64(allowed)
		if announced < 0 {
			most += 64 * piece
		}
		if n := out.read.Load(); n > most {
			t.Errorf("%s: %d bytes were read", name, n)
		}
	}
}

// TestRedirectsOfFetch tries the modes of redirects and their targets.
func TestRedirectsOfFetch(t *testing.T) {
	foreign := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a foreign host was asked") }))
	defer foreign.Close()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			http.Redirect(w, r, "/there?key="+r.URL.Query().Get("key"), http.StatusFound)
		case "/away":
			http.Redirect(w, r, strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1)+"/", http.StatusFound)
		}
	}))
	defer upstream.Close()
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, init, want, failed string }{
		{"/echo", `{}`, `[200,true,"BASE/there?key="]`, ""},
		{"/there", `{}`, `[200,false,"BASE/there"]`, ""},
		{"/echo", `{ redirect: 'follow' }`, `[200,true,"BASE/there?key="]`, ""},
		{"/echo", `{ redirect: 'manual' }`, `[302,false,"BASE/echo"]`, ""},
		{"/echo", `{ redirect: 'error' }`, ``, "unexpected redirect"},
		{"/there", `{ redirect: 'error' }`, `[200,false,"BASE/there"]`, ""},
		{"/away", `{}`, ``, "is blocked: the host is not named in the schema file"},
		{"/away", `{ redirect: 'manual' }`, `[302,false,"BASE/away"]`, ""},
	} {
		tool := load(t, handled(`executeRequest: async ({ struct }) => { const r = await fetch(struct.url.replace('/echo', '`+tt.path+`'), `+tt.init+`); return { response: [ r.status, r.redirected, r.url ] } }`),
			flowmcp.Options{Client: client, BaseURL: upstream.URL, Env: shopKey})
		response, err := tool.Handler(t.Context(), &tenon.Call{})
		if want := strings.Replace(tt.want, "BASE", upstream.URL, 1); tt.failed == "" && (err != nil || string(response.Body) != want) {
			t.Errorf("%s %s: %s, want %s (%v)", tt.path, tt.init, response.Body, want, err)
		}
		if tt.failed != "" && (err == nil || !strings.Contains(err.Error(), tt.failed)) {
			t.Errorf("%s %s: %s %v", tt.path, tt.init, response.Body, err)
		}
	}
	t.Log("a key in the URL that answered is a marker for the code, and stays home")
	tool := load(t, handled(`executeRequest: async ({ struct }) => {
		const r = await fetch(struct.url + '?key=' + struct.headers['X-Shop-Key'])
		if (r.url.includes('c4nary')) throw new Error('the code sees the key')
		return { response: { redirected: r.redirected, marked: r.url.endsWith('/there?key=' + struct.headers['X-Shop-Key']) } } }`),
		flowmcp.Options{Client: client, BaseURL: upstream.URL, Env: func(name string) (string, bool) { return "c4nary-of-the-shop", name == "SHOP_KEY" }})
	if response, err := tool.Handler(t.Context(), &tenon.Call{}); err != nil || string(response.Body) != `{"redirected":true,"marked":true}` {
		t.Errorf("%s %v", response.Body, err)
	}
}

// TestFilesThatLoopWhileTheyLoad end within the time of a handler, as a timeout.
func TestFilesThatLoopWhileTheyLoad(t *testing.T) {
	for name, code := range map[string]string{
		"the factory": "\nexport const handlers = () => { for (;;) {} }",
		"the module":  "\nfor (;;) {}\nexport const handlers = () => ({ a: { postRequest: async ({ response }) => ({ response }) } })",
	} {
		tool := load(t, file(`a: { method: 'GET', path: '/echo', description: 'x', parameters: [] }`)+code,
			flowmcp.Options{Client: &http.Client{Transport: &seen{}}, HandlerTimeout: 200 * time.Millisecond})
		_, err := tool.Handler(t.Context(), &tenon.Call{})
		if tenon.CodeOf(err) != tenon.CodeTimeout {
			t.Errorf("%s: %v (%s)", name, err, tenon.CodeOf(err))
		}
	}
}
