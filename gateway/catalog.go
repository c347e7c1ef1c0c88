package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/toolname"
)

// Mount holds the features of a source under its name.
type Mount struct {
	Name     string // short name of the source; prefixes tool names
	Features tenon.Features
	Forward  map[string]Forward // by the name in Features: tools that forward their calls to another tool instead of having a Handler
}

// Prefix says when tool names are prefixed with the name of their source.
type Prefix string

// The ways to prefix. Empty means PrefixAuto.
const (
	PrefixAuto   Prefix = "auto"   // tools whose names collide between sources, all of them
	PrefixAlways Prefix = "always" // every tool
	PrefixNever  Prefix = "never"  // no tool; collisions are numbered
)

// ParsePrefix parses the value of a flag or config key.
func ParsePrefix(s string) (Prefix, error) {
	return choice("prefix", Prefix(s), PrefixAuto, PrefixAlways, PrefixNever)
}

// BuildOptions are the options of Build. The zero value works.
type BuildOptions struct {
	Prefix     Prefix
	Names      tenon.Naming                       // empty: NamesModels
	NameBudget int                                // bytes of a tool's name, 16 at least; 0: as Names allows. A longer name keeps its beginning and gets a short hash
	Describe   Toggle                             // the tool "describe"; empty: if a tool has the envelope OpenAPIMCP
	Configure  func(source string, t *tenon.Tool) // called for every tool, with its name in the catalog; may change everything but the name; nil: no changes
	Meta       func(*Tool) []byte                 // a JSON object for the _meta of a tool's definition, called when that is rendered; nil: none
}

// Catalog is a frozen set of tools, resources and prompts in the order of their
// descriptions. It is safe for concurrent use; a reload builds a new one.
type Catalog struct {
	tools       []*Tool
	byName      map[string]*Tool
	naming      toolname.Rule
	next        string // name of the tool that returns further parts; empty: none
	resources   []tenon.Resource
	templates   []tenon.ResourceTemplate
	prompts     []tenon.Prompt
	sources     map[any]string // of resources, templates and prompts: see sourceOf
	diagnostics []tenon.Diagnostic

	profile *Profile                                      // of the client that the catalog is for; nil: every client
	view    func(context.Context) (c *Catalog, id string) // see PerCaller; nil: all callers have this one
}

// Build joins mounts into a catalog and gives every tool a legal, unique name.
// It never fails: what cannot be served is left out and reported by Diagnostics.
func Build(mounts []Mount, o BuildOptions) *Catalog {
	c := &Catalog{byName: map[string]*Tool{}, sources: map[any]string{}}
	c.naming = toolname.Rule{Naming: toolname.Naming(o.Names), Longest: o.NameBudget}
	shared := sharedNames(mounts, c.naming)
	for _, n := range mounts {
		c.diagnostics = append(c.diagnostics, n.Features.Diagnostics...)
		c.gather(n.Name, n.Features)
		published := new(envelope.Published)
		for i := range n.Features.Tools {
			t := &n.Features.Tools[i]
			forward := n.Forward[t.Name]
			if t.Handler == nil && forward == nil {
				c.report(t, fmt.Sprintf("tool %q has no handler and was left out", t.Name), "")
				continue
			}
			name := c.naming.Legal(t.Name)
			if o.Prefix == PrefixAlways || o.Prefix != PrefixNever && shared[name] {
				name = c.naming.Legal(n.Name + "_" + name)
			}
			c.add(&Tool{tool: *t, source: n.Name, forward: forward, published: published, meta: o.Meta}, name, o.Configure)
		}
	}
	c.addNextPart()
	c.addDescribe(o.Describe)
	return c
}

// sharedNames returns the tool names that more than one source uses.
func sharedNames(mounts []Mount, naming toolname.Rule) map[string]bool {
	owner := map[string]int{}
	shared := map[string]bool{}
	if len(mounts) == 1 {
		return shared
	}
	for i, n := range mounts {
		for _, t := range n.Features.Tools {
			name := naming.Legal(t.Name)
			if first, ok := owner[name]; ok && first != i {
				shared[name] = true
			}
			owner[name] = i
		}
	}
	return shared
}

// add gives e a unique name and adds it to the catalog.
func (c *Catalog) add(e *Tool, name string, adjust func(source string, t *tenon.Tool)) {
	t := &e.tool
	unique := c.naming.Free(name, func(name string) bool { return c.byName[name] != nil })
	if unique != name {
		c.report(t, fmt.Sprintf("the tool name %q is taken; this tool is served as %q", name, unique), "")
	}
	if t.Original == "" {
		t.Original = t.Name
	}
	t.Name = unique
	if adjust != nil {
		adjust(e.source, t)
		t.Name = unique
	}
	if t.MaxResult == 0 && t.Envelope == tenon.OpenAPIMCP {
		t.MaxResult = defaultMaxResult
	}
	if err := e.makeProjection(); err != nil {
		c.report(t, fmt.Sprintf("the projection of tool %q cannot be applied, so the tool is left out: %v", unique, err), "")
		c.diagnostics[len(c.diagnostics)-1].Kind = tenon.DiagnosticProjection
		return
	}
	c.byName[unique] = e
	c.tools = append(c.tools, e)
}

// free returns the name of a built-in tool; a tool of a description has precedence.
func (c *Catalog) free(name string) string {
	if c.byName[name] != nil {
		return "tenon_" + name
	}
	return name
}

func (c *Catalog) report(t *tenon.Tool, message, hint string) {
	c.diagnostics = append(c.diagnostics, tenon.Diagnostic{File: t.Origin.File, Line: t.Origin.Line, Message: message, Hint: hint})
}

// Tools returns the tools in the order of their descriptions. The caller must
// not change the slice.
func (c *Catalog) Tools() []*Tool { return c.tools }

// Find returns the tool with that name, or nil.
func (c *Catalog) Find(name string) *Tool { return c.byName[name] }

// NextPart returns the tool that returns further parts of large results, or nil.
func (c *Catalog) NextPart() *Tool { return c.byName[c.next] }

// Diagnostics returns the problems of the descriptions. Those of schemas are
// found when a tool's definition is first needed: see [Tool.Diagnostics].
func (c *Catalog) Diagnostics() []tenon.Diagnostic { return c.diagnostics }

// Resources returns the resources in the order of their descriptions. The
// caller must not change the slice, nor those of Templates and Prompts.
func (c *Catalog) Resources() []tenon.Resource { return c.resources }

// Templates returns the resource templates.
func (c *Catalog) Templates() []tenon.ResourceTemplate { return c.templates }

// Prompts returns the prompts.
func (c *Catalog) Prompts() []tenon.Prompt { return c.prompts }

// gather adds resources and prompts. A URI or name that is already in use stays
// with the first source.
func (c *Catalog) gather(source string, o tenon.Features) {
	taken := func(what string) {
		c.diagnostics = append(c.diagnostics, tenon.Diagnostic{Message: what + " exists already; this one was left out"})
	}
	for _, r := range o.Resources {
		if slices.ContainsFunc(c.resources, func(x tenon.Resource) bool { return x.URI == r.URI }) {
			taken("the resource " + r.URI)
			continue
		}
		c.resources = append(c.resources, r)
		c.sources[resourceURI(r.URI)] = source
	}
	for _, p := range o.Prompts {
		if slices.ContainsFunc(c.prompts, func(x tenon.Prompt) bool { return x.Name == p.Name }) {
			taken("the prompt " + p.Name)
			continue
		}
		c.prompts = append(c.prompts, p)
		c.sources[promptName(p.Name)] = source
	}
	for _, t := range o.ResourceTemplates {
		c.templates = append(c.templates, t)
		c.sources[templateURI(t.URI)] = source
	}
}

// choice returns value if it is known, else an error that lists the known ones.
func choice[T ~string](what string, value T, known ...T) (T, error) {
	if slices.Contains(known, value) {
		return value, nil
	}
	return "", tenon.Errorf(tenon.CodeUsage, "%s %q is not known; use one of %q", what, value, known)
}
