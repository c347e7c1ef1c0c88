package flowmcp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// TestKeysInBodiesAreEscaped: a key with a quote and an ampersand adds no member
// and no field.
func TestKeysInBodiesAreEscaped(t *testing.T) {
	for body, read := range map[string]func(text string) string{
		`JSON.stringify({ k: struct.headers['X-Shop-Key'] }), headers: { 'content-type': 'application/json' }`: func(text string) string {
			var got map[string]string
			if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 1 {
				t.Errorf("%s: %v", text, err)
			}
			return got["k"]
		},
		`new URLSearchParams({ k: struct.headers['X-Shop-Key'] })`: func(text string) string {
			got, err := url.ParseQuery(text)
			if err != nil || len(got) != 1 {
				t.Errorf("%s: %v", text, err)
			}
			return got.Get("k")
		},
	} {
		out := &seen{}
		text := strings.Replace(handled(`executeRequest: async ({ struct }) => ({ response: await (await fetch(struct.url, { method: 'POST', body: `+body+` })).json() })`), "method: 'GET'", "method: 'POST'", 1)
		tool := load(t, text, flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey})
		if _, err := tool.Handler(t.Context(), &tenon.Call{}); err != nil || len(out.all) != 1 {
			t.Fatal(err, out.all)
		}
		_, sent, _ := strings.Cut(out.all[0], "\r\n\r\n")
		if got := read(sent); got != canary {
			t.Errorf("%s: the key arrives as %q in %s", body, got, sent)
		}
	}
}

// TestHandlersSeeNoKeyInResponses has an upstream that repeats the key.
func TestHandlersSeeNoKeyInResponses(t *testing.T) {
	out := sameAnswer{header: http.Header{"Content-Type": {"text/plain"}, "X-Echo": {canary}}, body: "your key is " + canary}
	tool := load(t, handled(`executeRequest: async ({ struct }) => {
		const r = await fetch(struct.url, { headers: struct.headers })
		return { response: [ (await r.text()).includes('c4nary'), r.headers.get('x-echo').includes('c4nary') ] } }`),
		flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey})
	response, err := tool.Handler(t.Context(), &tenon.Call{})
	if err != nil || string(response.Body) != `[false,false]` {
		t.Errorf("%s, %v", response.Body, err)
	}
}

// moving redirects from one host to another that the file names, too.
type moving struct{ arrived http.Header }

func (m *moving) RoundTrip(r *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{}`)), ContentLength: -1, Request: r}
	if r.URL.Host == "shop.example" {
		res.StatusCode = http.StatusFound
		res.Header.Set("Location", "https://other.example/there")
		return res, nil
	}
	m.arrived = r.Header.Clone()
	return res, nil
}

func TestRedirectsTakeNoKeyToAnotherHost(t *testing.T) {
	out := &moving{}
	tool := load(t, handled(`executeRequest: async ({ struct }) => {
		const names = [ 'https://other.example/' ]
		return { response: await (await fetch(struct.url, { headers: { ...struct.headers, accept: 'application/json' } })).json() } }`),
		flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey})
	_, err := tool.Handler(t.Context(), &tenon.Call{})
	if err != nil || out.arrived == nil {
		t.Fatalf("it is not followed: %v", err)
	}
	if out.arrived.Get("X-Shop-Key") != "" || out.arrived.Get("Accept") != "application/json" {
		t.Errorf("other.example gets %v", out.arrived)
	}
}

// TestTheWorstOfSeveralRequestsCounts: what can be repeated or was lost is told of
// all requests of a call together.
func TestTheWorstOfSeveralRequestsCounts(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/lost") {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	defer upstream.Close()
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	for requests, want := range map[string]tenon.Execution{
		`put('')`:               {Unsafe: tenon.Responded, Idempotent: true},
		`put(''); put('')`:      {Unsafe: tenon.Responded, Idempotent: true},
		`post(''); put('')`:     {Unsafe: tenon.Responded},
		`put(''); post('')`:     {Unsafe: tenon.Responded},
		`post('/lost')`:         {Unsafe: tenon.NoResponse},
		`post('/lost');put('')`: {Unsafe: tenon.NoResponse},
	} {
		tool := load(t, handled(`executeRequest: async ({ struct }) => {
			const send = (method) => async (path) => { try { await fetch(struct.url + path, { method }) } catch {} }
			const put = send('PUT'), post = send('POST')
			`+strings.NewReplacer("put(", "await put(", "post(", "await post(").Replace(requests)+`
			return { response: 1 } }`), flowmcp.Options{Client: client, BaseURL: upstream.URL, Env: shopKey, HandlerWrites: []string{"shop"}})
		response, err := tool.Handler(t.Context(), &tenon.Call{})
		if err != nil || response.Execution != want {
			t.Errorf("%s: %+v, want %+v (%v)", requests, response.Execution, want, err)
		}
	}
}

// TestRowsAreBounded passes the tool's input validation by.
func TestRowsAreBounded(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "resources", "stock.db"), books()...)
	path := filepath.Join(dir, "Asking.mjs")
	writeAt(t, path, asking(`postRequest: async ({ response }) => ({ response })`))
	source := flowmcp.New(path, flowmcp.Options{Worker: worker(), ProjectDir: dir})
	t.Cleanup(func() { _ = source.Close() })
	features, err := source.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range features.Tools {
		if !strings.HasPrefix(strings.ToLower(tool.Name), "runsql") {
			continue
		}
		response, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"sql":"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 3000) SELECT x FROM c","limit":5000}`)})
		if n := strings.Count(string(response.Body), `"x"`); err != nil || n != 1000 {
			t.Errorf("%d rows, %v", n, err)
		}
		return
	}
	t.Fatal("there is no tool for SQL")
}
