package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/openapi"
)

// planned is a description that is to be served, and what was chosen for it.
type planned struct {
	name, where string
	from        string // the place in a config that names it
	flags       *sourceFlags
	rules       *openapi.Selector // --only and --except for what is no OpenAPI document; nil: there are none
}

// fault says of what is wrong with a description where a config names it.
func (p *planned) fault(err error) error {
	if err == nil || p.from == "" {
		return err
	}
	return &tenon.Error{Code: tenon.CodeOf(err), Message: p.from, Err: err}
}

// loaded is a description that was read.
type loaded struct {
	planned

	source  tenon.Source
	offer   tenon.Features
	reading sync.Mutex // held while it is read again
}

// wire is what a command gets from its flags and descriptions.
type wire struct {
	gateway *gateway.Gateway
	catalog *gateway.Catalog // the first one
	log     *slog.Logger
	forward []string // headers of clients' requests that sources may see

	sources []*loaded
	open    []io.Closer // sources that hold something
	options gateway.BuildOptions
	mode    *toolsMode
	adjust  map[string]adjustment // by source

	building sync.Mutex // guards the offers of sources, from the first reload on
}

// close ends what the sources hold: workers, after the calls under way.
func (w *wire) close() {
	for _, c := range w.open {
		if err := c.Close(); err != nil {
			w.log.Error("a source does not end cleanly", "error", err)
		}
	}
}

// connect loads every description and builds the catalog and gateway. A
// description that cannot be read at all is an error of class bad_source.
func (f *sourceFlags) connect(ctx context.Context, e env, specs []string) (*wire, error) {
	return f.connectAll(ctx, e, f.specs(specs))
}

// specs plans descriptions as a command line names them.
func (f *sourceFlags) specs(specs []string) []planned {
	var plan []planned
	for _, spec := range specs {
		name, where := splitSpec(spec)
		plan = append(plan, planned{name: name, where: where, flags: f})
	}
	return plan
}

// connectAll is connect for descriptions that may have flags of their own; f
// holds what counts for all of them together.
func (f *sourceFlags) connectAll(ctx context.Context, e env, plan []planned) (*wire, error) {
	w := &wire{log: f.logger(e), mode: &f.mode, adjust: map[string]adjustment{}}
	var err error
	if w.options.Prefix, err = gateway.ParsePrefix(f.prefix); err != nil {
		return nil, err
	}
	if w.options.Names, err = tenon.ParseNaming(f.names); err != nil {
		return nil, err
	}
	if w.options.Describe, err = gateway.ParseToggle(f.describe); err != nil {
		return nil, err
	}
	w.options.Configure = func(source string, t *tenon.Tool) { w.adjust[source].tool(source, t) }
	if plan, err = folders(plan); err == nil {
		err = fitting(plan)
	}
	if err == nil {
		err = w.load(ctx, e, plan)
	}
	if err == nil {
		w.catalog, err = w.build()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	w.gateway = gateway.New(w.catalog, gateway.Options{Logger: w.log, Timeout: longest(plan), FlushInterval: f.calls.partialAfter})
	return w, nil
}

// longest is the time that a call may take: no source needs more.
func longest(plan []planned) (d time.Duration) {
	for _, p := range plan {
		d = max(d, p.flags.timeout)
	}
	return d
}

// load reads every description of the plan. What holds something is w's to
// close, also where a later one cannot be loaded.
func (w *wire) load(ctx context.Context, e env, plan []planned) error {
	known := map[*sourceFlags]parts{}
	names := map[string]int{}
	for _, p := range plan {
		shared, ok := known[p.flags]
		if !ok {
			var err error
			if shared, err = p.flags.parts(ctx, e); err != nil {
				return p.fault(err)
			}
			known[p.flags] = shared
			w.forward = append(w.forward, p.flags.auth.callerHeaders()...)
		}
		if names[p.name]++; names[p.name] > 1 {
			p.name = fmt.Sprintf("%s_%d", p.name, names[p.name])
		}
		w.adjust[p.name] = shared.adjust
		if err := w.loadOne(ctx, e, p, shared.options, len(plan) == 1); err != nil {
			return p.fault(err)
		}
	}
	used := map[string]bool{}
	for f := range known {
		f.auth.named(used)
	}
	if names := unused(used); len(names) > 0 {
		return usagef("%s: no OpenAPI document is called so", strings.Join(names, ", "))
	}
	return nil
}

// parts are what all descriptions with the same flags share.
type parts struct {
	options openapi.Options
	adjust  adjustment
}

// parts checks the flags and makes what they ask for.
func (f *sourceFlags) parts(ctx context.Context, e env) (p parts, err error) {
	if p.adjust, err = f.adjust(); err != nil {
		return p, err
	}
	if p.options, err = f.options(e); err != nil {
		return p, err
	}
	return p, f.auth.read(ctx, e)
}

func (w *wire) loadOne(ctx context.Context, e env, p planned, o openapi.Options, alone bool) error {
	if !isSchemaFile(p.where) { // nor a folder
		if err := p.flags.auth.apply(&o, p.name, alone); err != nil {
			return err
		}
	}
	if isDocument := !isApp(p.where) && !isSchemaFile(p.where); !isDocument && len(o.Choose.Include)+len(o.Choose.Exclude) > 0 {
		var err error
		if p.rules, err = o.Choose.Chooser(); err != nil {
			return err
		}
	}
	source, err := p.flags.source(p.where, o, e, p.rules)
	if err != nil {
		return err
	}
	if c, holds := source.(io.Closer); holds {
		w.open = append(w.open, c)
	}
	offer, err := source.Load(ctx)
	if err != nil {
		return badSource(p.where, err)
	}
	w.sources = append(w.sources, &loaded{planned: p, source: source, offer: p.chosen(offer)})
	return nil
}

// chosen leaves out the tools that were not chosen: with --read-only those of
// any source that may change something, or of which only their description says
// that they do not; of an app those that no rule names.
func (p *planned) chosen(offer tenon.Features) tenon.Features {
	offer.Tools = slices.DeleteFunc(slices.Clone(offer.Tools), func(t tenon.Tool) bool {
		if p.rules != nil && isApp(p.where) && !p.rules.Takes(openapi.Subject{IDs: []string{t.Name, tenon.ToolName(t.Name)}}) {
			return true
		}
		return p.flags.choose.ReadOnly && (t.Annotations.ReadOnly == nil || !*t.Annotations.ReadOnly || t.Confirmation.Marked)
	})
	if p.rules != nil {
		offer.Diagnostics = slices.Clone(offer.Diagnostics)
		for _, rule := range p.rules.Unused() {
			offer.Diagnostics = append(offer.Diagnostics, tenon.Diagnostic{File: p.where, Message: fmt.Sprintf("the rule %q matches no tool", rule.Text), Hint: rule.Meant, Kind: tenon.DiagnosticSelector})
		}
	}
	return offer
}

// build makes the catalog of what was loaded.
func (w *wire) build() (*gateway.Catalog, error) {
	offers := make([]gateway.Mount, len(w.sources))
	faults := sharedRules(w.sources)
	for i, s := range w.sources {
		w.adjust[s.name].forget()
		offers[i] = gateway.Mount{Name: s.name, Features: s.offer}
		offers[i].Features.Diagnostics = faults[i]
	}
	c, err := w.mode.build(offers, w.options)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, a := range w.adjust {
		a.patterns(used)
	}
	if patterns := unused(used); len(patterns) > 0 {
		return nil, noSuchTools(c, patterns)
	}
	for _, f := range c.Diagnostics() {
		if f.Kind == tenon.DiagnosticProjection {
			return nil, usagef("%s; correct --select, --jq or --fields", strings.Replace(f.String(), " and the tool is left out", "", 1))
		}
	}
	for _, t := range c.Tools() {
		if len(t.Tool().ArgumentHeaders) == 0 {
			continue
		}
		for _, f := range t.Diagnostics() {
			if f.Kind == tenon.DiagnosticHeader {
				return nil, usagef("%s; correct --mcp-header", f)
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
		near := suggest.Near(name[strings.LastIndexByte(name, '/')+1:], names, maxToolsMeant)
		hint := meant(near)
		if near == nil {
			hint = "; 'tenon tools' lists them"
		}
		texts = append(texts, pattern+": no tool has such a name"+hint)
	}
	return usagef("%s", strings.Join(texts, "\n"))
}

// unused are the names that nothing has used, in the order of the alphabet.
func unused(used map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(name string) bool { return used[name] })
}
