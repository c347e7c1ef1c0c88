package projection

import "sync"

// Bounds of the cached selections of a tool.
const (
	maxSelections = 32
	maxSelection  = 1 << 10 // bytes of one
)

// Selections caches the views of recent requests: making one compiles a schema,
// and callers tend to repeat their selection.
type Selections struct {
	mu    sync.Mutex // guards known
	known map[string]*View
}

// Get returns the view of the fields, made by build if it is not cached.
func (s *Selections) Get(fields string, build func() (*View, error)) (*View, error) {
	s.mu.Lock()
	v := s.known[fields]
	s.mu.Unlock()
	if v != nil {
		return v, nil
	}
	v, err := build()
	if err != nil || len(fields) > maxSelection {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]*View{}
	}
	for old := range s.known { // any of them
		if len(s.known) < maxSelections {
			break
		}
		delete(s.known, old)
	}
	s.known[fields] = v
	return v, nil
}
