package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// peer is an MCP server that a shell speaks to, in the revision that nearly
// every server knows.
type peer struct {
	wire  messages
	id    int
	close func()
}

// messages is the way to a server and back.
type messages interface {
	// send sends one message. What comes back for it, if anything, is handed to
	// receive.
	send(ctx context.Context, message []byte) error
	receive(ctx context.Context) ([]byte, error)
}

const (
	shellProtocol = "2025-06-18"
	maxToolPages  = 1000
)

// request makes one request. What the server asks meanwhile is answered: that
// it is alive, and that nothing else is offered.
func (p *peer) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	p.id++
	id := p.id
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if err := p.wire.send(ctx, body); err != nil {
		return nil, err
	}
	for {
		raw, err := p.wire.receive(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("%s: the server sent what is no JSON-RPC: %w", method, err)
		}
		switch {
		case m.Method != "" && m.ID != nil:
			err = p.wire.send(ctx, answerTo(m.ID, m.Method))
		case m.Method != "" || string(m.ID) != fmt.Sprint(id):
		case m.Error != nil:
			return nil, fmt.Errorf("%s: JSON-RPC error %d: %s", method, m.Error.Code, m.Error.Message)
		default:
			return m.Result, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// answerTo answers a request of the server.
func answerTo(id json.RawMessage, method string) []byte {
	if method == "ping" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"a shell does not offer this"}}`, id)
}

// greet begins the conversation and returns who is there.
func (p *peer) greet(ctx context.Context) (string, error) {
	raw, err := p.request(ctx, "initialize", map[string]any{
		"protocolVersion": shellProtocol, "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "tenon-shell", "version": app.Version()},
	})
	if err != nil {
		return "", err
	}
	var r struct {
		Version string                         `json:"protocolVersion"`
		Server  struct{ Name, Version string } `json:"serverInfo"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", err
	}
	if err := p.wire.send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s, MCP %s", r.Server.Name, r.Server.Version, r.Version), nil
}

// tools lists all pages.
func (p *peer) tools(ctx context.Context) (all []shellTool, err error) {
	params := map[string]any{}
	for range maxToolPages {
		raw, err := p.request(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var r struct {
			Tools []struct {
				Name, Title, Description  string
				InputSchema, OutputSchema json.RawMessage
			}
			NextCursor string
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, err
		}
		for _, t := range r.Tools {
			about, _, _ := strings.Cut(t.Description, "\n")
			if t.Title != "" {
				about = t.Title
			}
			all = append(all, shellTool{name: t.Name, about: about, input: t.InputSchema, output: t.OutputSchema})
		}
		if r.NextCursor == "" {
			return all, nil
		}
		params["cursor"] = r.NextCursor
	}
	return nil, errors.New("the list of tools does not end")
}

func (p *peer) call(ctx context.Context, tool string, args []byte) ([]byte, error) {
	return p.request(ctx, "tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(args)})
}

// heard is the result of a call as a server sent it.
type heard struct {
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
	Content    []struct {
		Type, Text, Data, MimeType, URI string
		Resource                        struct{ URI, Text string }
	}
	Meta json.RawMessage `json:"_meta"`
}

// print prints an answer with all of its parts.
func (h *heard) print(out, errs io.Writer, ask func(args []byte) (*heard, error)) error {
	if h.Structured != nil {
		if err := h.printStructured(out, ask); err != nil {
			return err
		}
	}
	for _, c := range h.Content {
		switch {
		case c.Type == "text" && h.Structured == nil:
			fmt.Fprintln(out, c.Text)
		case c.Type == "resource":
			fmt.Fprintf(out, "resource %s\n%s\n", c.Resource.URI, c.Resource.Text)
		case c.Type == "resource_link":
			fmt.Fprintf(out, "link %s\n", c.URI)
		case c.Type != "text":
			fmt.Fprintf(out, "%s %s, %d bytes\n", c.Type, c.MimeType, len(c.Data)*3/4)
		}
	}
	if doc, err := rawjson.Parse(h.Meta); err == nil {
		if contract := doc.Get(doc.Root(), "tenon/contract"); contract != rawjson.None {
			fmt.Fprintf(errs, "tenon: %s\n", doc.Raw(contract))
		}
	}
	if h.IsError {
		fmt.Fprintln(errs, "tenon: the tool answered with an error")
		return errToolFailed
	}
	if h.Structured == nil && pieceOf(h.Meta).token != "" {
		return &notWholeError{1, errors.New("texts are not put together; ask for the next part with resume_token")}
	}
	return nil
}

func (h *heard) printStructured(out io.Writer, ask func(args []byte) (*heard, error)) error {
	if pieceOf(h.Meta).token == "" {
		pretty, err := rawjson.AppendIndent(nil, h.Structured, "  ")
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", pretty)
		}
		return err
	}
	j := &joiner{out: out, several: len(pieceOf(h.Meta).cuts) > 0}
	err := each(h.result(), func(args []byte) (*tenon.Result, error) {
		next, err := ask(args)
		switch {
		case err != nil:
			return nil, err
		case next.IsError && len(next.Content) > 0:
			return nil, errors.New(next.Content[0].Text)
		case next.IsError:
			return nil, errors.New("the tool answered with an error")
		}
		return next.result(), nil
	}, func(res *tenon.Result, here piece) error {
		doc, err := rawjson.Parse(res.Structured)
		if err != nil {
			return err
		}
		return j.add(res.Structured, valueIn(doc, doc.Get(doc.Root(), "status") != rawjson.None)+here.cut, here)
	})
	if closing := j.close(); closing != nil {
		return closing
	}
	fmt.Fprintln(out)
	return err
}

func (h *heard) result() *tenon.Result { return &tenon.Result{Structured: h.Structured, Meta: h.Meta} }
