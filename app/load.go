package app

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/search"
)

// maxToolsSuggested is the most names of tools in a question.
const maxToolsSuggested = 5

// loaded is a description that was read.
type loaded struct {
	Source

	kind  kind
	alone bool // there is no other
	*parts
	rules        *openapi.Selector // --include and --exclude for what is no OpenAPI document; nil: there are none
	source       tenon.Source
	offer        tenon.Features
	introduction introduction
	reading      sync.Mutex // held while it is read again
	unfollow     func()     // ends that it is watched; nil: it is not
}

// located adds the line of a config file that names a source to what is wrong with
// it.
func (s *Source) located(err error) error {
	if err == nil || s.From == "" {
		return err
	}
	if e, ok := err.(*ConfigError); ok { //nolint:errorlint // one that is wrapped has its place
		return &ConfigError{Key: e.Key, From: s.From, text: e.text}
	}
	return &tenon.Error{Code: tenon.CodeOf(err), Message: s.From, Err: err}
}

// start checks the config, reads all descriptions and builds the first catalog.
func (a *App) start(ctx context.Context) (*gateway.Catalog, error) {
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	return a.built()
}

// read checks the config and reads what it names.
func (a *App) read(ctx context.Context) error {
	c := a.config
	if err := c.check(); err != nil {
		return err
	}
	var err error
	if a.before == nil {
		if err = a.openStore(ctx); err != nil {
			return err
		}
	}
	if err = a.readAccess(); err != nil {
		return err
	}
	if err = a.readUserCredentials(); err != nil {
		return err
	}
	if a.tls, err = readTLS(c, a.env); err != nil {
		return err
	}
	if a.before != nil {
		err = c.checkTelemetry()
	} else {
		err = a.openTelemetry()
	}
	if err != nil {
		return err
	}
	if a.options.Prefix, err = gateway.ParsePrefix(c.Prefix); err != nil {
		return err
	}
	if a.options.Names, err = tenon.ParseNaming(c.Defaults.Names); err != nil {
		return err
	}
	if err = a.describes(); err != nil {
		return err
	}
	if a.rules, err = readRules(c); err != nil {
		return err
	}
	a.options.NameBudget, a.options.Configure, a.options.Meta = c.NameBudget, a.configure, nil
	if c.EvidenceInMeta {
		if c.Store != "memory" && c.Store != "" {
			return invalid("evidence-in-meta", ": replicas that share a store have ledgers of their own, and would list different tools")
		}
		a.options.Meta = a.evidenceMeta()
	}
	sources, err := recognized(c.Sources)
	if err != nil {
		return err
	}
	if err := fitting(sources); err != nil {
		return err
	}
	return a.load(ctx, sources)
}

// configure gives a tool what settings say of it.
func (a *App) configure(source string, t *tenon.Tool) {
	if a.config.ToolsMode == "search" && !t.RawSchemas { // models there read one result at a time: they take what they need of it
		t.Fields = true
	}
	a.adjust[source].tool(source, t)
	a.recorded(source, t)
	t.Scopes = a.scopesOf(source, t)
}

// built builds the catalog of a config that was read.
func (a *App) built() (*gateway.Catalog, error) {
	catalog, err := a.build()
	if err != nil || a.env.AllowUnmatched {
		return catalog, err
	}
	return catalog, Unmatched(catalog.Diagnostics())
}

// Unmatched is the error of selectors that match nothing; nil: there are none.
func Unmatched(all []tenon.Diagnostic) error {
	var texts []string
	for _, f := range all {
		if f.Kind == tenon.DiagnosticSelector {
			texts = append(texts, f.String())
		}
	}
	if texts == nil {
		return nil
	}
	return invalid("", "%s", strings.Join(texts, "\n"))
}

// load reads every description. What holds something is a's to close, also where
// a later one cannot be loaded.
func (a *App) load(ctx context.Context, sources []*loaded) error {
	names := map[string]int{}
	for _, s := range sources {
		if names[s.Name]++; names[s.Name] > 1 {
			s.Name = fmt.Sprintf("%s_%d", s.Name, names[s.Name])
		}
		kept := a.kept(s)
		shared, err := a.partsFor(ctx, s, kept)
		if err != nil {
			return s.located(err)
		}
		a.adjust[s.Name] = shared.adjust
		if kept != nil && kept.parts == shared {
			a.sources = append(a.sources, kept)
			continue
		}
		s.parts = shared
		if err := a.loadOne(ctx, s); err != nil {
			return s.located(err)
		}
	}
	used := map[string]bool{}
	for _, p := range a.parts {
		p.auth.named(used)
	}
	if names := unused(used); len(names) > 0 {
		return invalid("", "%s: no OpenAPI document is called so", strings.Join(names, ", "))
	}
	return nil
}

// partsFor returns what s shares with the sources that have the same options: those of
// kept, which s was in the config before, if it is not nil.
func (a *App) partsFor(ctx context.Context, s, kept *loaded) (shared *parts, err error) {
	if shared, ok := a.parts[s.Options]; ok {
		return shared, nil
	}
	if kept != nil {
		shared = kept.parts
	} else if shared, err = newParts(ctx, s.Options, a.config, a.env); err != nil {
		return nil, err
	}
	if err := a.config.mayActFor(s.Options); err != nil {
		return nil, err
	}
	a.parts[s.Options] = shared
	a.forward = append(a.forward, shared.auth.callerHeaders()...)
	return shared, a.config.mayForward(a.forward)
}

// parts are what all descriptions with the same options share.
type parts struct {
	options openapi.Options
	adjust  *adjustment
	auth    *credentials
	client  *http.Client
}

// newParts checks options and makes what they ask for.
func newParts(ctx context.Context, o *SourceOptions, c *Config, e Env) (*parts, error) {
	var err error
	p := &parts{}
	if p.adjust, err = newAdjustment(o); err != nil {
		return nil, err
	}
	if p.client, p.options, err = documentOptions(o, c, e); err != nil {
		return nil, err
	}
	p.auth, err = readCredentials(ctx, o, e)
	return p, err
}

func (a *App) loadOne(ctx context.Context, s *loaded) error {
	var err error
	options := s.options
	if a.users != nil {
		options.UserCredential = a.users.of(s.Name)
	}
	if s.kind.ownRequests && a.env.Player != nil {
		return invalid("replay", ": the requests of %s %s are made by its worker, and not recorded", s.kind.what, s.Name)
	}
	if s.source, err = s.kind.open(s, options, a.env); err != nil {
		return err
	}
	if c, holds := s.source.(io.Closer); holds {
		a.open = append(a.open, c)
	}
	offer, err := s.source.Load(ctx)
	if err != nil {
		return BadSource(s.Spec, err)
	}
	s.offer = s.chosen(offer)
	s.introduce()
	a.sources = append(a.sources, s)
	return nil
}

// readRules reads --include and --exclude for a source that is no OpenAPI document.
func (s *loaded) readRules(all openapi.Selection) (err error) {
	if len(all.Include)+len(all.Exclude) > 0 {
		s.rules, err = all.Selector()
	}
	return err
}

// chosen leaves out the tools that were not chosen: with --read-only those of
// any source that may change something, or of which only their description says
// that they do not; of an app those that no rule names.
func (s *loaded) chosen(offer tenon.Features) tenon.Features {
	offer.Tools = slices.DeleteFunc(slices.Clone(offer.Tools), func(t tenon.Tool) bool {
		if s.rules != nil && s.kind.takes != nil && !s.kind.takes(s.rules, &t) {
			return true
		}
		return s.Options.ReadOnly && (t.Annotations.ReadOnly == nil || !*t.Annotations.ReadOnly || t.Confirmation.Marked)
	})
	if s.rules != nil {
		offer.Diagnostics = slices.Clone(offer.Diagnostics)
		for _, rule := range s.rules.Unused() {
			offer.Diagnostics = append(offer.Diagnostics, tenon.Diagnostic{File: s.Spec, Message: fmt.Sprintf("the selector %q matches no tool", rule.Text), Hint: rule.Suggestion, Kind: tenon.DiagnosticSelector})
		}
	}
	return offer
}

// build makes the catalog of what was loaded.
func (a *App) build() (*gateway.Catalog, error) {
	offers := make([]gateway.Mount, len(a.sources))
	diagnostics := sharedRules(a.sources)
	for i, s := range a.sources {
		a.adjust[s.Name].forget()
		offers[i] = gateway.Mount{Name: s.Name, Features: s.offer}
		offers[i].Features.Diagnostics = diagnostics[i]
	}
	c, err := a.catalog(offers)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, of := range a.adjust {
		of.patterns(used)
	}
	if patterns := unused(used); len(patterns) > 0 {
		return nil, noSuchTools(c, patterns)
	}
	for _, f := range c.Diagnostics() {
		if f.Kind == tenon.DiagnosticProjection {
			return nil, invalid("", "%s; correct --select, --jq or --fields", strings.Replace(f.String(), ", so the tool is left out", "", 1))
		}
	}
	for _, t := range c.Tools() {
		if len(t.Tool().ArgumentHeaders) == 0 {
			continue
		}
		for _, f := range t.Diagnostics() {
			if f.Kind == tenon.DiagnosticHeader {
				return nil, invalid("", "%s; correct --mcp-header", f)
			}
		}
	}
	return c, nil
}

// noSuchTools refuses flags for tools that there are not, with the names that
// may have been meant.
func noSuchTools(c *gateway.Catalog, patterns []string) error {
	var names, texts []string
	for _, t := range c.Tools() {
		names = append(names, t.Name())
		if own := t.Tool().Original; own != t.Name() {
			names = append(names, own)
		}
	}
	for _, pattern := range patterns {
		_, name, _ := strings.Cut(pattern, " ")
		name, _, _ = strings.Cut(name, "=")
		near := suggest.Near(name[strings.LastIndexByte(name, '/')+1:], names, maxToolsSuggested)
		hint := suggest.Question(near)
		if near == nil {
			hint = "; 'tenon tools' lists them"
		}
		texts = append(texts, pattern+": no tool has such a name"+hint)
	}
	return invalid("", "%s", strings.Join(texts, "\n"))
}

// unused are the names that nothing has used, in the order of the alphabet.
func unused(used map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(name string) bool { return used[name] })
}

// catalog makes the catalog that is served: with all tools, or in search mode with
// three behind which they are.
func (a *App) catalog(offers []gateway.Mount) (*gateway.Catalog, error) {
	o, wrap := a.options, func(c *gateway.Catalog) *gateway.Catalog { return c }
	switch a.config.ToolsMode {
	case "list", "":
	case "search":
		o.Describe = gateway.ToggleOn // with it there is describe_tool
		wrap = search.Wrap
	default:
		return nil, invalid("tools-mode", " is list or search, not %q", a.config.ToolsMode)
	}
	a.tools = gateway.Build(offers, o)
	if a.config.ToolsMode == "search" {
		a.hidden = Described(a.tools)
	}
	if err := unmatchedRules(a.rules, a.tools); err != nil {
		return nil, err
	}
	return a.profiled(func(p *gateway.Profile) *gateway.Catalog {
		if p == nil {
			return a.rules.Apply(a.tools, wrap)
		}
		return a.rules.Apply(a.tools.Adapted(p), func(c *gateway.Catalog) *gateway.Catalog {
			if a.config.ToolsMode == "search" {
				return wrap(c).Adapted(p) // the tools that find and call others, too
			}
			return c
		})
	})
}

// Described counts the tools that descriptions became, without those of the gateway
// itself.
func Described(c *gateway.Catalog) int {
	n := 0
	for _, t := range c.Tools() {
		if t.Source() != "" {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
