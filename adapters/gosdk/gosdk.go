// Package gosdk adds the tools of a tenon gateway to a server of the official
// Go SDK, beside the tools that it has already. They keep what makes them
// tenon's: arguments are checked before the handler, answers against the
// published schema after it, and _meta says how they stand to it.
//
// It does not know sources or envelopes, and the SDK's own inference and
// validation never see these tools: schemas and structured content pass as the
// bytes that the gateway made. What the SDK does with a message around them is
// the SDK's: it compacts JSON, and knows no questions but forms.
//
// It stands where package server stands, at both ends of a call's path. It is
// a module of its own, so that nobody who does without the SDK gets it.
package gosdk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// Add adds the tools of g to s and follows g: after a Swap, s has the tools of
// the new catalog. A tool of that name that s has already is replaced. The
// error says which tools the SDK refuses; the others are there. Stop ends the
// following and leaves the tools where they are.
func Add(s *mcp.Server, g *gateway.Gateway) (stop func(), err error) {
	a := &adapter{server: s, gateway: g}
	_, _ = rand.Read(a.key[:]) // never fails: see crypto/rand
	stop = g.Subscribe(func(c gateway.Event) {
		if c.URI == "" {
			_ = a.sync() // what is refused now was said when it was first seen, or is left out
		}
	})
	return stop, a.sync()
}

type adapter struct {
	server  *mcp.Server
	gateway *gateway.Gateway
	key     [32]byte // authenticates what was answered in earlier rounds

	mu    sync.Mutex
	names []string // what was added
}

// sync makes the server's tools those of the catalog in force.
func (a *adapter) sync() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	var refused []error
	for _, e := range a.gateway.Catalog().Tools() {
		if err := a.add(e); err != nil {
			refused = append(refused, err)
			continue
		}
		names = append(names, e.Name())
	}
	gone := slices.DeleteFunc(a.names, func(n string) bool { return slices.Contains(names, n) })
	if len(gone) > 0 {
		a.server.RemoveTools(gone...)
	}
	a.names = names
	return errors.Join(refused...)
}

// add adds one tool. The SDK panics where it cannot take one.
func (a *adapter) add(e *gateway.Tool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the SDK refuses the tool %s: %v", e.Name(), p)
		}
	}()
	t := &mcp.Tool{}
	if err := json.Unmarshal(e.Definition(), t); err != nil {
		return fmt.Errorf("the SDK cannot read the tool %s: %w", e.Name(), err)
	}
	input, output := e.Schemas()
	t.InputSchema = json.RawMessage(input) // as bytes, so that their order stays
	if output != nil {
		t.OutputSchema = json.RawMessage(output)
	}
	a.server.AddTool(t, a.call)
	return nil
}

// call is the handler of every tool.
func (a *adapter) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	round, err := a.open(r)
	if err != nil {
		return nil, err
	}
	c := &tenon.Call{Tool: r.Params.Name, Args: r.Params.Arguments, Requester: round}
	if token := r.Params.GetProgressToken(); token != nil {
		c.ProgressFunc = func(done, total float64, note string) {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: note}) // who is gone hears nothing
		}
	}
	c.LogFunc = func(level tenon.LoggingLevel, data any) {
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(level), Data: data}) //nolint:staticcheck // the protocol gives logging up, and clients of today have nothing else
	}
	result, err := a.gateway.Call(ctx, c)
	var known *tenon.Error
	var needed *tenon.InputRequiredError
	switch {
	case errors.As(err, &needed):
		return round.ask(needed.Requests)
	case errors.As(err, &known) && known.Code == tenon.CodeNotFound:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: known.Message}
	case err != nil:
		return nil, err
	}
	return resultOf(result)
}

func resultOf(r *tenon.Result) (*mcp.CallToolResult, error) {
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{}}
	if r.Structured != nil {
		out.StructuredContent = json.RawMessage(r.Structured)
	}
	for i := range r.Content {
		out.Content = append(out.Content, contentOf(&r.Content[i]))
	}
	if r.Meta == nil {
		return out, nil
	}
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(r.Meta, &meta); err != nil {
		return nil, fmt.Errorf("the _meta of a result: %w", err)
	}
	out.Meta = mcp.Meta{}
	for key, value := range meta {
		out.Meta[key] = value
	}
	return out, nil
}

func contentOf(b *tenon.Content) mcp.Content {
	switch b.Type {
	case tenon.ImageContent:
		return &mcp.ImageContent{Data: b.Data, MIMEType: b.MediaType}
	case tenon.AudioContent:
		return &mcp.AudioContent{Data: b.Data, MIMEType: b.MediaType}
	case tenon.EmbeddedResource:
		r := &mcp.ResourceContents{URI: b.URI, MIMEType: b.MediaType, Text: string(b.Text)}
		if b.Text == nil {
			r.Blob = b.Data
		}
		return &mcp.EmbeddedResource{Resource: r}
	case tenon.ResourceLink:
		return &mcp.ResourceLink{URI: b.URI, Name: b.Name, MIMEType: b.MediaType}
	case tenon.TextContent:
	}
	return &mcp.TextContent{Text: string(b.Text)}
}
