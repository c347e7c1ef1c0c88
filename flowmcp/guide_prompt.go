package flowmcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/schema"
)

// guideMark is a place in a guide that is filled in.
var guideMark = regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)

// Bounds of what is fetched for a guide.
const (
	maxPrefills = 8
	maxPrefill  = 64 << 10 // bytes of one answer in the text
	prefillTime = 10 * time.Second
)

// bookcase is what guides can name: what a source offers, by its names.
type bookcase struct {
	tools     map[string]*shown
	resources map[string]*resource
	guides    map[string]*guide
}

func newBookcase() *bookcase {
	return &bookcase{tools: map[string]*shown{}, resources: map[string]*resource{}, guides: map[string]*guide{}}
}

// shown is a tool as a guide shows it.
type shown struct {
	tool  tenon.Tool
	route *route
}

// find finds by a name in full (ns/tool/name), without the kind (ns/name), or,
// in its own namespace, by the name alone.
func find[T any](all map[string]T, kind, scope, name string) (T, bool) {
	parts := strings.Split(name, "/")
	if len(parts) == 3 && parts[1] == kind {
		parts = []string{parts[0], parts[2]}
	}
	if len(parts) == 1 {
		parts = []string{scope, parts[0]}
	}
	found, ok := all[strings.Join(parts, "/")]
	return found, ok
}

// prompt is a guide as an MCP prompt.
func (g *guide) prompt(b *bookcase) tenon.Prompt {
	p := tenon.Prompt{Name: g.id(), Description: g.text}
	for _, in := range g.inputs {
		text := in.text
		if len(in.values) > 0 {
			text = strings.TrimSpace(text + " (one of " + strings.Join(in.values, ", ") + ")")
		}
		p.Arguments = append(p.Arguments, tenon.PromptArgument{Name: in.key, Description: text, Required: in.required})
		if len(in.values) > 0 {
			p.Complete = g.complete
		}
	}
	p.Get = func(ctx context.Context, args map[string]string, c *tenon.Call) ([]tenon.PromptMessage, error) {
		if err := g.check(args); err != nil {
			return nil, err
		}
		w := &writer{guide: g, books: b, args: args, fetched: b.prefill(ctx, g, args, c)}
		return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Type: tenon.TextContent, Text: []byte(strings.ToValidUTF8(w.fill(g.content), "\uFFFD"))}}}, nil
	}
	return p
}

func (g *guide) complete(_ context.Context, variable, value string, _ map[string]string) ([]string, error) {
	var all []string
	for _, in := range g.inputs {
		for _, v := range in.values {
			if in.key == variable && strings.HasPrefix(v, value) {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// check compares what was given with the declared inputs.
func (g *guide) check(args map[string]string) error {
	for _, in := range g.inputs {
		value, given := args[in.key]
		_, notNumber := strconv.ParseFloat(value, 64)
		switch {
		case !given && in.required:
			return invalid("the argument " + in.key + " is required")
		case !given:
		case in.kind == "number" && notNumber != nil:
			return invalid("the argument " + in.key + " must be a number")
		case in.kind == "boolean" && value != "true" && value != "false":
			return invalid("the argument " + in.key + " must be true or false")
		case len(in.values) > 0 && !slices.Contains(in.values, value):
			return invalid("the argument " + in.key + " must be one of " + strings.Join(in.values, ", "))
		}
	}
	return nil
}

// writer fills a guide's places. Each is filled once: what is put in is never
// looked at for places.
type writer struct {
	guide   *guide
	books   *bookcase
	args    map[string]string
	fetched map[string]string
	nested  bool // inside another guide: guides are only named
}

func (w *writer) fill(content string) string {
	if w.guide.plain {
		return content
	}
	return guideMark.ReplaceAllStringFunc(content, func(mark string) string {
		token := guideMark.FindStringSubmatch(mark)[1]
		kind, name, _ := strings.Cut(token, ":")
		text, err := w.place(kind, name)
		if err != nil {
			return "[ERROR: " + err.Error() + "]"
		}
		return text
	})
}

// place is the text for one place. What cannot be filled says so in the text,
// and the rest is delivered.
func (w *writer) place(kind, name string) (string, error) {
	missing := fmt.Errorf("token %q not found", kind+":"+name)
	switch kind {
	case "input":
		for _, in := range w.guide.inputs {
			if value, given := w.args[in.key]; in.key == name && given {
				return value, nil
			} else if in.key == name {
				return "(not given)", nil
			}
		}
		return "", missing
	case "prefill":
		if text, ok := find(w.fetched, "tool", w.guide.scope, name); ok {
			return text, nil
		}
		return "", missing
	case "tool":
		name, part, _ := strings.Cut(name, ":")
		if t, ok := find(w.books.tools, "tool", w.guide.scope, name); ok {
			return t.show(part)
		}
		return "", missing
	case "resource":
		if r, ok := find(w.books.resources, "resource", w.guide.scope, name); ok {
			return "**Resource " + r.name + "**: " + r.text, nil
		}
		return "", missing
	case "prompt", "skill":
		g := w.books.guides[idOf(kind, w.guide.scope, name)]
		if g == nil {
			return "", missing
		}
		if w.nested || g == w.guide {
			return "**" + kind + " " + g.name + "**: " + g.text, nil
		}
		inner := &writer{guide: g, books: w.books, args: w.args, fetched: map[string]string{}, nested: true}
		return inner.fill(g.content), nil
	}
	return w.listed(kind, name)
}

// idOf is a guide's name in full.
func idOf(kind, scope, name string) string {
	switch parts := strings.Split(name, "/"); len(parts) {
	case 1:
		return scope + "/" + kind + "/" + name
	case 2:
		return parts[0] + "/" + kind + "/" + parts[1]
	}
	return name
}

// listed is what a shared list says: the values of a field.
func (w *writer) listed(name, field string) (string, error) {
	r := w.guide.lists[name]
	if r == nil || !r.list.fields[field] {
		return "", fmt.Errorf("token %q not found", name+":"+field)
	}
	return strings.Join(r.values(field), ", "), nil
}

// show is a tool, or a part of it, in words.
func (s *shown) show(part string) (string, error) {
	switch part {
	case "":
		return "### " + s.tool.Name + "\n\n" + s.tool.Description + "\n\n" + s.parameters(), nil
	case "description":
		return s.tool.Description, nil
	case "parameters":
		return s.parameters(), nil
	case "test":
		return "```json\n" + s.example() + "\n```", nil
	case "call":
		return "call the tool `" + s.tool.Name + "` with `" + s.example() + "`", nil
	case "meta":
		return fmt.Sprintf("reads only: %v, destroys: %v", s.route.readOnly(), s.route.meta.get("isDestructive").yes()), nil
	}
	return "", fmt.Errorf("a tool has no part %q", part)
}

func (s *shown) parameters() string {
	var b strings.Builder
	for _, p := range s.route.parameters {
		for _, name := range p.arguments() {
			if b.Len() == 0 {
				b.WriteString("| parameter | type | required | description |\n|---|---|---|---|\n")
			}
			required := "yes"
			if p.z.optional {
				required = "no"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, p.z.primitive, required, strings.ReplaceAll(p.description, "|", "\\|"))
		}
	}
	if b.Len() == 0 {
		return "No parameters."
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// example are the arguments of the tool's first test case.
func (s *shown) example() string {
	for _, test := range s.route.tests.list() {
		return string(withoutDescription(test).appendJSON(nil))
	}
	return "{}"
}

// withoutDescription are the arguments of a test case.
func withoutDescription(test *node) *node {
	args := &node{kind: objectKind}
	test.members(func(key string, value *node) {
		if key != "_description" {
			args.keys, args.items = append(args.keys, key), append(args.items, value)
		}
	})
	return args
}

// prefill makes the calls of a guide, one after the other.
func (b *bookcase) prefill(ctx context.Context, g *guide, args map[string]string, c *tenon.Call) map[string]string {
	all := map[string]string{}
	for i, n := range g.prefill.list() {
		if i == maxPrefills {
			break
		}
		name := n.get("tool").str()
		text, err := b.fetch(ctx, g, name, fillParams(n.get("params"), args), c)
		if err != nil {
			text = "[PREFILL ERROR: " + plainMessage(err) + "]"
		}
		t, ok := find(b.tools, "tool", g.scope, name)
		if ok {
			name = t.route.file.namespace + "/" + t.route.name
		}
		all[name] = text
	}
	return all
}

// fillParams puts inputs into the arguments of a call.
func fillParams(params *node, args map[string]string) []byte {
	if !params.is(objectKind) {
		return []byte("{}")
	}
	filled := &node{kind: objectKind, keys: params.keys}
	for _, item := range params.items {
		if item.is(stringKind) {
			text := guideMark.ReplaceAllStringFunc(item.text, func(mark string) string {
				if key, isInput := strings.CutPrefix(guideMark.FindStringSubmatch(mark)[1], "input:"); isInput {
					return args[key]
				}
				return mark
			})
			item = &node{kind: stringKind, text: text}
		}
		filled.items = append(filled.items, item)
	}
	return filled.appendJSON(nil)
}

// fetch makes one call for a guide: only of a tool that changes nothing, with
// arguments that fit.
func (b *bookcase) fetch(ctx context.Context, g *guide, name string, args []byte, c *tenon.Call) (string, error) {
	t, ok := find(b.tools, "tool", g.scope, name)
	switch {
	case !ok:
		return "", errors.New("there is no tool " + name)
	case !t.route.readOnly():
		return "", errors.New("the tool " + name + " may change something and is not called for a text")
	}
	input, err := schema.Compile(t.route.input(), schema.Options{})
	if err != nil {
		return "", err
	}
	if coerced, fixes := input.Coerce(args); len(fixes) > 0 {
		args = coerced // what a person gives for a guide is always a text
	}
	if v := input.Validate(args); len(v) > 0 {
		return "", fmt.Errorf("the arguments for %s do not fit: %s: expected %s", name, v[0].Path, v[0].Expected)
	}
	ctx, cancel := context.WithTimeout(ctx, prefillTime)
	defer cancel()
	reply, err := t.tool.Handler(ctx, &tenon.Call{Tool: t.tool.Name, Args: args, Subject: c.Subject})
	switch {
	case err != nil:
		return "", err
	case reply.Status != 0 && (reply.Status < 200 || reply.Status > 299):
		return "", fmt.Errorf("status %d", reply.Status)
	}
	text := string(egress.ToValidUTF8(reply.Body))
	if len(text) > maxPrefill {
		text = strings.ToValidUTF8(text[:maxPrefill], "") + "…"
	}
	return text, nil
}
