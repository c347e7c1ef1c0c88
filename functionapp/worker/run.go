package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Getter returns the messages of a prompt. Arguments that are not strings are
// passed as JSON.
type Getter func(ctx context.Context, args map[string]string, c *tenon.Call) ([]tenon.PromptMessage, error)

// Invocation is what a host reports about a call besides its arguments.
type Invocation struct {
	ID string // id set by the host; empty: none
	functionapp.Context
}

type invocationKey struct{}

// InvocationFromContext returns the invocation for which a handler runs.
func InvocationFromContext(ctx context.Context) (Invocation, bool) {
	i, ok := ctx.Value(invocationKey{}).(Invocation)
	return i, ok
}

// maxLines limits the lines that one call writes to the host's log.
const maxLines = 1000

// lines are the lines for the host's log.
type lines struct {
	mu   sync.Mutex
	text []string
	left int // dropped lines
}

// note stores what a handler logs for the client: through Azure's host it
// reaches only the operator.
func (l *lines) note(level tenon.LoggingLevel, data any) {
	text, ok := data.(string)
	if !ok {
		encoded, err := json.Marshal(data)
		if err != nil {
			encoded = []byte(err.Error())
		}
		text = string(encoded)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) >= maxLines {
		l.left++
		return
	}
	l.text = append(l.text, string(level)+": "+text)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left > 0 {
		return append(slices.Clip(l.text), fmt.Sprintf("%d more lines were left out", l.left))
	}
	return l.text
}

// callTool calls a tool through the gateway. Errors are results that the model
// can read.
func callTool(g *gateway.Gateway, name string) runner {
	return func(ctx context.Context, c functionapp.Context, log *lines) ([]byte, error) {
		r, err := g.Call(ctx, &tenon.Call{Tool: name, Args: c.Arguments, LogFunc: log.note})
		if _, cannot := errors.AsType[*tenon.UnsupportedInputError](err); cannot {
			text := []byte("the tool has a question, and a function app has no way to ask it: " + err.Error())
			r, err = &tenon.Result{IsError: true, Content: []tenon.Content{{Text: text}}}, nil
		}
		if err != nil {
			return nil, err
		}
		return functionapp.AppendResult(nil, functionapp.Result{
			Blocks: r.Content, Structured: r.Structured, IsError: r.IsError, Meta: r.Meta,
		}), nil
	}
}

// readResource reads a resource.
func readResource(r *Resource) runner {
	return func(ctx context.Context, c functionapp.Context, log *lines) ([]byte, error) {
		blocks, err := r.read(ctx, c.URI, &tenon.Call{LogFunc: log.note})
		if err != nil {
			return nil, err
		}
		if len(blocks) != 1 {
			return nil, fmt.Errorf("%s: the reader returned %d blocks; the contract has room for one", r.what, len(blocks))
		}
		b := blocks[0]
		if b.URI == "" {
			b.URI = c.URI
		}
		if b.MediaType == "" {
			b.MediaType = r.described.Media
		}
		return functionapp.AppendContents(nil, b), nil
	}
}

// getPrompt returns the messages of a prompt.
func getPrompt(p *Prompt) runner {
	return func(ctx context.Context, c functionapp.Context, log *lines) ([]byte, error) {
		args, err := texts(c.Arguments)
		if err != nil {
			return nil, err
		}
		for _, a := range p.described.Arguments {
			if _, given := args[a.Name]; a.Required && !given {
				return nil, fmt.Errorf("%s: the argument %s is missing", p.what, a.Name)
			}
		}
		messages, err := p.get(ctx, args, &tenon.Call{LogFunc: log.note})
		if err != nil {
			return nil, err
		}
		return functionapp.AppendMessages(nil, messages), nil
	}
}

// texts returns the members of an object as text. null means none.
func texts(args []byte) (map[string]string, error) {
	found := map[string]string{}
	if len(args) == 0 {
		return found, nil
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return nil, err
	}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		switch doc.Kind(n) {
		case rawjson.String:
			found[doc.Key(n)] = doc.Str(n)
		case rawjson.Null:
		default:
			found[doc.Key(n)] = string(doc.Raw(n))
		}
	}
	return found, nil
}
