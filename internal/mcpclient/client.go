// Package mcpclient is a client of MCP. It connects to a server over the pipes of
// a process or over streamable HTTP, lists its tools and calls them.
//
// It does not know who asks: no flags, no terminal, no format of output. Which
// addresses may be reached is for the HTTP client that it is given to decide, and
// which schemas results fit is not looked at.
//
// The shell and the demo of cmd/tenon speak to servers through it. A call and its
// result are those of the root, so that they can come from a handler and be its
// result as they are.
package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The revisions of MCP that a client speaks.
const (
	Legacy = "2025-06-18"           // nearly every server knows it; begins with Initialize
	Modern = jsonrpc.ModernRevision // each request stands for itself
)

const (
	maxAnswer    = 32 << 20 // bytes of one message over pipes, of one response over HTTP
	maxToolPages = 1000
	maxList      = 64 << 20 // bytes of a list of tools, all pages together

	maxCursorShown = 60
)

// Options say who the client is. Name and Version are required.
type Options struct {
	Name, Version string
	Revision      string // empty: Legacy

	// Elicitation says that calls have a Requester, which Legacy tells a server
	// once and for all. Modern tells it with each call that has one.
	Elicitation bool
}

// Client is a conversation with a server. It must be closed. Its methods are safe
// for concurrent use, once Initialize has returned.
type Client struct {
	options Options
	wire    wire
	last    atomic.Int64 // id of a request
}

// wire is the way to a server and back.
type wire interface {
	// exchange sends a request and hands over what the server says in its course,
	// until came reports that this was the response.
	exchange(ctx context.Context, r request, came func(*message) (last bool, err error)) error
	// send sends a message that has no response.
	send(ctx context.Context, message []byte) error
	close()
}

// request is a JSON-RPC request and what a header repeats of it.
type request struct {
	id, method, name string
	body             []byte
}

// failed says which request an error is about.
func (r request) failed(err error) error { return fmt.Errorf("%s: %w", r.method, err) }

// tooLong says in plain words that a line is longer than a message may be.
func tooLong(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("the server sent a message of more than %d MB", maxAnswer>>20)
	}
	return err
}

// message is what a server sends: a response, a request of its own or a
// notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *ServerError    `json:"error"`

	broken error // why it is none of these
}

func decode(raw []byte) *message {
	m := new(message)
	if err := json.Unmarshal(raw, m); err != nil {
		return &message{broken: fmt.Errorf("the server sent what is no JSON-RPC: %w", err)}
	}
	return m
}

// ServerError is the error that a server answers a request with.
type ServerError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *ServerError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }

// Close ends the conversation, and the process that Start started.
func (c *Client) Close() { c.wire.close() }

// request makes a request and returns the result. call, for tools/call, is told
// and asked what the server says meanwhile.
func (c *Client) request(ctx context.Context, method, name, params string, call *tenon.Call) (json.RawMessage, error) {
	r := request{id: strconv.FormatInt(c.last.Add(1), 10), method: method, name: name}
	r.body = append(r.body, `{"jsonrpc":"2.0","id":`+r.id+`,"method":"`+method+`","params":{`...)
	r.body = append(c.appendMeta(r.body, r.id, call), params...)
	if n := len(r.body) - 1; params == "" && r.body[n] == ',' {
		r.body = r.body[:n]
	}
	r.body = append(r.body, "}}"...)
	var result json.RawMessage
	err := c.wire.exchange(ctx, r, func(m *message) (bool, error) {
		switch {
		case m.broken != nil:
			return true, r.failed(m.broken)
		case m.Method != "" && m.ID != nil:
			return false, c.respond(ctx, m, call)
		case m.Method != "":
			notifyProgress(m, r.id, call)
			return false, nil
		case m.Error != nil:
			return true, r.failed(m.Error)
		}
		result = m.Result
		return true, nil
	})
	return result, err
}

// appendMeta writes the member _meta and a comma, where there is something to
// say.
func (c *Client) appendMeta(dst []byte, id string, call *tenon.Call) []byte {
	progress := ""
	if call != nil && call.ProgressFunc != nil {
		progress = `"progressToken":` + id
	}
	if c.options.Revision != Modern {
		if progress != "" {
			dst = append(dst, `"_meta":{`+progress+`},`...)
		}
		return dst
	}
	can := "{}"
	if call != nil && call.Requester != nil {
		can = `{"elicitation":{"form":{},"url":{}}}`
	}
	if progress != "" {
		progress = "," + progress
	}
	dst = append(dst, `"_meta":{"`+jsonrpc.MetaRevision+`":"`+Modern+`","`+jsonrpc.MetaClientInfo+`":`+c.info()+`,"`+jsonrpc.MetaCapabilities+`":`+can+progress+`},`...)
	return dst
}

// info is how the client identifies itself.
func (c *Client) info() string {
	b := rawjson.AppendString([]byte(`{"name":`), c.options.Name)
	b = rawjson.AppendString(append(b, `,"version":`...), c.options.Version)
	return string(append(b, '}'))
}

// Server is who answers.
type Server struct {
	Name, Version string
	Revision      string // in which it answers
	Instructions  string // for models
}

// Initialize begins the conversation. It comes before everything else, but in the
// revision Modern it may be left out.
func (c *Client) Initialize(ctx context.Context) (Server, error) {
	if c.options.Revision == Modern {
		return c.discover(ctx)
	}
	can := "{}"
	if c.options.Elicitation {
		can = `{"elicitation":{}}`
	}
	raw, err := c.request(ctx, "initialize", "", `"protocolVersion":"`+Legacy+`","capabilities":`+can+`,"clientInfo":`+c.info(), nil)
	if err != nil {
		return Server{}, err
	}
	var r struct {
		Version string                         `json:"protocolVersion"`
		Server  struct{ Name, Version string } `json:"serverInfo"`
		Text    string                         `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Server{}, err
	}
	s := Server{Name: r.Server.Name, Version: r.Server.Version, Revision: r.Version, Instructions: r.Text}
	return s, c.wire.send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

func (c *Client) discover(ctx context.Context) (Server, error) {
	raw, err := c.request(ctx, "server/discover", "", "", nil)
	if err != nil {
		return Server{}, err
	}
	var r struct {
		Meta struct {
			Server struct{ Name, Version string } `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
		Text string `json:"instructions"`
	}
	err = json.Unmarshal(raw, &r)
	return Server{Name: r.Meta.Server.Name, Version: r.Meta.Server.Version, Revision: Modern, Instructions: r.Text}, err
}

// Tool is a tool as the server lists it. Schemas are nil where there are none.
type Tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage

	Size int `json:"-"` // bytes of its JSON
}

// Tools lists all tools, of all pages.
func (c *Client) Tools(ctx context.Context) (all []Tool, err error) {
	for page, err := range c.Pages(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
	}
	return all, nil
}

// Pages lists the tools page by page. A list that does not end, or that is too
// large, is an error.
func (c *Client) Pages(ctx context.Context) iter.Seq2[[]Tool, error] {
	return func(yield func([]Tool, error) bool) {
		params, size, seen := "", 0, map[string]bool{}
		for range maxToolPages {
			page, next, n, err := c.page(ctx, params)
			if size += n; err == nil && size > maxList {
				err = fmt.Errorf("the list of tools has more than %d MB", maxList>>20)
			}
			if err == nil && seen[next] {
				err = fmt.Errorf("the list of tools does not end: the cursor %s came twice", rawjson.Truncate(strconv.Quote(next), maxCursorShown))
			}
			if !yield(page, err) || err != nil || next == "" {
				return
			}
			seen[next] = true
			params = string(rawjson.AppendString([]byte(`"cursor":`), next))
		}
		yield(nil, errors.New("the list of tools does not end"))
	}
}

// page lists the tools of one page, and says where the next one begins.
func (c *Client) page(ctx context.Context, params string) (tools []Tool, next string, size int, err error) {
	raw, err := c.request(ctx, "tools/list", "", params, nil)
	if err != nil {
		return nil, "", 0, err
	}
	var r struct {
		Tools      []json.RawMessage
		NextCursor string
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, "", 0, fmt.Errorf("tools/list: the result is not of the protocol's form: %w", err)
	}
	for i, text := range r.Tools {
		var t Tool
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, "", 0, fmt.Errorf("tools/list: tool %d is not of the protocol's form: %w", i+1, err)
		}
		t.Size = len(text)
		tools = append(tools, t)
	}
	return tools, r.NextCursor, len(raw), nil
}
