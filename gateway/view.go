package gateway

import (
	"context"
	"slices"

	"github.com/tenon-mcp/tenon"
)

// Entry is what a catalog has, as the rules of an operator see it.
type Entry struct {
	Source string // name of the source
	Name   string // of the tool or prompt; of a resource or template its name, which may be empty
	URI    string // of a resource or template; empty: it is none
	Labels tenon.Labels
}

// EntryOf returns what rules see of a tool, with its name in a catalog.
func EntryOf(source string, t *tenon.Tool) Entry {
	n := Entry{Source: source, Name: t.Name}
	if t.Labels != nil {
		n.Labels = t.Labels()
	}
	if t.Original != "" {
		n.Labels.IDs = append(n.Labels.IDs, t.Original)
	}
	return n
}

// Entry returns what rules see of the tool, under the name that every client knows.
func (e *Tool) Entry() Entry { return EntryOf(e.source, &e.Unadapted().tool) }

// Entries are what the catalog has but for the built-in tools: tools, resources,
// templates and prompts.
func (c *Catalog) Entries() (all []Entry) {
	for _, e := range c.tools {
		if !e.BuiltIn() {
			all = append(all, e.Entry())
		}
	}
	for i := range c.resources {
		all = append(all, c.entryOfResource(&c.resources[i]))
	}
	for i := range c.templates {
		all = append(all, c.entryOfTemplate(&c.templates[i]))
	}
	for i := range c.prompts {
		all = append(all, c.entryOfPrompt(&c.prompts[i]))
	}
	return all
}

func (c *Catalog) entryOfResource(r *tenon.Resource) Entry {
	return Entry{Source: c.sources[resourceURI(r.URI)], Name: r.Name, URI: r.URI}
}

func (c *Catalog) entryOfTemplate(t *tenon.ResourceTemplate) Entry {
	return Entry{Source: c.sources[templateURI(t.URI)], Name: t.Name, URI: t.URI}
}

func (c *Catalog) entryOfPrompt(p *tenon.Prompt) Entry {
	return Entry{Source: c.sources[promptName(p.Name)], Name: p.Name}
}

// Scopes returns the scopes that the access token of a caller must have.
func (e *Tool) Scopes() []string { return e.tool.Scopes }

// The keys of Catalog.sources.
type (
	resourceURI string
	templateURI string
	promptName  string
)

// Only returns a catalog with what keep says yes to, under the same names. The tools
// are those of c, so that their definitions are rendered and their contracts compiled
// once. The built-in tools know of nothing else either, and are gone where there is
// nothing that they are about.
func (c *Catalog) Only(keep func(Entry) bool) *Catalog {
	n := &Catalog{byName: map[string]*Tool{}, naming: c.naming, profile: c.profile, sources: c.sources, diagnostics: slices.Clip(c.diagnostics)}
	for _, e := range c.tools {
		if !e.BuiltIn() && keep(e.Entry()) {
			n.tools = append(n.tools, e)
			n.byName[e.Name()] = e
		}
	}
	for _, r := range c.resources {
		if keep(c.entryOfResource(&r)) {
			n.resources = append(n.resources, r)
		}
	}
	for _, t := range c.templates {
		if keep(c.entryOfTemplate(&t)) {
			n.templates = append(n.templates, t)
		}
	}
	for _, p := range c.prompts {
		if keep(c.entryOfPrompt(&p)) {
			n.prompts = append(n.prompts, p)
		}
	}
	n.addBuiltIn(c)
	return n
}

// addBuiltIn adds the built-in tools of the catalog that c was made from.
func (c *Catalog) addBuiltIn(of *Catalog) {
	if len(c.tools) == 0 {
		return
	}
	for _, e := range of.tools {
		switch {
		case e.resumes:
			c.next = e.Name()
			next := newNextPart(c, e.tool.Envelope, true)
			next.profile = c.profile
			c.add(next, c.next, nil)
		case e.describes:
			d := newDescribe(describable(c.tools))
			d.profile = c.profile
			c.add(d, e.Name(), nil)
		}
	}
}

// BuiltIn reports whether the tool is the catalog's own, and no description's.
func (e *Tool) BuiltIn() bool { return e.resumes || e.describes }

// PerCaller returns c with another catalog for each caller: view returns that of the
// caller to whom the context of a request belongs, which Only made of c, and what
// tells it from those of other callers. c itself stays the whole of it.
func (c *Catalog) PerCaller(view func(context.Context) (of *Catalog, id string)) *Catalog {
	n := *c
	n.view = view
	return &n
}

// For returns the catalog of the caller to whom ctx belongs.
func (c *Catalog) For(ctx context.Context) *Catalog {
	of, _ := c.View(ctx)
	return of
}

// View is For; id is the same for callers who have the same catalog. Empty: all have.
func (c *Catalog) View(ctx context.Context) (of *Catalog, id string) {
	if c.view == nil {
		return c, ""
	}
	return c.view(ctx)
}

// mayCall refuses a call whose caller lacks scopes that the tool needs.
func (g *Gateway) mayCall(ctx context.Context, e *Tool) error {
	if len(e.tool.Scopes) == 0 {
		return nil
	}
	if g.scopes == nil { // nobody can have any
		return &tenon.ScopeError{Scopes: e.tool.Scopes}
	}
	return g.scopes(ctx, e.tool.Scopes)
}

// mayReturn refuses further parts of a result to a caller who may not call its tool
// any more, by the name of that tool: ok is false if there is no such tool for it.
func (g *Gateway) mayReturn(ctx context.Context, e *Tool, name string) (ok bool, err error) {
	if !e.resumes {
		return true, nil // e is that tool, and was asked about
	}
	t := e.within.Find(name)
	if t == nil {
		return !e.narrowed, nil
	}
	return true, g.mayCall(ctx, t)
}
