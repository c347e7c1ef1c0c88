package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// maxViews bounds the listings that are kept beside that of the whole catalog.
const maxViews = 256

// views are the listings of callers who do not see all of a catalog.
type views struct {
	mu  sync.Mutex
	all map[string]*listing
}

// toolsFor is what the caller to whom ctx belongs sees of the tools in force.
func (s *Server) toolsFor(ctx context.Context) *listing {
	whole := s.tools()
	c, view := whole.catalog.View(ctx)
	if view == "" {
		return whole
	}
	v := &whole.views
	v.mu.Lock()
	defer v.mu.Unlock()
	l := v.all[view]
	if l == nil || l.catalog != c {
		if v.all == nil || len(v.all) >= maxViews {
			v.all = map[string]*listing{} // cursors need none of them
		}
		l = &listing{catalog: c, log: whole.log, size: whole.size, id: viewID(orderOf(c), view), view: view, past: whole.past, pages: map[int]func() *page{}}
		v.all[view] = l
	}
	return l
}

// viewID binds cursors to a listing as a caller sees it: they say nothing to others.
func viewID(listing uint64, view string) uint64 {
	if view == "" {
		return listing
	}
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, listing), view...))
	return binary.BigEndian.Uint64(sum[:])
}
