package document

import (
	"maps"
	"sync"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Inputs records what was read for a document: its own file, overlays, files of
// selectors, and the files that it refers to, which are read later. All methods
// accept nil, which records nothing.
type Inputs struct {
	mu    sync.Mutex
	files map[string]func() watch.Sum
	web   watch.Sums // by address; the zero Sum: it could not be read
}

// AddFile records the content of a file.
func (s *Inputs) AddFile(name string, text []byte, err error) {
	if s == nil {
		return
	}
	sum := func() watch.Sum { return watch.Sum{} }
	if err == nil {
		sum = sync.OnceValue(func() watch.Sum { return watch.SumOf(text) })
		incident.Go(nil, "reading "+name, func() { sum() }, nil) // computed in the background
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]func() watch.Sum{}
	}
	s.files[name] = sum
}

// AddAddress records what was read from the web; nil: reading failed.
func (s *Inputs) AddAddress(at string, text []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.web == nil {
		s.web = watch.Sums{}
	}
	s.web[at] = watch.Sum{}
	if text != nil {
		s.web[at] = watch.SumOf(text)
	}
}

// Sums returns what was read from disk and from the web.
func (s *Inputs) Sums() (files, web watch.Sums) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	files = make(watch.Sums, len(s.files))
	for name, sum := range s.files {
		files[name] = sum()
	}
	return files, maps.Clone(s.web)
}
