package gateway

import (
	"errors"

	"github.com/tenon-mcp/tenon"
)

// Event tells subscribers what is no longer as it was: the catalog, or one
// resource.
type Event struct{ URI string } // empty: a new catalog is in force

// Subscribe calls changed for every change until stop is called. It is called
// by whoever made the change, so it must not block.
func (g *Gateway) Subscribe(changed func(Event)) (stop func()) {
	key := &changed
	g.subscribers.Store(key, nil)
	return func() { g.subscribers.Delete(key) }
}

// Notify tells subscribers of a change: of a resource that is not what it was.
// Swap tells of a catalog by itself.
func (g *Gateway) Notify(c Event) {
	g.subscribers.Range(func(key, _ any) bool {
		if changed, ok := key.(*func(Event)); ok {
			(*changed)(c)
		}
		return true
	})
}

// unwinds reports whether err is for the transport and not for the model.
func unwinds(err error) bool {
	return errors.As(err, new(*tenon.InputRequiredError)) || errors.As(err, new(*tenon.UnsupportedInputError))
}
