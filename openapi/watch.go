package openapi

import (
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// seen is what was read for a document: its own file, overlays, lists of rules
// and the files that it refers to, which are read when they are needed. All
// methods may be called on nil, which notes nothing.
type seen struct {
	mu    sync.Mutex
	files map[string]func() watch.Sum
	web   watch.Held // by address; the zero Sum: it could not be read
}

// file notes what a file held.
func (s *seen) file(name string, text []byte, err error) {
	if s == nil {
		return
	}
	sum := func() watch.Sum { return watch.Sum{} }
	if err == nil {
		sum = sync.OnceValue(func() watch.Sum { return watch.SumOf(text) })
		incident.Go(nil, "reading "+name, func() { sum() }, nil) // nobody waits for it yet
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]func() watch.Sum{}
	}
	s.files[name] = sum
}

// address notes what was read from the web; nil: nothing could be read.
func (s *seen) address(at string, text []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.web == nil {
		s.web = watch.Held{}
	}
	s.web[at] = watch.Sum{}
	if text != nil {
		s.web[at] = watch.SumOf(text)
	}
}

// rules notes the files that a choice names.
func (s *seen) rules(c Selection) {
	for _, list := range [][]string{c.Include, c.Exclude} {
		for _, rule := range list {
			if name, isFile := strings.CutPrefix(rule, "@"); isFile {
				text, err := readFile(name)
				s.file(name, text, err)
			}
		}
	}
}

// held is what the last good load found on disk and in the web.
func (s *Source) held() (files, web watch.Held) {
	s.mu.Lock()
	seen := s.seen
	s.mu.Unlock()
	if seen == nil {
		return nil, nil
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	files = make(watch.Held, len(seen.files))
	for name, sum := range seen.files {
		files[name] = sum()
	}
	return files, maps.Clone(seen.web)
}

// Watch tells when a file of the document has changed, an overlay or a list of
// rules. What comes from the web is asked for every [Options].Poll, with what
// the upstream said about its version, and not at all without that: what
// others publish does not change what a model sees unless somebody wants it.
// That an upstream answers no more, and again, is logged.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	o, err := s.options.defaults()
	if err != nil {
		return err
	}
	var one sync.Mutex
	tell := func() {
		one.Lock()
		defer one.Unlock()
		changed()
	}
	polling := incident.NewGroup(o.Logger, "asking for changes of a description", 1)
	if o.Poll > 0 {
		polling.Go(func() { newPoller(o).poll(ctx, s, tell) }, nil)
	}
	err = watch.Files{Held: func() watch.Held { files, _ := s.held(); return files }}.Watch(ctx, tell)
	polling.Wait()
	return err
}
