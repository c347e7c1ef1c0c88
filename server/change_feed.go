package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// feed collects changes for one who listens. Changes that he has not heard of
// yet become one: only the latest state counts.
type feed struct {
	wants func(uri string) bool
	wake  chan struct{} // holds an element while there is something to take

	mu      sync.Mutex
	catalog bool
	uris    map[string]struct{}
	tasks   []*task
}

// listen returns a feed of the gateway's changes; wants says which resources
// matter.
func (s *Server) listen(wants func(uri string) bool) (f *feed, stop func()) {
	f = &feed{wants: wants, wake: make(chan struct{}, 1), uris: map[string]struct{}{}}
	return f, s.gateway.Subscribe(f.changed)
}

func (f *feed) changed(c gateway.Event) {
	if c.URI != "" && !f.wants(c.URI) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.URI == "" {
		f.catalog = true
	} else if len(f.uris) < maxWatched {
		f.uris[c.URI] = struct{}{}
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take returns what changed since it was last called.
func (f *feed) take() (catalog bool, uris []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	catalog, uris = f.catalog, slices.Sorted(maps.Keys(f.uris))
	f.catalog = false
	clear(f.uris)
	return catalog, uris
}

// changeNote is a notification without or with a URI. It carries the id of a
// subscription; nil: there is none in its era.
func changeNote(method, uri string, subscription []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/`), method...)
	if subscription == nil && uri == "" {
		return append(b, `"}`...)
	}
	b = append(b, `","params":{`...)
	if subscription != nil {
		b = append(append(b, `"_meta":{"`+metaSubscription+`":`...), subscription...)
		b = append(b, '}')
		if uri != "" {
			b = append(b, ',')
		}
	}
	if uri != "" {
		b = rawjson.AppendString(append(b, `"uri":`...), uri)
	}
	return append(b, "}}"...)
}

// pass sends what changed to a legacy client.
func (s *Server) pass(f *feed, out outlet) error {
	catalog, uris := f.take()
	var notes [][]byte
	if catalog {
		notes = append(notes, changeNote("tools/list_changed", "", nil))
		if s.resources() {
			notes = append(notes, changeNote("resources/list_changed", "", nil))
		}
		if s.prompts() {
			notes = append(notes, changeNote("prompts/list_changed", "", nil))
		}
	}
	for _, uri := range uris {
		notes = append(notes, changeNote("resources/updated", uri, nil))
	}
	for _, n := range notes {
		if err := out.send(n); err != nil {
			return err
		}
	}
	return nil
}
