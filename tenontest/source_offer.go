package tenontest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// offered checks what stands in an offer, without asking for schemas.
func (c *sourceCheck) offered(o tenon.Features) {
	if len(o.Tools)+len(o.Resources)+len(o.ResourceTemplates)+len(o.Prompts) == 0 {
		c.problem("Load finds no tool, no resource and no prompt: %v", o.Diagnostics)
	}
	for i := range o.Tools {
		c.tool(&o.Tools[i])
	}
	unique(o.Tools, func(t tenon.Tool) string { return tenon.ToolName(t.Name) }, func(name string) {
		c.problem("two tools are named %q", name)
	})
	for _, f := range o.Diagnostics {
		c.diagnostic(f)
	}
	for _, r := range o.Resources {
		what := fmt.Sprintf("resource %q", r.URI)
		if u, err := url.Parse(r.URI); err != nil || !u.IsAbs() {
			c.problem("%s: its URI is not absolute", what)
		}
		c.needs(r.Read != nil, what, "has no Read")
		c.texts(what, r.Name, r.Title, r.Description, r.MediaType)
	}
	unique(o.Resources, func(r tenon.Resource) string { return r.URI }, func(uri string) { c.problem("two resources have the URI %q", uri) })
	for _, t := range o.ResourceTemplates {
		what := fmt.Sprintf("template %q", t.URI)
		c.needs(strings.Contains(t.URI, "{"), what, "has no variable: it is a resource")
		c.needs(t.Read != nil, what, "has no Read")
		c.texts(what, t.Name, t.Title, t.Description, t.MediaType)
	}
	for _, p := range o.Prompts {
		what := fmt.Sprintf("prompt %q", p.Name)
		c.needs(p.Name != "", what, "has no name")
		c.needs(p.Get != nil, what, "has no Get")
		c.texts(what, p.Name, p.Title, p.Description)
		unique(p.Arguments, func(a tenon.PromptArgument) string { return a.Name }, func(name string) {
			c.problem("%s: two arguments are named %q", what, name)
		})
	}
	unique(o.Prompts, func(p tenon.Prompt) string { return p.Name }, func(name string) { c.problem("two prompts are named %q", name) })
}

func (c *sourceCheck) tool(t *tenon.Tool) {
	what := fmt.Sprintf("tool %q", t.Name)
	switch {
	case t.Name == "":
		c.problem("a tool has no name (its description: %.60q)", t.Description)
	case tenon.ToolName(t.Name) != t.Name:
		c.problem("%s: clients would see it as %q; a name is 1 to 64 of A-Z a-z 0-9 _ -", what, tenon.ToolName(t.Name))
	}
	c.needs(strings.TrimSpace(t.Description) != "", what, "has no description: a model chooses by it")
	c.needs(t.Handler != nil, what, "has no handler")
	c.texts(what, t.Title, t.Description, t.Group, t.Keywords)
	h := t.Annotations
	c.needs(!isTrue(h.ReadOnly) || !isTrue(h.Destructive), what, "is marked as read-only and as destructive")
	if t.Meta != nil {
		c.needs(isObject(t.Meta), what, "its Meta is no JSON object")
	}
	if t.Policy != "" {
		_, err := tenon.ParsePolicy(string(t.Policy))
		c.needs(err == nil, what, "its policy is unknown")
	}
	if t.Envelope != "" {
		_, err := tenon.ParseEnvelope(string(t.Envelope))
		c.needs(err == nil, what, "its envelope is unknown")
	}
	c.needs(t.Origin.Line == 0 || t.Origin.File != "", what, "its Origin has a line and no file")
}

// diagnostic checks a report about the description: an operator reads it.
func (c *sourceCheck) diagnostic(f tenon.Diagnostic) {
	switch {
	case strings.TrimSpace(f.Message) == "":
		c.problem("a diagnostic does not say what is wrong: %+v", f)
	case f.Line < 0 || f.Line > 0 && f.File == "":
		c.problem("a diagnostic has line %d and the file %q: %s", f.Line, f.File, f.Message)
	case !utf8.ValidString(f.String()):
		c.problem("a diagnostic is no UTF-8: %q", f.String())
	}
}

func (c *sourceCheck) needs(ok bool, what, otherwise string) {
	if !ok {
		c.problem("%s: %s", what, otherwise)
	}
}

func (c *sourceCheck) texts(what string, texts ...string) {
	for _, t := range texts {
		c.needs(utf8.ValidString(t), what, fmt.Sprintf("the text %.40q is no UTF-8", t))
	}
}

// unique calls twice for each key that comes again.
func unique[T any](list []T, key func(T) string, twice func(string)) {
	seen := map[string]bool{}
	for _, x := range list {
		if k := key(x); seen[k] {
			twice(k)
		} else {
			seen[k] = true
		}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

func isObject(doc []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(doc, &members) == nil && members != nil
}

// build makes a catalog of an offer as a server would.
func build(o tenon.Features, adjust func(*tenon.Tool)) *gateway.Catalog {
	options := gateway.BuildOptions{}
	if adjust != nil {
		options.Configure = func(_ string, t *tenon.Tool) { adjust(t) }
	}
	return gateway.Build([]gateway.Mount{{Name: "source", Features: o}}, options)
}

// fingerprint is what clients see of an offer: an entry for each thing, its
// name in the first line.
func fingerprint(o tenon.Features) []string {
	var list []string
	for _, e := range build(o, nil).Tools() {
		t := e.Tool()
		list = append(list, fmt.Sprintf("tool %q\n%s\n%v %v %v", t.Name, e.Definition(), t.Group, t.Policy, t.Envelope))
	}
	for _, r := range o.Resources {
		list = append(list, fmt.Sprintf("resource %q\n%q %q %q %q", r.URI, r.Name, r.Title, r.Description, r.MediaType))
	}
	for _, t := range o.ResourceTemplates {
		list = append(list, fmt.Sprintf("template %q\n%q %q %q %q", t.URI, t.Name, t.Title, t.Description, t.MediaType))
	}
	for _, p := range o.Prompts {
		list = append(list, fmt.Sprintf("prompt %q\n%q %q %+v", p.Name, p.Title, p.Description, p.Arguments))
	}
	for _, f := range o.Diagnostics {
		list = append(list, fmt.Sprintf("diagnostic %q\n", f.String()))
	}
	return list
}
