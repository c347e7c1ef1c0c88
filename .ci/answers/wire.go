package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const modern = "2026-07-28"

// result is what tools/call answered, every value as it was written.
type result struct {
	Structured json.RawMessage
	Content    []json.RawMessage
	IsError    bool
	Meta       json.RawMessage
	Type       string                     // resultType
	Top        map[string]json.RawMessage // all members
	Thrown     string                     // what went wrong instead
}

// caller is a client that looks at bytes.
type caller interface {
	name() string
	// ask sends one request and returns its result, or an error.
	ask(ctx context.Context, method, params string) (json.RawMessage, error)
	close() error
}

// call makes one call of a tool without arguments.
func call(ctx context.Context, c caller, tool string) result {
	raw, err := c.ask(ctx, "tools/call", `"name":"`+tool+`","arguments":{}`)
	if err != nil {
		return result{Thrown: err.Error()}
	}
	var r struct {
		StructuredContent json.RawMessage   `json:"structuredContent"`
		Content           []json.RawMessage `json:"content"`
		IsError           bool              `json:"isError"`
		Meta              json.RawMessage   `json:"_meta"`
		ResultType        string            `json:"resultType"`
	}
	var top map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &r), json.Unmarshal(raw, &top)); err != nil {
		return result{Thrown: err.Error()}
	}
	return result{Structured: top["structuredContent"], Content: r.Content, IsError: r.IsError, Meta: r.Meta, Type: r.ResultType, Top: top}
}

// request writes a message of a revision; id is a number.
func request(revision, id, method, params string) string {
	if revision == modern {
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

func initialize(revision string) string {
	return `"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"answers","version":"1"}`
}

// read takes the result out of a response.
func read(message []byte) (json.RawMessage, error) {
	var m struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, fmt.Errorf("no message: %w: %.200q", err, message)
	}
	if m.Error != nil {
		return nil, fmt.Errorf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	return m.Result, nil
}

// overHTTP is a client of a revision, with a session where there are some.
type overHTTP struct {
	url, revision, session string
	plain                  bool // the endpoint /jsonrpc
}

func dial(ctx context.Context, base, revision string) (*overHTTP, error) {
	c := &overHTTP{url: base + "/mcp", revision: revision}
	if revision == modern {
		_, err := c.ask(ctx, "server/discover", "")
		return c, err
	}
	_, err := c.ask(ctx, "initialize", initialize(revision))
	if err == nil && c.session == "" {
		err = errors.New("no session was opened")
	}
	return c, err
}

func (c *overHTTP) name() string {
	if c.plain {
		return "bytes, /jsonrpc"
	}
	return "bytes, HTTP, " + c.revision
}

func (c *overHTTP) ask(ctx context.Context, method, params string) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(request(c.revision, "1", method, params)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if !c.plain {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	switch {
	case c.revision == modern:
		r.Header.Set("Mcp-Protocol-Version", modern)
		r.Header.Set("Mcp-Method", method)
		if _, name, ok := strings.Cut(params, `"name":"`); ok && method == "tools/call" {
			name, _, _ = strings.Cut(name, `"`)
			r.Header.Set("Mcp-Name", name)
		}
	case c.session != "":
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("Mcp-Protocol-Version", c.revision)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Body.Close() }()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		return nil, err
	}
	if id := w.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return read(body)
}

func (c *overHTTP) close() error {
	if c.session == "" {
		return nil
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, c.url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Mcp-Session-Id", c.session)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return w.Body.Close()
}

// overStdio is a client that started the binary itself.
type overStdio struct {
	p        *process
	revision string
	id       int
}

func launch(ctx context.Context, command []string, revision string) (*overStdio, error) {
	p, err := start(ctx, command)
	if err != nil {
		return nil, err
	}
	c := &overStdio{p: p, revision: revision}
	if revision == modern {
		_, err = c.ask(ctx, "server/discover", "")
		return c, err
	}
	if _, err = c.ask(ctx, "initialize", initialize(revision)); err != nil {
		return c, err
	}
	_, err = io.WriteString(p.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return c, err
}

func (c *overStdio) name() string { return "bytes, stdio, " + c.revision }

func (c *overStdio) ask(_ context.Context, method, params string) (json.RawMessage, error) {
	c.id++
	id := fmt.Sprint(c.id)
	if _, err := io.WriteString(c.p.stdin, request(c.revision, id, method, params)+"\n"); err != nil {
		return nil, err
	}
	line, err := c.p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, c.p.said())
	}
	if !bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`+id+",")) {
		return nil, fmt.Errorf("no answer to %s: %.200q", id, line)
	}
	return read(line)
}

func (c *overStdio) close() error { return c.p.hangUp() }
