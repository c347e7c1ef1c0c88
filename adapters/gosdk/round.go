package gosdk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/elicitation"
)

// round is one run of a call that may have to ask. A question ends the run;
// the SDK puts it, in the way of the client's revision, and calls again with
// the answer. Answers of earlier rounds travel in the request's state, which
// is authenticated: a client could else answer what nobody asked.
type round struct {
	call    *mcp.CallToolRequest
	key     []byte
	answers map[string]answer
}

// answer is what a person said to a form.
type answer struct {
	Action string          `json:"action"`
	Fields json.RawMessage `json:"fields,omitempty"`
}

var _ tenon.Requester = (*round)(nil)

// open reads the answers that came with a call.
func (a *adapter) open(r *mcp.CallToolRequest) (*round, error) {
	o := &round{call: r, key: a.key[:], answers: map[string]answer{}}
	if r.Params.RequestState == "" {
		return o, nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(r.Params.RequestState)
	if err != nil || len(sealed) < sha256.Size || !hmac.Equal(sealed[:sha256.Size], o.mac(sealed[sha256.Size:])) ||
		json.Unmarshal(sealed[sha256.Size:], &o.answers) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not valid for this call; begin again without it"}
	}
	for key, response := range r.Params.InputResponses {
		said, ok := response.(*mcp.ElicitResult)
		if _, asked := o.answers[key]; !ok || !asked {
			continue // nobody asked, or it is no answer to a form
		}
		fields, err := json.Marshal(said.Content)
		if err != nil {
			return nil, fmt.Errorf("the answer to %s: %w", key, err)
		}
		o.answers[key] = answer{Action: said.Action, Fields: fields}
	}
	return o, nil
}

// mac binds the state to the call that it belongs to.
func (o *round) mac(state []byte) []byte {
	h := hmac.New(sha256.New, o.key)
	for _, part := range [][]byte{[]byte(o.call.Params.Name), o.call.Params.Arguments} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	h.Write(state)
	return h.Sum(nil)
}

// RequestInput returns the answers that there are, or ends the run.
func (o *round) RequestInput(_ context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	able := o.call.ClientCapabilities()
	answers := make([]tenon.InputResponse, len(questions))
	var missing []tenon.InputRequest
	for i, q := range questions {
		if q.Kind != tenon.ElicitForm || able == nil || able.Elicitation == nil {
			return nil, &tenon.UnsupportedInputError{Kind: q.Kind}
		}
		came := o.answers[q.Key]
		switch {
		case came.Action == "":
			missing = append(missing, q)
		case came.Action == "accept":
			if err := elicitation.Check(q, came.Fields); err != nil {
				return nil, err
			}
			answers[i].Body = came.Fields
		}
		answers[i].Action = came.Action
	}
	if missing != nil {
		return nil, &tenon.InputRequiredError{Requests: missing}
	}
	return answers, nil
}

// ask is the result that has the SDK put the questions.
func (o *round) ask(questions []tenon.InputRequest) (*mcp.CallToolResult, error) {
	requests := mcp.InputRequestMap{}
	for _, q := range questions {
		var form struct {
			Message         string
			RequestedSchema json.RawMessage
		}
		if err := json.Unmarshal(q.Params, &form); err != nil {
			return nil, fmt.Errorf("the question %s: %w", q.Key, err)
		}
		if _, twice := requests[q.Key]; twice || q.Key == "" {
			return nil, errors.New("a handler's questions have no keys of their own")
		}
		requests[q.Key] = &mcp.ElicitParams{Mode: "form", Message: form.Message, RequestedSchema: form.RequestedSchema}
		o.answers[q.Key] = answer{}
	}
	state, err := json.Marshal(o.answers)
	if err != nil {
		return nil, fmt.Errorf("the state of the call: %w", err)
	}
	return &mcp.CallToolResult{InputRequests: requests, RequestState: base64.RawURLEncoding.EncodeToString(append(o.mac(state), state...))}, nil
}
