package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// answered is a tool that answers with fixed bytes and whose contract is off,
// so that results hold what the handler gave and nothing else.
func answered(name, media, body string) tenon.Tool {
	return tool(name, func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{MediaType: media, Body: []byte(body)}, nil
	})
}

func tool(name string, h tenon.Handler) tenon.Tool {
	return tenon.Tool{Name: name, Policy: tenon.Off, Handler: h}
}

// passed is the _meta of JSON whose contract is off.
const passed = `"_meta":{"tenon/contract":{"verdict":"unchecked","executed":"yes","retry":"safe","mediaType":"application/json"}},`

// echo answers with its own arguments.
func echo() tenon.Tool {
	return tool("echo", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		return tenon.Response{MediaType: "application/json", Body: c.Args}, nil
	})
}

// fixtures are the tools that most tests call.
func fixtures() []tenon.Tool {
	return []tenon.Tool{
		answered("greet", "application/json", `{"hello":"world"}`),
		echo(),
		answered("say", "text/plain", "so be it"),
		answered("draw", "image/png", "\x89PNG"),
		answered("sing", "audio/wav", "RIFF"),
		answered("pack", "application/zip", "PK"),
		tool("fail", func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{}, &tenon.Error{Code: tenon.CodeNetwork, Message: "nobody answered", Err: errors.New("dial 10.0.0.7: secret")}
		}),
	}
}

func catalog(tools ...tenon.Tool) *gateway.Catalog {
	return gateway.Build([]gateway.Mount{{Name: "test", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{})
}

func serve(o server.Options, tools ...tenon.Tool) *server.Server {
	o.Name, o.Version = "test", "1.2.3"
	return server.New(gateway.New(catalog(tools...), gateway.Options{}), o)
}

// many are n tools with numbered names.
func many(n int, description string) []tenon.Tool {
	tools := make([]tenon.Tool, n)
	for i := range tools {
		tools[i] = answered(fmt.Sprintf("tool_%d", i), "application/json", `{}`)
		tools[i].Description = description
	}
	return tools
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// modernBody is a request of 2026-07-28 with params beside its _meta.
func modernBody(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + modernMeta + `}}`
}

// legacyBody is a request as it was before.
func legacyBody(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}

// post makes a request as a client of the legacy era sends it; each header
// is "Name: value", and an empty value takes one away.
func post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://tenon.example/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Add(name, value)
		}
	}
	return r
}

// postModern makes a request of 2026-07-28.
func postModern(method, name, params string) *http.Request {
	headers := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		headers = append(headers, "Mcp-Name: "+name)
	}
	return post(modernBody(method, params), headers...)
}

func answer(s *server.Server, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// talk gives lines to a conversation over stdio and returns what came back.
func talk(t *testing.T, s *server.Server, in string) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Errorf("the conversation ended with %v", err)
	}
	return out.String()
}

// pipe is a conversation that goes on while the test looks at it.
type pipe struct {
	in    *io.PipeWriter
	out   *output
	ended chan error
}

func converse(ctx context.Context, s *server.Server) *pipe {
	r, w := io.Pipe()
	p := &pipe{in: w, out: &output{}, ended: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(ctx, r, p.out)
		_ = r.Close()
		p.ended <- err
	}()
	return p
}

// close ends the input and waits for the end of the conversation.
func (p *pipe) close(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	if err := <-p.ended; err != nil {
		t.Errorf("the conversation ended with %v", err)
	}
}

// tick lets a second pass.
func (p *pipe) tick() { time.Sleep(time.Second) }

func (p *pipe) send(line string) { _, _ = io.WriteString(p.in, line+"\n") }
