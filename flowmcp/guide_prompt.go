package flowmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/charset"
	"github.com/tenon-mcp/tenon/schema"
)

// Limits of prefill.
const (
	maxPrefills = 8
	maxPrefill  = 64 << 10 // bytes of one response in the text
	prefillTime = 10 * time.Second
)

// guideIndex holds what guides can refer to, by name.
type guideIndex struct {
	tools     map[string]*indexedTool
	resources map[string]*format.Resource
	guides    map[string]*format.Guide
}

func newGuideIndex() *guideIndex {
	return &guideIndex{tools: map[string]*indexedTool{}, resources: map[string]*format.Resource{}, guides: map[string]*format.Guide{}}
}

// indexedTool is a tool as guides render it.
type indexedTool struct {
	tool  tenon.Tool
	route *format.Tool
}

// lookUp looks up a qualified name (ns/tool/name), a name without the kind
// (ns/name), or a bare name in its own namespace.
func lookUp[T any](all map[string]T, kind, scope, name string) (T, bool) {
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

// prompt returns the guide as an MCP prompt.
func (g guide) prompt(b *guideIndex) tenon.Prompt {
	p := tenon.Prompt{Name: g.ID(), Description: g.Description}
	for _, in := range g.Inputs {
		text := in.Description
		if len(in.Values) > 0 {
			text = strings.TrimSpace(text + " (one of " + strings.Join(in.Values, ", ") + ")")
		}
		p.Arguments = append(p.Arguments, tenon.PromptArgument{Name: in.Key, Description: text, Required: in.Required})
		if len(in.Values) > 0 {
			p.Complete = g.complete
		}
	}
	p.Get = func(ctx context.Context, args map[string]string, c *tenon.Call) ([]tenon.PromptMessage, error) {
		if err := g.checkArguments(args); err != nil {
			return nil, err
		}
		w := &expander{guide: g, index: b, args: args, fetched: b.prefill(ctx, g.Guide, args, c)}
		return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Type: tenon.TextContent, Text: []byte(strings.ToValidUTF8(w.expand(g.Content), "\uFFFD"))}}}, nil
	}
	return p
}

func (g guide) complete(_ context.Context, variable, value string, _ map[string]string) ([]string, error) {
	var all []string
	for _, in := range g.Inputs {
		for _, v := range in.Values {
			if in.Key == variable && strings.HasPrefix(v, value) {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// checkArguments validates the arguments against the declared inputs.
func (g guide) checkArguments(args map[string]string) error {
	for _, in := range g.Inputs {
		value, given := args[in.Key]
		_, notNumber := strconv.ParseFloat(value, 64)
		switch {
		case !given && in.Required:
			return validationError("the argument " + in.Key + " is required")
		case !given:
		case in.Kind == "number" && notNumber != nil:
			return validationError("the argument " + in.Key + " must be a number")
		case in.Kind == "boolean" && value != "true" && value != "false":
			return validationError("the argument " + in.Key + " must be true or false")
		case len(in.Values) > 0 && !slices.Contains(in.Values, value):
			return validationError("the argument " + in.Key + " must be one of " + strings.Join(in.Values, ", "))
		}
	}
	return nil
}

// expander expands a guide's placeholders. Inserted text is never expanded again.
type expander struct {
	guide   guide
	index   *guideIndex
	args    map[string]string
	fetched map[string]string
	nested  bool // inside another guide: only names are inserted
}

func (w *expander) expand(content string) string {
	if w.guide.Plain {
		return content
	}
	return format.GuidePlaceholder.ReplaceAllStringFunc(content, func(mark string) string {
		token := format.GuidePlaceholder.FindStringSubmatch(mark)[1]
		kind, name, _ := strings.Cut(token, ":")
		text, err := w.resolve(kind, name)
		if err != nil {
			return "[ERROR: " + err.Error() + "]"
		}
		return text
	})
}

// resolve returns the text for one placeholder.
func (w *expander) resolve(kind, name string) (string, error) {
	missing := fmt.Errorf("token %q not found", kind+":"+name)
	switch kind {
	case "input":
		for _, in := range w.guide.Inputs {
			if value, given := w.args[in.Key]; in.Key == name && given {
				return value, nil
			} else if in.Key == name {
				return "(not given)", nil
			}
		}
		return "", missing
	case "prefill":
		if text, ok := lookUp(w.fetched, "tool", w.guide.Scope, name); ok {
			return text, nil
		}
		return "", missing
	case "tool":
		name, part, _ := strings.Cut(name, ":")
		if t, ok := lookUp(w.index.tools, "tool", w.guide.Scope, name); ok {
			return t.render(part)
		}
		return "", missing
	case "resource":
		if r, ok := lookUp(w.index.resources, "resource", w.guide.Scope, name); ok {
			return "**Resource " + r.Name + "**: " + r.Description, nil
		}
		return "", missing
	case "prompt", "skill":
		g := w.index.guides[format.QualifiedID(kind, w.guide.Scope, name)]
		if g == nil {
			return "", missing
		}
		if w.nested || g == w.guide.Guide {
			return "**" + kind + " " + g.Name + "**: " + g.Description, nil
		}
		inner := &expander{guide: guide{g}, index: w.index, args: w.args, fetched: map[string]string{}, nested: true}
		return inner.expand(g.Content), nil
	}
	return w.listValues(kind, name)
}

// listValues returns the values of a field of a shared list.
func (w *expander) listValues(name, field string) (string, error) {
	r := w.guide.Lists[name]
	if r == nil || !r.List.Fields[field] {
		return "", fmt.Errorf("token %q not found", name+":"+field)
	}
	return strings.Join(r.Values(field), ", "), nil
}

// render renders a tool, or a part of it.
func (s *indexedTool) render(part string) (string, error) {
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
		return fmt.Sprintf("reads only: %v, destroys: %v", s.route.ReadOnly(), s.route.Meta.Get("isDestructive").IsTrue()), nil
	}
	return "", fmt.Errorf("a tool has no part %q", part)
}

func (s *indexedTool) parameters() string {
	var b strings.Builder
	for _, p := range s.route.Parameters {
		for _, name := range p.Arguments() {
			if b.Len() == 0 {
				b.WriteString("| parameter | type | required | description |\n|---|---|---|---|\n")
			}
			required := "yes"
			if p.Type.Optional {
				required = "no"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, p.Type.Primitive, required, strings.ReplaceAll(p.Description, "|", "\\|"))
		}
	}
	if b.Len() == 0 {
		return "No parameters."
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// example returns the arguments of the tool's first test case.
func (s *indexedTool) example() string {
	for _, test := range s.route.Tests.List() {
		return string(withoutDescription(test).AppendJSON(nil))
	}
	return "{}"
}

// withoutDescription returns the arguments of a test case.
func withoutDescription(test *module.Node) *module.Node {
	args := &module.Node{Kind: module.Object}
	test.Members(func(key string, value *module.Node) {
		if key != "_description" {
			args.Keys, args.Items = append(args.Keys, key), append(args.Items, value)
		}
	})
	return args
}

// prefill performs the prefill calls of a guide, one after the other.
func (b *guideIndex) prefill(ctx context.Context, g *format.Guide, args map[string]string, c *tenon.Call) map[string]string {
	all := map[string]string{}
	for i, n := range g.Prefill.List() {
		if i == maxPrefills {
			break
		}
		name := n.Get("tool").Str()
		text, err := b.fetch(ctx, g, name, fillParams(n.Get("params"), args), c)
		if err != nil {
			text = "[PREFILL ERROR: " + plainMessage(err) + "]"
		}
		t, ok := lookUp(b.tools, "tool", g.Scope, name)
		if ok {
			name = t.route.File.Namespace + "/" + t.route.Name
		}
		all[name] = text
	}
	return all
}

// fillParams inserts inputs into the arguments of a call.
func fillParams(params *module.Node, args map[string]string) []byte {
	if !params.Is(module.Object) {
		return []byte("{}")
	}
	filled := &module.Node{Kind: module.Object, Keys: params.Keys}
	for _, item := range params.Items {
		if item.Is(module.String) {
			text := format.GuidePlaceholder.ReplaceAllStringFunc(item.Text, func(mark string) string {
				if key, isInput := strings.CutPrefix(format.GuidePlaceholder.FindStringSubmatch(mark)[1], "input:"); isInput {
					return args[key]
				}
				return mark
			})
			item = &module.Node{Kind: module.String, Text: text}
		}
		filled.Items = append(filled.Items, item)
	}
	return filled.AppendJSON(nil)
}

// fetch performs one prefill call: only of read-only tools, with valid
// arguments.
func (b *guideIndex) fetch(ctx context.Context, g *format.Guide, name string, args []byte, c *tenon.Call) (string, error) {
	t, ok := lookUp(b.tools, "tool", g.Scope, name)
	switch {
	case !ok:
		return "", errors.New("unknown tool " + name)
	case !t.route.ReadOnly():
		return "", errors.New("the tool " + name + " is not read-only and is not called by prefill")
	}
	input, err := schema.Compile(t.route.InputSchema(), schema.Options{})
	if err != nil {
		return "", err
	}
	if coerced, fixes := input.Coerce(args); len(fixes) > 0 {
		args = coerced // arguments of prompts are always strings
	}
	if v := input.Validate(args); len(v) > 0 {
		return "", fmt.Errorf("invalid arguments for %s: %s: expected %s", name, v[0].Path, v[0].Expected)
	}
	ctx, cancel := context.WithTimeout(ctx, prefillTime)
	defer cancel()
	response, err := t.tool.Handler(ctx, &tenon.Call{Tool: t.tool.Name, Args: args, Subject: c.Subject})
	switch {
	case err != nil:
		return "", err
	case response.Status != 0 && (response.Status < 200 || response.Status > 299):
		return "", fmt.Errorf("status %d", response.Status)
	}
	text := string(charset.ToValidUTF8(response.Body))
	if len(text) > maxPrefill {
		text = strings.ToValidUTF8(text[:maxPrefill], "") + "…"
	}
	return text, nil
}
