package openapi_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
)

// outward is the program's own client, which may reach the upstreams.
func outward(t *testing.T, upstreams ...*httptest.Server) *http.Client {
	t.Helper()
	var hosts []string
	for _, u := range upstreams {
		hosts = append(hosts, u.Listener.Addr().String())
	}
	c, err := egress.NewClient(egress.Options{AllowHosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// methods is a document with one operation for each kind of request.
const methods = `{"openapi":"3.0.0","paths":{"/{what}":{
	"parameters":[{"name":"what","in":"path","required":true,"schema":{"type":"string"}}],
	"get":{"operationId":"get"},"post":{"operationId":"post"},"put":{"operationId":"put"}},
	"/safe/{what}":{"post":{"operationId":"safe","x-mcp-safe":true}},
	"/again/{what}":{"post":{"operationId":"again","x-mcp-idempotent":true}}}}`

// upstream answers, or fails, by the last segment of the path.
func upstream(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
	case "json":
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-Page", "2")
		_, _ = w.Write([]byte(`{"n":9007199254740993}`))
	case "bare-json":
		w.Header()["Content-Type"] = nil
		_, _ = w.Write([]byte(`[1]`))
	case "bare-bytes":
		w.Header()["Content-Type"] = nil
		_, _ = w.Write([]byte{0xff, 0})
	case "latin":
		w.Header().Set("Content-Type", "text/csv; charset=iso-8859-1")
		_, _ = w.Write([]byte("caf\xe9"))
	case "latin-json":
		w.Header().Set("Content-Type", "application/json; charset=iso-8859-1")
		_, _ = w.Write([]byte("\"caf\xe9\""))
	case "mislabelled-json":
		w.Header().Set("Content-Type", "application/json; charset=iso-8859-1")
		_, _ = w.Write([]byte(`"café"`))
	case "labelled-bytes":
		w.Header().Set("Content-Type", "image/png; charset=iso-8859-1")
		_, _ = w.Write([]byte("\x89PNG"))
	case "klingon":
		w.Header().Set("Content-Type", "text/plain; charset=klingon")
		_, _ = w.Write([]byte("caf\xe9"))
	case "empty":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNoContent)
	case "teapot":
		http.Error(w, "short and stout", http.StatusTeapot)
	case "short":
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"half":`))
	case "big":
		_, _ = w.Write(make([]byte, 2000))
	case "reset":
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_ = c.Close()
	case "slow":
		<-r.Context().Done()
	}
}

func TestResponses(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(upstream))
	defer s.Close()
	offer := load(t, methods, openapi.Options{Client: outward(t, s), BaseURL: s.URL, MaxResponse: 1000, TrustMarks: true})
	none := tenon.Execution{}
	read := tenon.Execution{Reads: tenon.NoResponse} // whether an answer came is seen by its status
	answered := tenon.Execution{Unsafe: tenon.Responded}
	unknown := tenon.Execution{Unsafe: tenon.NoResponse}
	repeatable := func(s tenon.Execution) tenon.Execution { s.Idempotent = true; return s }
	for _, c := range []struct {
		name, tool, what string
		status           int
		media, body      string
		code             tenon.Code
		sent             tenon.Execution
	}{
		{"JSON", "get", "json", 200, "application/json; charset=utf-8", `{"n":9007199254740993}`, "", read},
		{"JSON without a type", "get", "bare-json", 200, "application/json", `[1]`, "", read},
		{"bytes without a type", "get", "bare-bytes", 200, "application/octet-stream", "\xff\x00", "", read},
		{"text in another charset", "get", "latin", 200, "text/csv; charset=iso-8859-1", "café", "", read},
		{"text in an unknown charset", "get", "klingon", 200, "text/plain; charset=klingon", "caf\xe9", "", read},
		{"JSON in another charset", "get", "latin-json", 200, "application/json; charset=iso-8859-1", `"café"`, "", read},
		{"JSON that only says so", "get", "mislabelled-json", 200, "application/json; charset=iso-8859-1", `"café"`, "", read},
		{"bytes with a charset", "get", "labelled-bytes", 200, "image/png; charset=iso-8859-1", "\x89PNG", "", read},
		{"empty", "get", "empty", 204, "", "", "", read},
		{"an error status is an answer", "get", "teapot", 418, "text/plain; charset=utf-8", "short and stout\n", "", read},
		{"POST", "post", "json", 200, "application/json; charset=utf-8", `{"n":9007199254740993}`, "", answered},
		{"PUT", "put", "empty", 204, "", "", "", repeatable(answered)},
		{"POST marked safe", "safe", "empty", 204, "", "", "", read},
		{"POST marked idempotent", "again", "empty", 204, "", "", "", repeatable(answered)},
		{"broken off", "post", "short", 200, "text/plain; charset=utf-8", `{"half":`, tenon.CodeNetwork, unknown},
		{"too large", "get", "big", 200, "application/octet-stream", string(make([]byte, 1000)), tenon.CodeRequest, read},
		{"reset", "post", "reset", 0, "", "", tenon.CodeNetwork, unknown},
		{"reset of a GET", "get", "reset", 0, "", "", tenon.CodeNetwork, read},
		{"argument that cannot be sent", "post", "..", 0, "", "", tenon.CodeValidation, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			respond, err := named(t, offer, c.tool).Handler(t.Context(), &tenon.Call{Args: []byte(`{"what":"` + c.what + `"}`)})
			if tenon.CodeOf(err) != c.code {
				t.Errorf("error %v, want %s", err, c.code)
			}
			if respond.Status != c.status || respond.Execution != c.sent {
				t.Errorf("status %d, sent %v; want %d, %v", respond.Status, respond.Execution, c.status, c.sent)
			}
			if err != nil {
				return
			}
			if d := cmp.Diff([]string{c.media, c.body}, []string{respond.MediaType, string(respond.Body)}); d != "" {
				t.Error(d)
			}
			if c.what == "json" && respond.Header.Get("X-Page") != "2" {
				t.Errorf("header %v", respond.Header)
			}
		})
	}
}

func named(t *testing.T, offer tenon.Features, name string) tenon.Tool {
	t.Helper()
	for _, tool := range offer.Tools {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return tenon.Tool{}
}

func TestTimeout(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(upstream))
	defer s.Close()
	offer := load(t, methods, openapi.Options{Client: outward(t, s), BaseURL: s.URL, Timeout: 2 * time.Second})
	respond, err := named(t, offer, "post").Handler(t.Context(), &tenon.Call{Args: []byte(`{"what":"slow"}`)})
	if tenon.CodeOf(err) != tenon.CodeTimeout || respond.Execution != (tenon.Execution{Unsafe: tenon.NoResponse}) {
		t.Errorf("%v, %v", respond.Execution, err)
	}
}

func TestNothingListens(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c, err := egress.NewClient(egress.Options{AllowHosts: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	offer := load(t, methods, openapi.Options{Client: c, BaseURL: "http://" + addr})
	respond, err := named(t, offer, "post").Handler(t.Context(), &tenon.Call{Args: []byte(`{"what":"json"}`)})
	if tenon.CodeOf(err) != tenon.CodeNetwork || respond.Execution != (tenon.Execution{}) {
		t.Errorf("%v, %v", respond.Execution, err)
	}
}

func TestPrivateAddressIsRefusedByDefault(t *testing.T) {
	offer := load(t, methods, openapi.Options{BaseURL: "http://127.0.0.1:1"})
	_, err := named(t, offer, "get").Handler(t.Context(), &tenon.Call{Args: []byte(`{"what":"x"}`)})
	if tenon.CodeOf(err) != tenon.CodeNetwork || !strings.Contains(err.Error(), "--allow-private-host 127.0.0.1:1") {
		t.Errorf("%v", err)
	}
}

func TestFailuresNameNoSecret(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(upstream))
	defer s.Close()
	doc := operation30("/{what}", `"parameters":[{"name":"key","in":"query","schema":{}},{"name":"X-Key","in":"header","schema":{}}]`)
	offer := load(t, doc, openapi.Options{Client: outward(t, s), BaseURL: s.URL, Header: http.Header{"Authorization": {"Bearer s3cret"}}})
	for _, what := range []string{"reset", "short"} {
		_, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(`{"what":"` + what + `","key":"s3cret","X-Key":"s3cret"}`)})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
