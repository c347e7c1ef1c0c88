package envelope

import (
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// Suggested are the places that unknown arguments may have been meant for, by the
// path of their violation: see [schema.Meant]. nil: nobody looked.
type Suggested map[string][]string

// SuggestFor looks for the places that the unknown members among the violations
// of an input schema were meant for. No more of them are looked into than are
// told.
func SuggestFor(input []byte, violations []schema.Violation) Suggested {
	var unknown []string
	for _, v := range violations[:min(len(violations), maxSuggestions)] {
		if v.Keyword == "additionalProperties" || v.Keyword == "false" {
			unknown = append(unknown, v.Path)
		}
	}
	return schema.Meant(input, unknown)
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

// holders says which objects an argument belongs to that has the right name in
// the wrong place.
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

// parted is a JSON Pointer without its last token, and that token.
func parted(pointer string) (parent, last string) {
	i := strings.LastIndexByte(pointer, '/')
	return pointer[:max(i, 0)], pointer[i+1:]
}

// either joins words as "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
