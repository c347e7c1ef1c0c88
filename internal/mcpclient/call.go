package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxRounds bounds how often one call is made anew with answers.
const maxRounds = 16

// Call calls a tool: call.Tool with call.Args. What the server tells and asks
// meanwhile goes to ProgressFunc and Requester, from this goroutine; who has none
// is not told, and declines. An error of the Requester ends the call and is
// returned as it is. The other members of a call are not for servers.
//
// A tool that fails is no error but a result, which has its text as Message.
func (c *Client) Call(ctx context.Context, call *tenon.Call) (*tenon.Result, error) {
	params := rawjson.AppendString([]byte(`"name":`), call.Tool)
	params = append(params, `,"arguments":`...)
	if len(call.Args) == 0 {
		params = append(params, "{}"...)
	}
	params, err := appendArguments(params, call.Args)
	if err != nil {
		return nil, err
	}
	answers := ""
	for range maxRounds {
		raw, err := c.request(ctx, "tools/call", call.Tool, string(params)+answers, call)
		if err != nil {
			return nil, err
		}
		var r struct {
			Type     string          `json:"resultType"`
			Requests json.RawMessage `json:"inputRequests"`
			State    *string         `json:"requestState"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("tools/call: the result is not of the protocol's form: %w", err)
		}
		if r.Type != "input_required" {
			return resultOf(raw)
		}
		if answers, err = answersTo(ctx, r.Requests, call); err != nil {
			return nil, err
		}
		if r.State != nil {
			answers += string(rawjson.AppendString([]byte(`,"requestState":`), *r.State))
		}
	}
	return nil, errors.New("tools/call: the server does not stop to ask")
}

// appendArguments writes arguments on one line: lines end messages on a pipe.
func appendArguments(dst, args []byte) ([]byte, error) {
	if len(args) == 0 {
		return dst, nil
	}
	dst, err := rawjson.AppendCompact(dst, args)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	return dst, nil
}

// answersTo asks what a server wants to know before it goes on, and writes the
// answers for the next request.
func answersTo(ctx context.Context, requests json.RawMessage, call *tenon.Call) (string, error) {
	doc, err := rawjson.Parse(requests)
	if err != nil {
		return "", fmt.Errorf("tools/call: the server asks nothing: %w", err)
	}
	var questions []tenon.InputRequest
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		q, ok := question(doc.Key(n), doc.Str(doc.Get(n, "method")), doc.Raw(doc.Get(n, "params")))
		if !ok || call.Requester == nil {
			return "", fmt.Errorf("tools/call: the server asks for %s, which this client does not offer", doc.Str(doc.Get(n, "method")))
		}
		questions = append(questions, q)
	}
	given, err := call.RequestInput(ctx, questions...)
	if err != nil {
		return "", err
	}
	if len(given) != len(questions) {
		return "", fmt.Errorf("tools/call: %d answers to %d questions", len(given), len(questions))
	}
	out := []byte(`,"inputResponses":{`)
	for i, q := range questions {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, q.Key), ':')
		out = appendResponse(out, given[i])
	}
	return string(append(out, '}')), nil
}

// question is an elicitation as a handler would ask it; false: it is none.
func question(key, method string, params []byte) (tenon.InputRequest, bool) {
	if method != "elicitation/create" {
		return tenon.InputRequest{}, false
	}
	q := tenon.InputRequest{Key: key, Kind: tenon.ElicitForm, Params: slices.Clone(params)}
	var p struct{ Mode string }
	if json.Unmarshal(params, &p) != nil {
		return q, false
	}
	if p.Mode == string(tenon.ElicitURL) {
		q.Kind = tenon.ElicitURL
	}
	return q, true
}

// appendResponse writes the result of an elicitation.
func appendResponse(dst []byte, a tenon.InputResponse) []byte {
	dst = rawjson.AppendString(append(dst, `{"action":`...), a.Action)
	if compact, err := rawjson.AppendCompact(nil, a.Body); err == nil && a.Action == "accept" {
		dst = append(append(dst, `,"content":`...), compact...)
	}
	return append(dst, '}')
}

// respond answers a request that a server makes while call is in progress; nil:
// while something else is.
func (c *Client) respond(ctx context.Context, m *message, call *tenon.Call) error {
	if call == nil || call.Requester == nil {
		return c.wire.send(ctx, refusal(m))
	}
	q, ok := question(strings.Trim(string(m.ID), `"`), m.Method, m.Params)
	if !ok {
		return c.wire.send(ctx, refusal(m))
	}
	given, err := call.RequestInput(ctx, q)
	if err == nil && len(given) != 1 {
		err = fmt.Errorf("tools/call: %d answers to one question", len(given))
	}
	if err != nil {
		failure := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"nobody answers"}}`, m.ID)
		_ = c.wire.send(ctx, failure) // the call fails anyway
		return err
	}
	return c.wire.send(ctx, append(appendResponse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":`, m.ID), given[0]), '}'))
}

// refusal answers a request of a server: that the client is alive, and that it
// offers nothing else.
func refusal(m *message) []byte {
	if m.Method == "ping" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"this client does not offer it"}}`, m.ID)
}

// progress is what a server tells of a request.
type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    float64         `json:"total"`
	Message  string          `json:"message"`
}

func progressOf(m *message) (p progress, ok bool) {
	return p, m.Method == "notifications/progress" && json.Unmarshal(m.Params, &p) == nil
}

// notifyProgress tells call of progress of the request with this id.
func notifyProgress(m *message, id string, call *tenon.Call) {
	if p, ok := progressOf(m); ok && call != nil && string(p.Token) == id {
		call.NotifyProgress(p.Progress, p.Total, p.Message)
	}
}
