package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// maxNamesShown bounds the tools that a reload names.
const maxNamesShown = 5

// watchFlags say which changes of descriptions are noticed.
type watchFlags struct{ files bool }

func (f *watchFlags) register(cmd *cobra.Command, poll *time.Duration) {
	cmd.Flags().BoolVar(&f.files, "watch", true, "serve the tools anew when files of a description change")
	cmd.Flags().DurationVar(poll, "poll", 0, "with --watch, ask this often whether descriptions in the web have changed, for example 5m (0: they are read once)")
}

// follow keeps the catalog in force as the descriptions are, until stop is
// called. What it does is said on out.
func (w *wire) follow(ctx context.Context, out io.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	var one sync.Mutex
	for i, s := range w.sources {
		watcher, ok := s.source.(tenon.Watcher)
		if !ok {
			continue
		}
		watching.Go(func() {
			err := watcher.Watch(ctx, func() {
				one.Lock()
				defer one.Unlock()
				w.reload(ctx, out, i)
			})
			if err != nil {
				fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", shownSpec(s.where), err)
			}
		})
	}
	return func() { cancel(); watching.Wait() }
}

// followConfig says when the config is not what it was: what it names is chosen
// when tenon starts.
func followConfig(ctx context.Context, out io.Writer, file string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	held := watch.Read([]string{file})
	var watching sync.WaitGroup
	watching.Go(func() {
		err := watch.Files{Held: func() watch.Held { return held }}.Watch(ctx, func() {
			fmt.Fprintf(out, "tenon: %s has changed; start tenon anew to serve what it says now ('tenon check --config %s' checks it)\n", file, file)
		})
		if err != nil {
			fmt.Fprintf(out, "tenon: %s is not watched any more: %v\n", file, err)
		}
	})
	return func() { cancel(); watching.Wait() }
}

// reload reads one description again. The catalog before stays in force unless
// all of the new one is made.
func (w *wire) reload(ctx context.Context, out io.Writer, which int) {
	s := w.sources[which]
	before, names := s.offer, toolNames(w.gateway.Catalog())
	offer, err := s.source.Load(ctx)
	offer = s.readers(offer)
	if err == nil && len(offer.Tools) == 0 && len(before.Tools) > 0 {
		err = errors.New("it describes no tool any more")
	}
	var c *tenon.Catalog
	if err == nil {
		s.offer = offer
		c, err = w.build()
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.offer = before
		fmt.Fprintf(out, "tenon: %s has changed and cannot be served; the tools before stay in force: %v\n", shownSpec(s.where), err)
	default:
		w.gateway.Swap(c)
		fmt.Fprintf(out, "tenon: %s has changed: %s, %s%s\n", shownSpec(s.where), count(described(c), "tool"), count(len(c.Faults()), "warning"), difference(names, toolNames(c)))
	}
}

func toolNames(c *tenon.Catalog) []string {
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
