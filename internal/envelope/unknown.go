package envelope

import (
	"strings"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/projection"
)

// Suggested holds the known places that resemble unknown arguments, by the path
// of their violation: nil: not searched.
type Suggested map[string][]string

// SuggestFor finds known places that resemble the unknown properties among the
// violations of an input schema, for as many violations as are reported.
func SuggestFor(input []byte, violations []schema.Violation) Suggested {
	var unknown []string
	for _, v := range violations[:min(len(violations), maxSuggestions)] {
		if v.Keyword == "additionalProperties" || v.Keyword == "false" {
			unknown = append(unknown, v.Path)
		}
	}
	return projection.SuggestMembers(input, unknown)
}

func (m Suggested) reason(v schema.Violation) string {
	if m[v.Path] == nil {
		return reason(v)
	}
	text := `there is no argument "` + dotted(v.Path) + `"; `
	if inside, ok := m.holders(v); ok {
		return text + "it belongs " + inside
	}
	var names []string
	for _, at := range m[v.Path] {
		names = append(names, `"`+dotted(at)+`"`)
	}
	return text + "did you mean " + either(names) + "?"
}

func (m Suggested) suggestion(v schema.Violation) string {
	if m[v.Path] == nil {
		return suggestion(v)
	}
	_, last := parted(v.Path)
	if inside, ok := m.holders(v); ok {
		return "Give " + dotted("/"+last) + " " + inside
	}
	var names []string
	for _, at := range m[v.Path] {
		names = append(names, dotted(at))
	}
	return "Use " + either(names) + " instead of " + dotted(v.Path)
}

// holders names the objects that have a property of the argument's name.
func (m Suggested) holders(v schema.Violation) (words string, ok bool) {
	parent, name := parted(v.Path)
	var in []string
	for _, at := range m[v.Path] {
		holder, last := parted(at)
		switch {
		case holder == parent || last != name:
			return "", false
		case holder == "":
			top, _, _ := strings.Cut(parent[1:], "/")
			return `outside of "` + dotted("/"+top) + `", beside it`, true
		}
		in = append(in, `"`+dotted(holder)+`"`)
	}
	return "inside " + either(in), true
}

// parted returns a JSON Pointer without its last token, and that token.
func parted(pointer string) (parent, last string) {
	i := strings.LastIndexByte(pointer, '/')
	return pointer[:max(i, 0)], pointer[i+1:]
}

// either joins names as "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
