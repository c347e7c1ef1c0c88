package gateway

import (
	"context"
	"regexp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/profile"
	"github.com/tenon-mcp/tenon/internal/typedecl"
)

// Profile is what the rules of one client ask of what is published to it. Tools whose
// author fixed what they publish keep it: see [tenon.Tool.Fixed].
type Profile struct {
	Name          string         // of the client, as in addresses
	LongestName   int            // bytes of a tool's name; 0: as the catalog has it
	LetterFirst   bool           // names of tools begin with a letter or _
	PropertyNames *regexp.Regexp // what names of arguments match at any depth; nil: anything
	Input, Output SchemaRules    // of schemas of arguments and of results
	MaxInput      int            // bytes of an input schema whose references are written out; 0: no limit
	MaxOutput     int            // the same of an output schema
	TextOnly      bool           // results are text alone, so that no output schema is published
	Returns       bool           // descriptions begin with what results are: the client shows no output schema
}

// SchemaRules are what schemas must be to be read. The zero value asks for nothing.
type SchemaRules struct {
	Inline            bool // no $ref: what a reference names is written in its place
	SplitTypes        bool // no list of types: a branch of anyOf for each
	TextEnums         bool // the values of an enum are texts
	NoOneOf           bool // anyOf in place of oneOf
	NoRootCombinators bool // no allOf, anyOf or oneOf at the root
	Closed            bool // objects have the members that are declared, and no others
	AllRequired       bool // every property is required; those that were optional may be null, which is read as absent
	NullOptional      bool // arguments that are optional may be null, which is read as absent
}

// Adapted returns the catalog as a client of that profile gets it. What is listed and
// what is called agree: the arguments of calls are read as they were published.
func (c *Catalog) Adapted(p *Profile) *Catalog {
	n := &Catalog{byName: map[string]*Tool{}, naming: c.naming, resources: c.resources, templates: c.templates, prompts: c.prompts, sources: c.sources}
	n.naming.Letter = n.naming.Letter || p.LetterFirst
	if p.LongestName > 0 && (n.naming.Longest == 0 || p.LongestName < n.naming.Longest) {
		n.naming.Longest = p.LongestName
	}
	n.profile = p
	n.diagnostics = append(n.diagnostics, c.diagnostics...)
	for _, e := range c.tools {
		if !e.BuiltIn() {
			n.adapt(c, e)
		}
	}
	n.addBuiltIn(c)
	return n
}

// adapt adds a tool of another catalog. Those that keep their names have them, whatever
// others become.
func (c *Catalog) adapt(of *Catalog, e *Tool) {
	own := e.Name()
	name := c.naming.Legal(own)
	if name != own {
		name = c.naming.Free(name, func(name string) bool {
			return c.byName[name] != nil || of.byName[name] != nil && c.naming.Legal(name) == name
		})
	}
	n := &Tool{tool: e.tool, source: e.source, forward: e.forward, published: e.published, next: e.next, unadapted: e.Unadapted()}
	if !e.tool.Fixed {
		n.profile = c.profile
	}
	c.add(n, name, nil)
}

// Unadapted returns the tool that was adapted to a profile: what settings name, limits
// count and logs tell. Of another tool it is the tool, of nil nil.
func (e *Tool) Unadapted() *Tool {
	if e == nil || e.unadapted == nil {
		return e
	}
	return e.unadapted
}

// adapts rewrites what is published of the tool as its profile wants it.
func (e *Tool) adapts() {
	p := e.profile
	e.reader = profile.NewReader(e.input)
	input, notes := profile.Needs(p.Input).Rewrite(e.input, p.MaxInput)
	e.noteProfile("input", notes)
	e.input = input
	if p.Returns {
		e.returns = e.resultType()
	}
	if p.TextOnly {
		e.output = nil
		return
	}
	if e.output != nil {
		e.output, notes = profile.Needs(p.Output).Rewrite(e.output, p.MaxOutput)
		e.noteProfile("output", notes)
	}
}

func (e *Tool) noteProfile(which string, notes []string) {
	for _, note := range notes {
		e.diagnostics = append(e.diagnostics, diagnosticAt(&e.tool, "for "+e.profile.Name+": the "+which+" schema "+note))
	}
}

// maxReturns bounds the type of results in a description, in bytes.
const maxReturns = 600

// resultType is the type of results, or of the data in them, in one line; empty: none
// is declared.
func (e *Tool) resultType() string {
	contract, _ := contractOf(&e.tool).PublishedContract()
	data := e.declaredData(contract)
	if data == nil {
		return ""
	}
	switch line := typedecl.Line(data, false, maxReturns); {
	case line == "any":
		return ""
	case dependsOnDefinition(&e.tool):
		return line
	default:
		return "{data: " + line + "}"
	}
}

// described is the description of the tool as it is published.
func (e *Tool) described() string {
	switch {
	case e.returns == "":
		return e.tool.Description
	case e.tool.Description == "":
		return "Returns: " + e.returns
	}
	return "Returns: " + e.returns + "\n\n" + e.tool.Description
}

// argumentNames returns the names under which the arguments of the tool are published.
func (e *Tool) argumentNames(input []byte, reserved ...string) *argnames.Names {
	if e.profile == nil {
		return argnames.Of(input, reserved...)
	}
	return argnames.Matching(e.profile.PropertyNames, input, reserved...)
}

// readArguments returns a call whose arguments are as they are sent to other clients.
func (e *Tool) readArguments(c *tenon.Call) *tenon.Call {
	if e.profile == nil || !profile.Needs(e.profile.Input).Absent() {
		return c
	}
	args := e.reader.Absent(c.Args)
	if len(args) == len(c.Args) {
		return c
	}
	read := *c
	read.Args = args
	return &read
}

// inChannels returns a result with the channels that the client gets. r may be shared.
func (e *Tool) inChannels(r *tenon.Result) *tenon.Result {
	if e.profile == nil || !e.profile.TextOnly || r == nil || r.Structured == nil {
		return r
	}
	alone := *r
	alone.Structured = nil
	return &alone
}

type profileKey struct{}

// WithProfile returns a context whose requests are of a client of that name.
func WithProfile(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, profileKey{}, client)
}

// ProfileOf returns the client that [WithProfile] named; empty: none.
func ProfileOf(ctx context.Context) string {
	client, _ := ctx.Value(profileKey{}).(string)
	return client
}

// Profiles returns c with the catalogs of profiles: of returns that of a client, which
// [Catalog.Adapted] made, or nil if there is none of that name. Requests that name no
// client have c.
func (c *Catalog) Profiles(of func(client string) *Catalog) *Catalog {
	n := *c
	n.view = func(ctx context.Context) (*Catalog, string) {
		client := ProfileOf(ctx)
		if client == "" {
			return c.View(ctx)
		}
		adapted := of(client)
		if adapted == nil {
			return c.View(ctx)
		}
		seen, id := adapted.View(ctx)
		return seen, "for " + client + " " + id
	}
	return &n
}
