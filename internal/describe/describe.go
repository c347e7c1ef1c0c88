// Package describe writes descriptions of tools: their full schemas and an
// example that is valid for both, page by page.
//
// It does not know catalogs, envelopes or calls. The handler of the built-in
// tool "describe" calls it.
package describe

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// Bounds of one page of descriptions; the first tool is on it whatever its
// size.
const (
	maxDescribed      = 20
	maxDescribedBytes = 64 << 10
)

// Input and Output are the schemas of the tool.
const (
	Input = `{"type":"object","properties":{` +
		`"tool":{"type":"string","description":"name of one tool; without it all tools are described, page by page"},` +
		`"cursor":{"type":"string","description":"next_cursor of the previous page"}},"additionalProperties":false}`
	Output = `{"type":"object","properties":{"OutputFormat":{"const":"structured"},"OutputType":{"const":"json"},"type":{"enum":["api_docs","error"]},` +
		`"partial":{"const":true,"description":"there are more tools than these"},` +
		`"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},` +
		`"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"examples":{"type":"array","items":{"type":"object","properties":{"input":{"type":"object"},` +
		`"output":{},"generated":{"type":"array","items":{"enum":["input","output"]},"description":"generated instead of taken from the API description"}},"required":["input"]}}},` +
		`"required":["name","description","inputSchema","outputSchema","examples"]}},` +
		`"next_cursor":{"type":"string","description":"there are more tools: pass it as cursor"},"error":{"type":"object"}},` +
		`"required":["OutputFormat","OutputType","type"],"anyOf":[{"properties":{"type":{"const":"api_docs"}},"required":["tools"]},` +
		`{"properties":{"type":{"const":"error"}},"required":["error"]}]}`
)

// Tool is a tool that can be described.
type Tool struct {
	Name string
	Full func() Full
}

// Full is the full description of a tool.
type Full struct {
	Description   string
	Input, Output []byte
	Arguments     *schema.Schema // validates arguments; nil: not validated
	Examples      [][]byte       // results in the API description
	Formats       bool           // the keyword format is checked
}

// ErrCursor is returned for an unknown cursor.
var ErrCursor = errors.New("unknown cursor: start again without one")

// UnknownError is returned for an unknown tool, with similar names.
type UnknownError struct{ Name, Near string }

// Error includes similar names of tools.
func (e *UnknownError) Error() string { return fmt.Sprintf("there is no tool %q%s", e.Name, e.Near) }

// Write describes one tool, or a page of them, as args select.
func Write(tools []Tool, args []byte) ([]byte, error) {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	from, to := 0, len(tools)
	if name := doc.Get(doc.Root(), "tool"); name != rawjson.None {
		if from = indexOf(tools, doc.Str(name)); from < 0 {
			return nil, &UnknownError{doc.Str(name), near(tools, doc.Str(name))}
		}
		to = from + 1
	} else if cursor := doc.Get(doc.Root(), "cursor"); cursor != rawjson.None {
		if from = indexOf(tools, doc.Str(cursor)); from < 0 {
			return nil, ErrCursor
		}
	}
	dst := []byte(`{"OutputFormat":"structured","OutputType":"json","type":"api_docs","tools":[`)
	begin := len(dst)
	for i := from; i < to; i++ {
		before := len(dst)
		if before > begin {
			dst = append(dst, ',')
		}
		dst = tools[i].append(dst)
		if i > from && len(dst) > maxDescribedBytes || i-from == maxDescribed {
			dst = append(dst[:before], `],"partial":true,"next_cursor":`...)
			dst = rawjson.AppendString(dst, tools[i].Name)
			return append(dst, '}'), nil
		}
	}
	return append(dst, `]}`...), nil
}

func indexOf(tools []Tool, name string) int {
	return slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
}

// near lists a few similar names of tools.
func near(tools []Tool, name string) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	near := suggest.Near(name, names, 5)
	if near == nil {
		return ""
	}
	for i, n := range near {
		near[i] = strconv.Quote(n)
	}
	return "; did you mean " + strings.Join(near, ", ") + "?"
}

// append writes one tool.
func (t Tool) append(dst []byte) []byte {
	f := t.Full()
	dst = append(dst, `{"name":`...)
	dst = rawjson.AppendString(dst, t.Name)
	dst = append(dst, `,"description":`...)
	dst = rawjson.AppendString(dst, f.Description)
	dst = append(dst, `,"inputSchema":`...)
	dst = appendWithRequired(dst, f.Input)
	dst = append(dst, `,"outputSchema":`...)
	dst = append(dst, f.Output...)
	dst = append(dst, `,"examples":[`...)
	dst = f.appendExample(dst)
	return append(dst, `]}`...)
}

// appendWithRequired appends an input schema, with an empty required if it has
// none.
func appendWithRequired(dst, input []byte) []byte {
	doc, err := rawjson.Parse(input)
	last := bytes.LastIndexByte(input, '}')
	if err != nil || last < 0 || doc.Get(doc.Root(), "required") != rawjson.None {
		return append(dst, input...)
	}
	dst = append(dst, bytes.TrimRight(input[:last], " \t\r\n")...)
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, `"required":[]}`...)
}

// appendExample writes {"input":…,"output":…,"generated":[…]}; nothing if no
// valid input is found.
func (f *Full) appendExample(dst []byte) []byte {
	example, generated := []byte(`{}`), `"input"`
	if f.Arguments != nil {
		var ok bool
		if example, ok = sample.Of(f.Arguments); !ok {
			return dst
		}
	}
	dst = append(append(dst, `{"input":`...), example...)
	if s, err := schema.Compile(f.Output, schema.Options{AssertFormat: f.Formats}); err == nil {
		given := slices.IndexFunc(f.Examples, func(value []byte) bool { return len(s.Validate(value)) == 0 })
		var answer []byte
		if given >= 0 {
			answer = f.Examples[given]
		} else {
			answer, _ = sample.Of(s)
			generated += `,"output"`
		}
		if answer != nil {
			dst = append(append(dst, `,"output":`...), answer...)
		}
	}
	return append(append(append(dst, `,"generated":[`...), generated...), `]}`...)
}
