package app

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/clients"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// profilesPath is where clients are served by their profiles: profilesPath and a name.
const profilesPath = "/mcp/"

// profile is what the rules of a client ask of what is published to it.
func (a *App) profile(c *clients.Client) *gateway.Profile {
	known, defaults := clients.Known(), &a.config.Defaults
	p := &gateway.Profile{
		Name: c.ID, TextOnly: c.TextOnly || !a.listsOutputs(), Returns: !slices.Contains(c.Shows, "output"),
		MaxInput: limitOr(defaults.MaxInputSchema, 32<<10), MaxOutput: limitOr(defaults.MaxOutputSchema, 16<<10),
	}
	rules := known.RulesOf(c.ID)
	if c.Through != "" {
		rules = append(slices.Clip(rules), known.RulesOf(c.Through)...)
	}
	for _, r := range rules {
		a.need(p, r)
	}
	return p
}

func limitOr(n, usual int) int { return max(cmp.Or(n, usual), 0) }

// need adds what one rule asks for.
func (a *App) need(p *gateway.Profile, r *clients.Rule) {
	needs := &p.Input
	if r.Params.In == "output" {
		needs = &p.Output
	}
	switch r.Fix {
	case "inline-references":
		needs.Inline = true
	case "split-type-lists":
		needs.SplitTypes = true
	case "text-enums":
		needs.TextEnums = true
	case "no-root-combinators":
		needs.NoRootCombinators = true
	case "anyof-for-oneof":
		needs.NoOneOf = true
	case "closed-objects":
		needs.Closed = true
	case "strict-inputs":
		needs.AllRequired = true
	case "nullable-options":
		needs.NullOptional = true
	case "rename-arguments":
		if legal, err := regexp.Compile(r.Params.Pattern); err == nil {
			p.PropertyNames = legal
		}
	case "shorter-names", "legal-names":
		longest, letter := nameRule(r, a.calledAs())
		if p.LongestName == 0 || longest < p.LongestName {
			p.LongestName = longest
		}
		p.LetterFirst = p.LetterFirst || letter
	}
}

// longestServerName is how long the names are that 'tenon install' gives.
const longestServerName = 30

// calledAs is what clients may call the server in names of tools: it is their user who
// says so, and the longest of the likely names leaves the least for tools.
func (a *App) calledAs() string {
	name := clients.ServerName(cmp.Or(a.config.Name, a.identity().Name))
	name = name[:min(len(name), longestServerName)]
	for _, s := range a.sources {
		if len(a.sources) == 1 && len(s.Name) > len(name) {
			name = s.Name
		}
	}
	return name
}

// nameRule reads a rule about names of tools: how long they may be, and whether they
// begin with a letter.
func nameRule(r *clients.Rule, server string) (longest int, letter bool) {
	if r.Params.Prefix != "" {
		return r.Params.Max - len(strings.ReplaceAll(r.Params.Prefix, "{server}", server)), false
	}
	legal, err := regexp.Compile(r.Params.Pattern)
	if err != nil {
		return 0, false
	}
	const most = 128 // that the protocol allows
	for longest = most; longest > 1 && !legal.MatchString(strings.Repeat("a", longest)); {
		longest--
	}
	return longest, !legal.MatchString("1")
}

// client is the client that a setting or an address names.
func client(name string) (*clients.Client, error) {
	known := clients.Known()
	if c := known.Named(name); c != nil {
		return c, nil
	}
	var names []string
	for i := range known.Clients {
		names = append(names, known.Clients[i].ID)
	}
	hint := suggest.Question(suggest.Near(name, names, maxToolsSuggested))
	if hint == "" {
		hint = ": there are " + strings.Join(names, ", ")
	}
	return nil, invalid("for", ": no client is called %q%s", name, hint)
}

// outputsOnDemand is the value of --output-schemas with which the tool describe alone
// returns them.
const outputsOnDemand = "on-demand"

// listsOutputs reports whether output schemas are in the tool list.
func (a *App) listsOutputs() bool { return cmp.Or(a.config.OutputSchemas, "on") == "on" }

// describes sets whether there is a tool that describes others.
func (a *App) describes() (err error) {
	c := a.config
	if a.options.Describe, err = gateway.ParseToggle(c.Describe); err != nil || c.OutputSchemas != outputsOnDemand {
		return err
	}
	if a.options.Describe == gateway.ToggleOff {
		return invalid("output-schemas", " on-demand needs the tool describe, which --describe off leaves out")
	}
	a.options.Describe = gateway.ToggleOn
	return nil
}

// profiled returns the catalog that base makes of all tools, and those of clients: of
// the one that --for names for everybody, and of the others at their addresses. base
// makes what is served of a catalog for a profile; nil: for every client.
func (a *App) profiled(base func(*gateway.Profile) *gateway.Catalog) (*gateway.Catalog, error) {
	var usual *gateway.Profile
	if !a.listsOutputs() {
		usual = &gateway.Profile{TextOnly: true}
	}
	if a.config.For != "" {
		c, err := client(a.config.For)
		if err != nil {
			return nil, err
		}
		usual = a.profile(c)
	}
	var made sync.Map // of func() *gateway.Catalog, by the id of the client
	return base(usual).Profiles(func(name string) *gateway.Catalog {
		c := clients.Known().Client(name)
		if c == nil {
			return nil
		}
		one, ok := made.Load(name)
		if !ok {
			one, _ = made.LoadOrStore(name, sync.OnceValue(func() *gateway.Catalog { return base(a.profile(c)) }))
		}
		if catalog, ok := one.(func() *gateway.Catalog); ok {
			return catalog()
		}
		return nil
	}), nil
}
