package gateway

import (
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/toolname"
)

// Mount is an offer under the name of its source.
type Mount struct {
	Name     string // short name of the source; prefixes tool names
	Features tenon.Features
	Forward  map[string]Forward // by the name in Features: tools whose calls are those of others, instead of a Handler
}

// Prefix says when the source's name stands before a tool's name.
type Prefix string

// The ways to prefix. Empty means PrefixAuto.
const (
	PrefixAuto   Prefix = "auto"   // tools whose names collide between sources, all of them
	PrefixAlways Prefix = "always" // every tool
	PrefixNever  Prefix = "never"  // no tool; collisions are numbered
)

// ParsePrefix reads a prefix mode as an operator writes it.
func ParsePrefix(s string) (Prefix, error) {
	return choice("prefix", Prefix(s), PrefixAuto, PrefixAlways, PrefixNever)
}

// BuildOptions are the choices of Build. The zero value works.
type BuildOptions struct {
	Prefix    Prefix
	Names     tenon.Naming                       // empty: NamesModels
	Describe  Toggle                             // the tool "describe"; empty: where a tool has the envelope OpenAPIMCP
	Configure func(source string, t *tenon.Tool) // called for every tool under its name in the catalog; may change all but that; nil: nothing
}

// Catalog is a frozen set of tools, resources and prompts in the order of their
// descriptions. It is safe for concurrent use; a reload builds a new one.
type Catalog struct {
	tools       []*Tool
	byName      map[string]*Tool
	naming      toolname.Naming
	next        string // hands out parts; empty: there is none
	resources   []tenon.Resource
	templates   []tenon.ResourceTemplate
	prompts     []tenon.Prompt
	diagnostics []tenon.Diagnostic
}

// Build joins offers into a catalog and gives every tool a legal, unique name.
// It never fails: what cannot be served is left out and reported by Faults.
func Build(offers []Mount, o BuildOptions) *Catalog {
	c := &Catalog{byName: map[string]*Tool{}}
	c.naming = toolname.Naming(o.Names)
	shared := sharedNames(offers, c.naming)
	for _, n := range offers {
		c.diagnostics = append(c.diagnostics, n.Features.Diagnostics...)
		c.gather(n.Features)
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
			c.add(&Tool{tool: *t, source: n.Name, forward: forward, published: published}, name, o.Configure)
		}
	}
	c.addNextPart()
	c.addDescribe(o.Describe)
	return c
}

// sharedNames returns the tool names that more than one source uses.
func sharedNames(offers []Mount, naming toolname.Naming) map[string]bool {
	owner := map[string]int{}
	shared := map[string]bool{}
	if len(offers) == 1 {
		return shared
	}
	for i, n := range offers {
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

// add gives e a name of its own and takes it in.
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
		c.report(t, fmt.Sprintf("the view of tool %q cannot be had and the tool is left out: %v", unique, err), "")
		c.diagnostics[len(c.diagnostics)-1].Kind = tenon.DiagnosticProjection
		return
	}
	c.byName[unique] = e
	c.tools = append(c.tools, e)
}

// free is the name of a tool of our own: a description's keeps its.
func (c *Catalog) free(name string) string {
	if c.byName[name] != nil {
		return "tenon_" + name
	}
	return name
}

func (c *Catalog) report(t *tenon.Tool, what, do string) {
	c.diagnostics = append(c.diagnostics, tenon.Diagnostic{File: t.Origin.File, Line: t.Origin.Line, Message: what, Hint: do})
}

// Tools returns the tools in the order of their descriptions. The caller must
// not change the slice.
func (c *Catalog) Tools() []*Tool { return c.tools }

// Find returns the tool with that name, or nil.
func (c *Catalog) Find(name string) *Tool { return c.byName[name] }

// NextPart returns the tool that hands out the parts of large answers, or nil.
func (c *Catalog) NextPart() *Tool { return c.byName[c.next] }

// Diagnostics returns what was wrong with the descriptions. Faults of schemas are
// known only once a tool was asked for its definition: see Tool.Diagnostics.
func (c *Catalog) Diagnostics() []tenon.Diagnostic { return c.diagnostics }

// Resources returns what can be read, in the order of the descriptions. The
// caller must not change the slice; so with Templates and Prompts.
func (c *Catalog) Resources() []tenon.Resource { return c.resources }

// Templates returns the forms of further resources.
func (c *Catalog) Templates() []tenon.ResourceTemplate { return c.templates }

// Prompts returns the prompts.
func (c *Catalog) Prompts() []tenon.Prompt { return c.prompts }

// gather takes over what an offer has beside tools. An address or a name that
// is taken already stays with its first owner.
func (c *Catalog) gather(o tenon.Features) {
	taken := func(what string) {
		c.diagnostics = append(c.diagnostics, tenon.Diagnostic{Message: what + " is taken; this one was left out"})
	}
	for _, r := range o.Resources {
		if slices.ContainsFunc(c.resources, func(x tenon.Resource) bool { return x.URI == r.URI }) {
			taken("the resource " + r.URI)
			continue
		}
		c.resources = append(c.resources, r)
	}
	for _, p := range o.Prompts {
		if slices.ContainsFunc(c.prompts, func(x tenon.Prompt) bool { return x.Name == p.Name }) {
			taken("the prompt " + p.Name)
			continue
		}
		c.prompts = append(c.prompts, p)
	}
	c.templates = append(c.templates, o.ResourceTemplates...)
}

// choice finds what an operator wrote among what is known.
func choice[T ~string](what string, wrote T, known ...T) (T, error) {
	if slices.Contains(known, wrote) {
		return wrote, nil
	}
	return "", tenon.Errorf(tenon.CodeUsage, "%s %q is not known; use one of %q", what, wrote, known)
}
