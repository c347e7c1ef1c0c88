package memstore

import (
	"context"
	"sync"
)

// listeners are those who want to be called, by topic.
type listeners struct {
	mu  sync.Mutex
	all map[string]map[*func()]bool
}

// Announce calls the listeners to a topic. It implements tenon.Announcer for the
// servers of one process that share a store.
func (s *Store) Announce(_ context.Context, topic string) error {
	l := &s.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	for heard := range l.all[topic] {
		(*heard)()
	}
	return nil
}

// Listen calls heard for announcements until stop is called.
func (s *Store) Listen(_ context.Context, topic string, heard func()) (stop func(), err error) {
	l := &s.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]map[*func()]bool{}
	}
	if l.all[topic] == nil {
		l.all[topic] = map[*func()]bool{}
	}
	l.all[topic][&heard] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all[topic], &heard)
		if len(l.all[topic]) == 0 {
			delete(l.all, topic)
		}
	}, nil
}
