package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// stand is a server on a socket, with the gateway behind it.
type stand struct {
	t       *testing.T
	url     string
	gateway *gateway.Gateway
	server  *server.Server
}

func open(t *testing.T, o server.Options, c *gateway.Catalog) *stand {
	t.Helper()
	g := gateway.New(c, gateway.Options{})
	s := server.New(g, o)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return &stand{t: t, url: web.URL, gateway: g, server: s}
}

// response is a response whose body may still come.
type response struct {
	*http.Response
	lines *bufio.Scanner
}

// do sends a request; headers are "Name: value".
func (s *stand) do(ctx context.Context, method, body string, headers ...string) *response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = w.Body.Close() })
	return &response{Response: w, lines: bufio.NewScanner(w.Body)}
}

func (s *stand) post(body string, headers ...string) *response {
	return s.do(s.t.Context(), http.MethodPost, body, headers...)
}

// modern sends a request of 2026-07-28.
func (s *stand) modern(ctx context.Context, body, method, name string) *response {
	headers := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		headers = append(headers, "Mcp-Name: "+name)
	}
	return s.do(ctx, http.MethodPost, body, headers...)
}

// session opens a session of a revision and returns the header that names it.
func (s *stand) session(revision, capabilities string) string {
	s.t.Helper()
	w := s.post(legacyBody("initialize", `"protocolVersion":"`+revision+`","capabilities":`+capabilities))
	id := w.Header.Get("Mcp-Session-Id")
	if id == "" {
		s.t.Fatal("no session was opened")
	}
	return "Mcp-Session-Id: " + id
}

// all returns the whole body.
func (r *response) all() string {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// next returns the data of the next event that has some; empty: the stream
// has ended.
func (r *response) next() string {
	for r.lines.Scan() {
		if data, ok := strings.CutPrefix(r.lines.Text(), "data: "); ok && data != "" {
			return data
		}
	}
	return ""
}

// asker asks for a name and greets whoever says one.
func asker() tenon.Tool {
	return tool("ask", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		a, err := c.RequestInput(ctx, tenon.FormRequest("who", "Who is it?", []byte(`{"type":"object","properties":{"name":{"type":"string"}}}`)))
		if err != nil {
			return tenon.Response{}, err
		}
		return tenon.Response{Content: []tenon.Content{{Text: fmt.Appendf(nil, "%s %s", a[0].Action, a[0].Body)}}}, nil
	})
}

// talker says more than its answer.
func talker() tenon.Tool {
	return tool("talk", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		c.NotifyProgress(1, 3, "begun")
		c.NotifyProgress(1, 3, "again")
		c.NotifyProgress(0.5, 3, "back")
		c.NotifyProgress(2, 3, "")
		c.Log("info", map[string]string{"said": "something"})
		c.Log("debug", "too light")
		return tenon.Response{Content: []tenon.Content{{Text: []byte("done")}}}, nil
	})
}

// waiter says that it began and waits for its end.
func waiter(began, ended chan string) tenon.Tool {
	return tool("wait", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
		began <- "began"
		<-ctx.Done()
		ended <- "ended"
		return tenon.Response{}, ctx.Err()
	})
}

// annotated is a tool whose arguments stand in headers too.
func annotated(name, properties string) tenon.Tool {
	t := answered(name, "text/plain", "called")
	t.RawSchemas = true
	t.Contract = tenon.Contract{Input: []byte(`{"type":"object","properties":{` + properties + `}}`)}
	return t
}

func linker() tenon.Tool {
	return tool("link", func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Content: []tenon.Content{{Type: tenon.ResourceLink, URI: "shop://book/1", Name: "book"}}}, nil
	})
}

// withMeta is a request of 2026-07-28 with capabilities and more in its _meta.
func withMeta(id, method, params, capabilities, meta string) string {
	if params != "" {
		params += ","
	}
	if meta != "" {
		meta = "," + meta
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + meta + `}}}`
}
