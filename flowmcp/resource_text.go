package flowmcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// uri returns the address of a resource for clients.
func (r resource) uri() string { return "flowmcp://" + r.File.Namespace + "/resource/" + r.Name }

// document returns a markdown text as an MCP resource.
func (r resource) document(o *Options) tenon.Resource {
	return tenon.Resource{
		URI: r.uri(), Name: r.Name, Description: r.Description, MediaType: "text/markdown",
		Read: func(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
			text, err := r.readText(o)
			if err != nil {
				return nil, &tenon.Error{Code: tenon.CodeServer, Message: "the text of " + r.Name + " cannot be read: " + err.Error()}
			}
			return []tenon.Content{{Type: tenon.EmbeddedResource, URI: uri, MediaType: "text/markdown", Text: []byte(text)}}, nil
		},
	}
}

// The contract of the tool of a markdown text.
const (
	textInput = `{"type":"object","properties":{` +
		`"section":{"type":"string","description":"a heading: returns its section with subsections"},` +
		`"lines":{"type":"string","pattern":"^[0-9]+-[0-9]+$","description":"lines from-to, counted from 1, such as 11-33"},` +
		`"search":{"type":"string","minLength":1,"description":"a text: returns its matches with two lines of context"}},` +
		`"additionalProperties":false}`
	textFound = `{"type":"array","items":{"type":"object","properties":{"lines":{"type":"string"},"content":{"type":"string"}},"required":["lines","content"]}}`
)

// tool returns the tool that reads parts of a markdown text.
func (r resource) tool(name string, o *Options) tenon.Tool {
	yes, no := true, false
	text := r.Description
	if text != "" {
		text += " "
	}
	return tenon.Tool{
		Name: name, Description: text + "Returns the whole text, a section, lines or search matches.",
		Meta:        append(append([]byte(`{"flowmcp/id":`), rawjson.AppendString(nil, r.ID())...), '}'),
		Annotations: tenon.Annotations{ReadOnly: &yes, OpenWorld: &no}, Policy: o.Policy, Envelope: o.Envelope,
		Contract: tenon.Contract{Input: []byte(textInput), Responses: []tenon.ResponseSchema{
			{MediaType: "text/plain", Schema: []byte(`{"type":"string"}`)}, {MediaType: "application/json", Schema: []byte(textFound)},
		}},
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) { return r.readPart(c.Args, o) },
		Origin:  tenon.Diagnostic{File: r.File.Path, Line: r.Line},
		Labels:  func() tenon.Labels { return labels(r.File, "resource", r.Name, r.ID(), name) },
	}
}

// readPart returns the requested part of the text.
func (r resource) readPart(args []byte, o *Options) (tenon.Response, error) {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return tenon.Response{}, validationError("the arguments are not valid JSON")
	}
	text, err := r.readText(o)
	if err != nil {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeServer, Message: "the text of " + r.Name + " cannot be read: " + err.Error()}
	}
	given := func(key string) string { return doc.Str(doc.Get(doc.Root(), key)) }
	response := tenon.Response{MediaType: "text/plain"}
	switch {
	case given("section") != "":
		found, ok := section(text, given("section"))
		if !ok {
			return tenon.Response{}, &tenon.Error{Code: tenon.CodeNotFound, Message: fmt.Sprintf("section %q not found", given("section"))}
		}
		response.Body = []byte(found)
	case given("lines") != "":
		found, err := lineRange(text, given("lines"))
		if err != nil {
			return tenon.Response{}, validationError(err.Error())
		}
		response.Body = []byte(found)
	case given("search") != "":
		response.Body, response.MediaType = searchText(text, given("search")), "application/json"
	default:
		response.Body = []byte(text)
	}
	return response, nil
}

// section returns a heading with its content, up to the next heading of the
// same or a higher level. Lines in fenced code blocks are not headings.
func section(text, wanted string) (string, bool) {
	wanted = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(wanted), "#"))
	lines := strings.Split(text, "\n")
	from, level, fence := -1, 0, ""
	for i, line := range lines {
		if fence = fenced(line, fence); fence != "" {
			continue
		}
		l, title := heading(line)
		switch {
		case l == 0:
		case from < 0 && title == wanted:
			from, level = i, l
		case from >= 0 && l <= level:
			return strings.TrimRight(strings.Join(lines[from:i], "\n"), " \t\r\n"), true
		}
	}
	if from < 0 {
		return "", false
	}
	return strings.TrimRight(strings.Join(lines[from:], "\n"), " \t\r\n"), true
}

// fenced returns the code fence that is open after a line, or "".
func fenced(line, open string) string {
	line = strings.TrimLeft(line, " ")
	for _, mark := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(line, mark):
		case open == "":
			return mark
		case open == mark:
			return ""
		}
	}
	return open
}

// heading returns the level and the title of a heading, or 0.
func heading(line string) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(line) || line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[level:]), "#"))
}

// lineRange returns the lines from-to, counted from 1.
func lineRange(text, span string) (string, error) {
	first, last, ok := strings.Cut(span, "-")
	from, errFrom := strconv.Atoi(strings.TrimSpace(first))
	to, errTo := strconv.Atoi(strings.TrimSpace(last))
	switch {
	case !ok || errFrom != nil || errTo != nil:
		return "", fmt.Errorf("lines must be from-to, such as 11-33, not %q", span)
	case from < 1:
		return "", fmt.Errorf("lines are counted from 1, not %d", from)
	case to < from:
		return "", fmt.Errorf("lines end at %d before they begin at %d", to, from)
	}
	lines := strings.Split(text, "\n")
	from = min(from-1, len(lines))
	return strings.Join(lines[from:min(to, len(lines))], "\n"), nil
}

// searchText returns the matches in a text, ignoring case, with two lines of
// context. Overlapping matches are merged.
func searchText(text, wanted string) []byte {
	const around = 2
	lines := strings.Split(text, "\n")
	wanted = strings.ToLower(wanted)
	dst := []byte{'['}
	from, to := -1, -1
	flush := func() {
		if from < 0 {
			return
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, fmt.Sprintf(`{"lines":"%d-%d","content":`, from+1, to+1)...)
		dst = append(rawjson.AppendString(dst, strings.ToValidUTF8(strings.Join(lines[from:to+1], "\n"), "\uFFFD")), '}')
	}
	for i, line := range lines {
		if !strings.Contains(strings.ToLower(line), wanted) {
			continue
		}
		if from < 0 || i-around > to+1 {
			flush()
			from = max(0, i-around)
		}
		to = min(len(lines)-1, i+around)
	}
	flush()
	return append(dst, ']')
}
