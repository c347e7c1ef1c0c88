package access

import (
	"sync"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
)

// maxViews bounds the catalogs that are kept. There are as many as there are sorts of
// callers, which are few unless each has a rule of its own.
const maxViews = 64

// views are the catalogs of callers. One is made when its first caller comes.
type views struct {
	rules *Rules
	texts string
	of    func(about) *gateway.Catalog

	mu    sync.RWMutex
	all   map[about]*view
	order []about // the oldest first
}

type view struct {
	catalog func() *gateway.Catalog // made once; nobody else waits meanwhile
	id      string
}

func (v *views) view(c *auth.Caller) (*gateway.Catalog, string) {
	a := v.rules.match(c)
	v.mu.RLock()
	one := v.all[a]
	v.mu.RUnlock()
	if one == nil {
		one = v.add(a)
	}
	return one.catalog(), one.id
}

func (v *views) add(a about) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one := v.all[a]; one != nil {
		return one
	}
	if v.all == nil {
		v.all = map[about]*view{}
	}
	if len(v.order) == maxViews {
		delete(v.all, v.order[0])
		v.order = append(v.order[:0:0], v.order[1:]...)
	}
	one := &view{catalog: sync.OnceValue(func() *gateway.Catalog { return v.of(a) }), id: a.id(v.texts)}
	v.all[a], v.order = one, append(v.order, a)
	return one
}
