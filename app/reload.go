package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// maxNamesShown bounds the tools that a reload names.
const maxNamesShown = 5

// watchFlags say which changes of descriptions are noticed.
type watchFlags struct{ files bool }

func (f *watchFlags) register(cmd *cobra.Command, poll *time.Duration) {
	cmd.Flags().BoolVar(&f.files, "watch", true, "reload a description when its files change")
	cmd.Flags().DurationVar(poll, "poll", 0, "with --watch, ask this often whether descriptions on the web have changed, for example 5m (0: they are read once)")
}

// follow keeps the catalog in force as the descriptions are, until stop is
// called. What it does is said on out.
func (w *wire) follow(ctx context.Context, out io.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	watching := incident.NewGroup(w.log, "watching a description", len(w.sources))
	for i, s := range w.sources {
		watcher, ok := s.source.(tenon.Watcher)
		if !ok {
			continue
		}
		watching.Go(func() {
			err := watcher.Watch(ctx, func() { w.reload(ctx, out, i) })
			if err != nil {
				fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", shownSpec(s.where), err)
			}
		}, func(e *incident.Error) {
			fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", shownSpec(s.where), e)
		})
	}
	return func() { cancel(); watching.Wait() }
}

// reloadAll reads every description again, whether or not it is known to have
// changed, as often as again says so.
func (w *wire) reloadAll(ctx context.Context, out io.Writer, again <-chan os.Signal) {
	for {
		select {
		case <-again:
			reading := incident.NewGroup(w.log, "reading a description", len(w.sources))
			for i := range w.sources {
				reading.Go(func() { w.reload(ctx, out, i) }, nil)
			}
			reading.Wait()
		case <-ctx.Done():
			return
		}
	}
}

// followConfig says when the config is not what it was: what it names is chosen
// when tenon starts.
func followConfig(ctx context.Context, out io.Writer, file string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	held := watch.Read([]string{file})
	watching := incident.NewGroup(nil, "watching "+file, 1)
	watching.Go(func() {
		err := watch.Files{Held: func() watch.Held { return held }}.Watch(ctx, func() {
			fmt.Fprintf(out, "tenon: %s has changed; start tenon anew to serve what it says now ('tenon check --config %s' checks it)\n", file, file)
		})
		if err != nil {
			fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", file, err)
		}
	}, nil)
	return func() { cancel(); watching.Wait() }
}

// reload reads one description again. The catalog before stays in force unless
// all of the new one is made.
func (w *wire) reload(ctx context.Context, out io.Writer, which int) {
	s := w.sources[which]
	// Only reads of the same description wait for each other: a slow one holds
	// up no other.
	s.reading.Lock()
	defer s.reading.Unlock()
	var offer tenon.Features
	err := guarded(w.log, "reading "+shownSpec(s.where), func() (err error) {
		offer, err = s.source.Load(ctx)
		offer = s.chosen(offer)
		return err
	})
	w.building.Lock()
	defer w.building.Unlock()
	before, names, faults := s.offer, toolNames(w.gateway.Catalog()), w.gateway.Catalog().Diagnostics()
	var c *gateway.Catalog
	if err == nil && len(offer.Tools) == 0 && len(before.Tools) > 0 {
		err = errors.New("it describes no tool any more")
	}
	if err == nil {
		s.offer = offer
		err = guarded(w.log, "making tools of "+shownSpec(s.where), func() (err error) {
			c, err = w.build()
			return err
		})
	}
	if settler, ok := s.source.(tenon.Settler); ok {
		defer func() { settler.Settle(c != nil && w.gateway.Catalog() == c) }()
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.offer = before
		fmt.Fprintf(out, "tenon: %s has changed and cannot be served; the tools before stay in force: %v\n", shownSpec(s.where), err)
	default:
		w.gateway.Swap(c)
		fmt.Fprintf(out, "tenon: %s has changed: %s, %s%s\n", shownSpec(s.where), count(described(c), "tool"), count(len(c.Diagnostics()), "warning"), difference(names, toolNames(c)))
		tellLosses(out, s.where, before.Tools, s.offer.Tools)
		newFaults(out, faults, c.Diagnostics())
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
	if lost(shownSpec(where), len(now), len(before)) {
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
		if lost(shownSpec(file), left[file], had[file]) {
			shown++
		}
	}
}

// newFaults prints what is wrong now and was not before.
func newFaults(out io.Writer, before, now []tenon.Diagnostic) {
	known := map[string]bool{}
	for _, f := range before {
		known[f.Message] = true
	}
	shown := 0
	for _, f := range now {
		if known[f.Message] {
			continue
		}
		if shown++; shown > maxFaultsShown {
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
