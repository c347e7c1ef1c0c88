package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/incident"
)

// maxNamesShown bounds the tools that a reload names.
const maxNamesShown = 5

// maxWarningsShown bounds the warnings that a reload prints.
const maxWarningsShown = 10

// Watch reloads descriptions when they change, until stop is called or ctx ends.
// What it does is reported on Env.Stderr.
func (a *App) Watch(ctx context.Context) (stop func()) {
	out := a.env.Stderr
	ctx, cancel := context.WithCancel(ctx)
	watching := incident.NewGroup(a.env.Logger, "watching a description", maxWatched)
	follow := func(s *loaded) {
		watcher, ok := s.source.(tenon.Watcher)
		if !ok {
			return
		}
		ctx, stop := context.WithCancel(ctx)
		s.unfollow = stop
		watching.Go(func() {
			err := watcher.Watch(ctx, func() { a.reload(ctx, s) })
			if err != nil {
				fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", ShownSpec(s.Spec), err)
			}
		}, func(e *incident.Error) {
			fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", ShownSpec(s.Spec), e)
		})
	}
	a.building.Lock()
	defer a.building.Unlock()
	for _, s := range a.sources {
		follow(s)
	}
	a.follow = follow
	return func() {
		a.building.Lock()
		a.follow = nil
		a.building.Unlock()
		cancel()
		watching.Wait()
	}
}

// maxWatched is more sources than anybody has: no config file can name them.
const maxWatched = 1 << 20

// Reload reads every description again, whether or not it is known to have
// changed, reads the keys of callers from their files, and opens the file of the
// audit log by its name again. The result is reported on Env.Stderr.
func (a *App) Reload(ctx context.Context) {
	if err := a.audit.reopen(); err != nil {
		a.env.Logger.Error("the audit log cannot be opened again", "error", err)
	}
	a.building.Lock()
	err := a.readAccess()
	a.building.Unlock()
	if err != nil {
		fmt.Fprintf(a.env.Stderr, "tenon: who may call cannot be read again; what was read before stays in force: %s\n", asFlags(err))
	}
	a.rereadAll(ctx)
}

// reload reads one description again. The catalog before stays in force unless
// all of the new one is made.
func (a *App) reload(ctx context.Context, s *loaded) {
	out := a.env.Stderr
	// Only reads of the same description wait for each other: a slow one holds
	// up no other.
	s.reading.Lock()
	defer s.reading.Unlock()
	var offer tenon.Features
	err := guarded(a.env.Logger, "reading "+ShownSpec(s.Spec), func() (err error) {
		offer, err = s.source.Load(ctx)
		offer = s.chosen(offer)
		return err
	})
	a.building.Lock()
	defer a.building.Unlock()
	if !slices.Contains(a.sources, s) { // another config has come into force
		return
	}
	before, names, warnings := s.offer, toolNames(a.Gateway.Catalog()), a.Gateway.Catalog().Diagnostics()
	var c *gateway.Catalog
	if err == nil && len(offer.Tools) == 0 && len(before.Tools) > 0 {
		err = errors.New("it describes no tool any more")
	}
	if err == nil {
		s.offer = offer
		err = guarded(a.env.Logger, "making tools of "+ShownSpec(s.Spec), func() (err error) {
			c, err = a.build()
			return err
		})
	}
	served := ctx.Err() == nil && err == nil
	if served {
		a.swap(c) //nolint:contextcheck // clients are told later
		a.limits.Forget()
	}
	if settler, ok := s.source.(tenon.Settler); ok {
		settler.Settle(served)
	}
	if a.telemetry != nil && ctx.Err() == nil {
		a.telemetry.Reloaded(served) //nolint:contextcheck // a counter needs none
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.offer = before
		fmt.Fprintf(out, "tenon: %s has changed and cannot be served; the tools before stay in force: %s\n", ShownSpec(s.Spec), asFlags(err))
	default:
		s.introduce()
		a.Server.SetIdentity(a.identity())
		fmt.Fprintf(out, "tenon: %s has changed: %s, %s%s\n", ShownSpec(s.Spec), count(Described(c), "tool"), count(len(c.Diagnostics()), "warning"), difference(names, toolNames(c)))
		tellLosses(out, s.Spec, before.Tools, s.offer.Tools)
		newWarnings(out, warnings, c.Diagnostics())
	}
}

// tellLosses says loudly that a description lost most of its tools, or that one
// file of several did: a half-written one looks like that.
func tellLosses(out io.Writer, where string, before, now []tenon.Tool) {
	lost := func(what string, left, had int) bool {
		if 2*left >= had {
			return false
		}
		fmt.Fprintf(out, "tenon: WARNING: %s has lost most of its tools: %d of %d are left\n", what, left, had)
		return true
	}
	if lost(ShownSpec(where), len(now), len(before)) {
		return
	}
	left := map[string]int{}
	for i := range now {
		left[now[i].Origin.File]++
	}
	had, files := map[string]int{}, []string{} // in the order of the description
	for i := range before {
		file := before[i].Origin.File
		if had[file]++; had[file] == 1 {
			files = append(files, file)
		}
	}
	shown := 0
	for _, file := range files {
		if shown == maxNamesShown {
			fmt.Fprintln(out, "tenon: WARNING: other files have lost tools too")
			return
		}
		if lost(ShownSpec(file), left[file], had[file]) {
			shown++
		}
	}
}

// newWarnings prints what is wrong now and was not before.
func newWarnings(out io.Writer, before, now []tenon.Diagnostic) {
	known := map[string]bool{}
	for _, f := range before {
		known[f.Message] = true
	}
	shown := 0
	for _, f := range now {
		if known[f.Message] {
			continue
		}
		if shown++; shown > maxWarningsShown {
			fmt.Fprintln(out, "  and more; 'tenon tools --verbose' shows them all")
			return
		}
		fmt.Fprintf(out, "  %s\n", f)
	}
}

// guarded runs what reads a description: a panic there must end neither the
// server nor the watching.
func guarded(log *slog.Logger, what string, f func() error) (err error) {
	if e := incident.Catch(log, what, func() { err = f() }, nil); e != nil {
		return e
	}
	return err
}

func toolNames(c *gateway.Catalog) []string {
	var names []string
	for _, t := range c.Tools() {
		names = append(names, t.Name())
	}
	return names
}

// difference says which tools came and went.
func difference(before, now []string) string {
	return without("new", now, before) + without("gone", before, now)
}

func without(what string, list, other []string) string {
	known := make(map[string]bool, len(other))
	for _, name := range other {
		known[name] = true
	}
	var names []string
	for _, name := range list {
		if !known[name] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxNamesShown; n > 0 {
		names, more = names[:maxNamesShown], fmt.Sprintf(" and %d more", n)
	}
	return "; " + what + ": " + strings.Join(names, ", ") + more
}
