package gateway

import (
	"errors"

	"github.com/tenon-mcp/tenon"
)

// Event says what has changed: the catalog or one resource.
type Event struct{ URI string } // URI of the resource; empty: the catalog

// Subscribe calls changed for every change until stop is called. changed must
// not block: it is called in the goroutine that makes the change.
func (g *Gateway) Subscribe(changed func(Event)) (stop func()) {
	key := &changed
	g.subscribers.Store(key, nil)
	return func() { g.subscribers.Delete(key) }
}

// Notify reports a change of a resource to all subscribers. Swap does so for
// the catalog.
func (g *Gateway) Notify(c Event) {
	g.subscribers.Range(func(key, _ any) bool {
		if changed, ok := key.(*func(Event)); ok {
			(*changed)(c)
		}
		return true
	})
}

// unwinds reports whether err is for the transport, not for the model.
func unwinds(err error) bool {
	return errors.As(err, new(*tenon.InputRequiredError)) || errors.As(err, new(*tenon.UnsupportedInputError)) || errors.As(err, new(*tenon.ScopeError))
}
