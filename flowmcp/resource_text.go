package flowmcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// uri is the address of a resource for clients.
func (r *resource) uri() string { return "flowmcp://" + r.file.namespace + "/resource/" + r.name }

// document is a markdown text as an MCP resource.
func (r *resource) document(o *Options) tenon.Resource {
	return tenon.Resource{
		URI: r.uri(), Name: r.name, Description: r.text, MediaType: "text/markdown",
		Read: func(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
			text, err := r.readText(o)
			if err != nil {
				return nil, &tenon.Error{Code: tenon.CodeServer, Message: "the text of " + r.name + " cannot be read: " + err.Error()}
			}
			return []tenon.Content{{Type: tenon.EmbeddedResource, URI: uri, MediaType: "text/markdown", Text: []byte(text)}}, nil
		},
	}
}

// textContract is what the tool of a markdown text takes and answers.
const (
	textInput = `{"type":"object","properties":{` +
		`"section":{"type":"string","description":"a heading: its section is answered, with those below it"},` +
		`"lines":{"type":"string","pattern":"^[0-9]+-[0-9]+$","description":"lines from-to, counted from 1, such as 11-33"},` +
		`"search":{"type":"string","minLength":1,"description":"a text: the places where it stands are answered, with two lines around them"}},` +
		`"additionalProperties":false}`
	textFound = `{"type":"array","items":{"type":"object","properties":{"lines":{"type":"string"},"content":{"type":"string"}},"required":["lines","content"]}}`
)

// tool is the tool that reads parts of a markdown text.
func (r *resource) tool(name string, o *Options) tenon.Tool {
	yes, no := true, false
	text := r.text
	if text != "" {
		text += " "
	}
	return tenon.Tool{
		Name: name, Description: text + "Answers the whole text, or a section, lines or the places of a word.",
		Meta:        append(append([]byte(`{"flowmcp/id":`), rawjson.AppendString(nil, r.id())...), '}'),
		Annotations: tenon.Annotations{ReadOnly: &yes, OpenWorld: &no}, Policy: o.Policy, Envelope: o.Shape,
		Contract: tenon.Contract{Input: []byte(textInput), Responses: []tenon.ResponseSchema{
			{MediaType: "text/plain", Schema: []byte(`{"type":"string"}`)}, {MediaType: "application/json", Schema: []byte(textFound)},
		}},
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) { return r.part(c.Args, o) },
		Origin:  tenon.Diagnostic{File: r.file.path, Line: r.line},
	}
}

// part answers the part of the text that is asked for.
func (r *resource) part(args []byte, o *Options) (tenon.Response, error) {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return tenon.Response{}, invalid("the arguments are no JSON")
	}
	text, err := r.readText(o)
	if err != nil {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeServer, Message: "the text of " + r.name + " cannot be read: " + err.Error()}
	}
	given := func(key string) string { return doc.Str(doc.Get(doc.Root(), key)) }
	reply := tenon.Response{MediaType: "text/plain"}
	switch {
	case given("section") != "":
		found, ok := section(text, given("section"))
		if !ok {
			return tenon.Response{}, &tenon.Error{Code: tenon.CodeNotFound, Message: fmt.Sprintf("there is no section %q", given("section"))}
		}
		reply.Body = []byte(found)
	case given("lines") != "":
		found, err := lineRange(text, given("lines"))
		if err != nil {
			return tenon.Response{}, invalid(err.Error())
		}
		reply.Body = []byte(found)
	case given("search") != "":
		reply.Body, reply.MediaType = searchText(text, given("search")), "application/json"
	default:
		reply.Body = []byte(text)
	}
	return reply, nil
}

// section is a heading with what stands below it, up to the next heading of
// its level or a higher one. Lines in a fence of code are no headings.
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

// fenced is the fence of code that is open behind a line; empty: none.
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

// heading is the level and the title of a heading; 0: it is none.
func heading(line string) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(line) || line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[level:]), "#"))
}

// lineRange are the lines from-to, counted from 1.
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

// searchText answers the places of a text whatever its case, with two lines
// around each. Places that touch become one.
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
