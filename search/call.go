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
	callInput = `{"type":"object","properties":{"tool":{"type":"string","description":"name of the tool, as returned by search_tools"},` +
		`"arguments":{"type":"object","description":"the arguments of that tool; default: none"}},"required":["tool"],"additionalProperties":false}`
)

// callTool calls another tool. Its output schema is what the results of all
// tools have in common.
func (s *searcher) callTool() tenon.Tool {
	t := tenon.Tool{
		Name: "call_tool", Title: "Call a tool",
		Description: "Calls a tool that search_tools found and returns its result. If a result says to repeat the call with another argument " +
			"(confirmed, resume_token), add it to arguments.",
		Annotations: s.sharedHints(), Envelope: tenon.Native, RawSchemas: true, Policy: tenon.Off,
		Contract: tenon.Contract{Input: []byte(callInput)},
	}
	if output := s.sharedOutput(); output != nil {
		t.Policy, t.Contract = tenon.Enforce, contract(callInput, string(output))
	}
	return t
}

// forwardCall finds the tool that a call of call_tool names.
func (s *searcher) forwardCall(args []byte) (*gateway.Tool, []byte, error) {
	var asked struct {
		Tool      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(args, &asked); err != nil {
		return nil, nil, err
	}
	to, err := s.find(asked.Tool)
	return to, asked.Arguments, err
}

// find returns the tool of that name. The error names similar ones.
func (s *searcher) find(tool string) (*gateway.Tool, error) {
	to := s.catalog.Find(tool)
	if to == nil || to == s.describes {
		name := envelope.Excerpt([]byte(tool), maxName)
		return nil, &tenon.Error{Code: tenon.CodeNotFound, Message: fmt.Sprintf("unknown tool %q%s", name, s.near(name))}
	}
	return to, nil
}

// Limits of the message for an unknown tool.
const (
	maxNear = 3   // tools
	maxName = 200 // bytes of the name
)

// near suggests tools with a similar name, or else those that a search for its
// words finds, and the search.
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

// sharedHints returns the annotations that are true of every tool.
func (s *searcher) sharedHints() tenon.Annotations {
	yes := true
	for _, e := range s.tools {
		if h := e.Tool().Annotations.ReadOnly; h == nil || !*h {
			return tenon.Annotations{}
		}
	}
	return tenon.Annotations{ReadOnly: &yes}
}

// sharedOutput returns a schema that every result matches; nil: none, because
// with the envelope native each tool has its own form, or no structured
// content.
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

// nextTool is the tool that returns the parts of large results, which refer to
// it by name.
func nextTool(next *gateway.Tool) tenon.Tool {
	t := next.Tool()
	input, _ := next.Schemas()
	return tenon.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Annotations: t.Annotations, Envelope: tenon.Native, Policy: tenon.Off,
		Contract: tenon.Contract{Input: input},
	}
}
