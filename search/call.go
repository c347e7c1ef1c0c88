package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

const (
	describeInput = `{"type":"object","properties":{"tool":{"type":"string","description":"its name, as search_tools returned it"}},"required":["tool"],"additionalProperties":false}`
	callInput     = `{"type":"object","properties":{"tool":{"type":"string","description":"its name, as search_tools returned it"},` +
		`"arguments":{"type":"object","description":"the arguments of that tool; without it none"}},"required":["tool"],"additionalProperties":false}`
)

// describeTool is the tool describe of the catalog, for one tool.
func (s *searcher) describeTool() tenon.Tool {
	yes, no := true, false
	t := tenon.Tool{
		Name: "describe_tool", Title: "Describe a tool",
		Description: "Tells what a tool accepts and answers, with full schemas and an example. Its outputSchema is that of the data in the answer.",
		Annotations: tenon.Annotations{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no}, Envelope: tenon.Native, RawSchemas: true,
		Contract: tenon.Contract{Input: []byte(describeInput)},
	}
	if s.describes != nil {
		_, output := s.describes.Schemas()
		t.Contract = contract(describeInput, string(output))
	}
	return t
}

// described makes of a call of describe_tool one of describe.
func (s *searcher) described(args []byte) (*gateway.Tool, []byte, error) {
	_, _, err := s.target(args)
	return s.describes, args, err
}

// callTool makes the call of another tool. What it publishes is what the
// answers of all tools have in common.
func (s *searcher) callTool() tenon.Tool {
	t := tenon.Tool{
		Name: "call_tool", Title: "Call a tool",
		Description: "Calls a tool that search_tools found. The answer is that tool's own. Where an answer says to repeat the call with another argument " +
			"(confirmed, resume_token), put it into arguments.",
		Annotations: s.sharedHints(), Envelope: tenon.Native, RawSchemas: true, Policy: tenon.Off,
		Contract: tenon.Contract{Input: []byte(callInput)},
	}
	if output := s.sharedOutput(); output != nil {
		t.Policy, t.Contract = tenon.Enforce, contract(callInput, string(output))
	}
	return t
}

// target finds the tool that a call of call_tool names.
func (s *searcher) target(args []byte) (*gateway.Tool, []byte, error) {
	var asked struct {
		Tool      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(args, &asked); err != nil {
		return nil, nil, err
	}
	to := s.catalog.Find(asked.Tool)
	if to == nil || to == s.describes {
		name := envelope.Excerpt([]byte(asked.Tool), maxName)
		return nil, nil, &tenon.Error{Code: tenon.CodeNotFound, Message: fmt.Sprintf("there is no tool %q%s", name, s.near(name))}
	}
	return to, asked.Arguments, nil
}

// Bounds of what somebody is told who named no tool.
const (
	maxNear = 3   // tools
	maxName = 200 // bytes of the name
)

// near names the tools that may have been meant, those that are spelled like
// it before those that its words find, and the search for others.
func (s *searcher) near(name string) string {
	query := strings.ToLower(strings.Join(slices.Collect(words(name)), " "))
	if query == "" {
		return "; find one with search_tools"
	}
	names := make([]string, len(s.tools))
	for i, e := range s.tools {
		names[i] = e.Name()
	}
	near := suggest.Near(name, names, maxNear)
	if near == nil {
		hits := s.index().find(query)
		for _, h := range hits[:min(len(hits), maxNear)] {
			near = append(near, names[h.tool])
		}
	}
	search := "call search_tools with " + string(append(rawjson.AppendString([]byte(`{"query":`), query), '}'))
	if near == nil {
		return "; to find one, " + search
	}
	for i := range near {
		near[i] = string(rawjson.AppendString(nil, near[i]))
	}
	return "; did you mean " + strings.Join(near, ", ") + "? To find others, " + search
}

// sharedHints says of call_tool what is true of every tool.
func (s *searcher) sharedHints() tenon.Annotations {
	yes := true
	for _, e := range s.tools {
		if h := e.Tool().Annotations.ReadOnly; h == nil || !*h {
			return tenon.Annotations{}
		}
	}
	return tenon.Annotations{ReadOnly: &yes}
}

// sharedOutput is a schema that every answer fits; nil: there is none, as
// tools of the shape native have each their own form, or no structure at all.
func (s *searcher) sharedOutput() []byte {
	var openAPI, flowMCP bool
	for _, e := range s.tools {
		switch e.Tool().Envelope {
		case tenon.OpenAPIMCP:
			openAPI = true
		case tenon.FlowMCP:
			flowMCP = true
		default:
			return nil
		}
	}
	one, _ := envelope.PublishOpenAPIMCP(envelope.Contract{Consent: true})
	two, _ := envelope.PublishFlowMCP(envelope.Contract{})
	switch {
	case openAPI && flowMCP:
		return fmt.Appendf(nil, `{"type":"object","anyOf":[%s,%s]}`, one, two)
	case openAPI:
		return one
	case flowMCP:
		return two
	}
	return nil
}

// nextTool is the tool that hands out the parts of large answers: their words
// name it.
func nextTool(next *gateway.Tool) tenon.Tool {
	t := next.Tool()
	input, _ := next.Schemas()
	return tenon.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Annotations: t.Annotations, Envelope: tenon.Native, Policy: tenon.Off,
		Contract: tenon.Contract{Input: input},
	}
}
