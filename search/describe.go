package search

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/typedecl"
)

// describeBudget is how many tokens a description of a tool has. With more, ten tasks over
// GitHub's document take more than 40,000 tokens in all: see bench/tasks.
const describeBudget = 2400

const (
	describeInput = `{"type":"object","properties":{"tool":{"type":"string","description":"name of the tool, as returned by search_tools"},` +
		`"types":{"type":"array","items":{"type":"string"},"maxItems":50,"description":"only these types, which an earlier description names and does not show"}},` +
		`"required":["tool"],"additionalProperties":false}`
	describeOutput = `{"type":"string","description":"TypeScript"}`
)

// describeTool writes a tool as TypeScript, which takes a model far fewer tokens than
// its schemas.
func (s *searcher) describeTool() tenon.Tool {
	yes, no := true, false
	return tenon.Tool{
		Name: "describe_tool", Title: "Describe a tool",
		Description: "Returns TypeScript declarations of a tool: args are the arguments for call_tool, the result is the data that it returns. " +
			"Types that are named and not shown can be asked for with types.",
		Annotations: tenon.Annotations{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no}, Policy: tenon.Enforce, Envelope: tenon.Native, RawSchemas: true,
		Contract: contract(describeInput, describeOutput),
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			var asked struct {
				Tool  string
				Types []string
			}
			if err := json.Unmarshal(c.Args, &asked); err != nil {
				return tenon.Response{}, err
			}
			to, err := s.find(asked.Tool)
			if err != nil {
				return tenon.Response{}, err
			}
			text, err := describe(to, asked.Types)
			if err != nil {
				return tenon.Response{}, err
			}
			return tenon.Response{MediaType: "application/json", Body: rawjson.AppendString(nil, text)}, nil
		},
	}
}

// describe declares a tool, or types of it: the arguments as the client of a profile
// sends them, the data as the contract has it.
func describe(e *gateway.Tool, types []string) (string, error) {
	d, err := e.Declared()
	if err != nil {
		return "", err
	}
	args, err := e.Arguments()
	if err != nil {
		return "", err
	}
	t := e.Tool()
	set := typedecl.NewSet(false)
	set.Add(typedecl.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Input: args, Data: d.Data,
		Enforced: t.Policy == "" || t.Policy == tenon.Enforce || t.Policy == tenon.Repair,
	})
	if len(types) == 0 {
		types = []string{t.Name}
	}
	b := set.Brief(describeBudget, types...)
	if len(b.Unknown) > 0 {
		return "", &tenon.Error{
			Code: tenon.CodeNotFound, Message: t.Name + " has no type " + strings.Join(b.Unknown, ", "),
			Suggestions: []string{"Call describe_tool without types: it names those that there are"},
		}
	}
	return b.Text, nil
}
