package tenon

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/schema"
)

// BuiltIn says whether a catalog has a tool of our own. Empty means BuiltInAuto.
type BuiltIn string

// The ways to have one.
const (
	BuiltInAuto BuiltIn = "auto" // where a tool needs it
	BuiltInOn   BuiltIn = "on"
	BuiltInOff  BuiltIn = "off"
)

// ParseBuiltIn reads what an operator writes.
func ParseBuiltIn(s string) (BuiltIn, error) {
	return oneOf("choice", BuiltIn(s), BuiltInAuto, BuiltInOn, BuiltInOff)
}

// Bounds of one page of descriptions; the first tool is on it whatever its
// size.
const (
	maxDescribed      = 20
	maxDescribedBytes = 64 << 10
)

// describeInput and describeOutput are what the tool promises.
const (
	describeInput = `{"type":"object","properties":{` +
		`"tool":{"type":"string","description":"name of one tool; without it all tools are described, page by page"},` +
		`"cursor":{"type":"string","description":"next_cursor of the page before"}},"additionalProperties":false}`
	describeOutput = `{"type":"object","properties":{"OutputFormat":{"const":"structured"},"OutputType":{"const":"json"},"type":{"const":"api_docs"},` +
		`"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},` +
		`"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"examples":{"type":"array","items":{"type":"object","properties":{"input":{"type":"object"},` +
		`"output":{},"generated":{"type":"array","items":{"enum":["input","output"]},"description":"what the description does not give itself"}},"required":["input"]}}},` +
		`"required":["name","description","inputSchema","outputSchema","examples"]}},` +
		`"next_cursor":{"type":"string","description":"there are more tools: pass it as cursor"}},` +
		`"required":["OutputFormat","OutputType","type","tools"]}`
)

// addDescribe adds the tool that tells of all the others. A tool of that name
// keeps it.
func (c *Catalog) addDescribe(b BuiltIn) {
	wanted := func(e *Entry) bool { return e.tool.Shape == OpenAPIMCP }
	if b == BuiltInOff || b != BuiltInOn && !slices.ContainsFunc(c.tools, wanted) {
		return
	}
	name := "describe"
	if c.byName[name] != nil {
		name = "tenon_describe"
	}
	yes, no := true, false
	tools := c.tools // those that are described
	c.add("", Tool{
		Title: "Describe the tools", Description: "Tells what the tools of this server accept and answer, with full schemas and examples.",
		Hints: Hints{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no}, Policy: Enforce, Shape: Native, Verbatim: true,
		Promise: Contract{Input: []byte(describeInput), Answers: []Variant{{Media: "application/json", Schema: []byte(describeOutput)}}},
		Handler: func(_ context.Context, call *Call) (Reply, error) { return describe(tools, call.Args) },
	}, name, nil)
}

// describe writes one tool, or a page of them.
func describe(tools []*Entry, args []byte) (Reply, error) {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return Reply{}, errorf(CodeValidation, "the arguments are not JSON: %v", err)
	}
	from, to := 0, len(tools)
	if name := doc.Get(doc.Root(), "tool"); name != rawjson.None {
		if from = indexOf(tools, doc.Str(name)); from < 0 {
			return Reply{}, errorf(CodeNotFound, "there is no tool %q%s", doc.Str(name), near(tools, doc.Str(name)))
		}
		to = from + 1
	} else if cursor := doc.Get(doc.Root(), "cursor"); cursor != rawjson.None {
		if from = indexOf(tools, doc.Str(cursor)); from < 0 {
			return Reply{}, errorf(CodeValidation, "the cursor is not known: begin again without one")
		}
	}
	dst := []byte(`{"OutputFormat":"structured","OutputType":"json","type":"api_docs","tools":[`)
	begin := len(dst)
	for i := from; i < to; i++ {
		before := len(dst)
		if before > begin {
			dst = append(dst, ',')
		}
		dst = tools[i].appendDescription(dst)
		if i > from && len(dst) > maxDescribedBytes || i-from == maxDescribed {
			dst = append(dst[:before], `],"next_cursor":`...)
			dst = rawjson.AppendString(dst, tools[i].Name())
			return Reply{Media: "application/json", Body: append(dst, '}')}, nil
		}
	}
	return Reply{Media: "application/json", Body: append(dst, `]}`...)}, nil
}

func indexOf(tools []*Entry, name string) int {
	return slices.IndexFunc(tools, func(e *Entry) bool { return e.Name() == name })
}

// near names a few tools that may have been meant.
func near(tools []*Entry, name string) string {
	var names []string
	for _, e := range tools {
		if strings.Contains(strings.ToLower(e.Name()), strings.ToLower(name)) && len(names) < 5 {
			names = append(names, strconv.Quote(e.Name()))
		}
	}
	if names == nil {
		return ""
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}

// appendDescription writes one tool: the input schema as it is published, the
// full schema of the data, and an example that fits both.
func (e *Entry) appendDescription(dst []byte) []byte {
	input, _ := e.Schemas()
	contract, err := e.tool.promised().Contract()
	if err != nil {
		contract = Contract{} // reported by Faults
	}
	output := shape.DataSchema(e.tool.promise(contract))
	dst = append(dst, `{"name":`...)
	dst = rawjson.AppendString(dst, e.Name())
	dst = append(dst, `,"description":`...)
	dst = rawjson.AppendString(dst, e.tool.Description)
	dst = append(dst, `,"inputSchema":`...)
	dst = append(dst, input...)
	dst = append(dst, `,"outputSchema":`...)
	dst = append(dst, output...)
	dst = append(dst, `,"examples":[`...)
	dst = appendExample(dst, e.prepare().input, output, contract)
	return append(dst, `]}`...)
}

// appendExample writes {"input":…,"output":…,"generated":[…]}; nothing where no
// input is found that fits.
func appendExample(dst []byte, input *schema.Schema, output []byte, c Contract) []byte {
	example, generated := []byte(`{}`), `"input"`
	if input != nil {
		var ok bool
		if example, ok = input.Sample(); !ok {
			return dst
		}
	}
	dst = append(append(dst, `{"input":`...), example...)
	if s, err := schema.Compile(output, schema.Options{AssertFormat: c.Formats}); err == nil {
		answer := exampleAnswer(s, c)
		if answer == nil {
			answer, _ = s.Sample()
			generated += `,"output"`
		}
		if answer != nil {
			dst = append(append(dst, `,"output":`...), answer...)
		}
	}
	return append(append(append(dst, `,"generated":[`...), generated...), `]}`...)
}

// exampleAnswer returns an example of the description that fits.
func exampleAnswer(s *schema.Schema, c Contract) []byte {
	for _, v := range successes(c.Answers) {
		if v.Example == nil || shape.FormOf(v.Media) != shape.JSON {
			continue
		}
		a := shape.Answer{Form: shape.JSON, Body: v.Example}
		if value := a.Data(); len(s.Validate(value)) == 0 {
			return value
		}
	}
	return nil
}
