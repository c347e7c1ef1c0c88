package tenon

import "errors"

// Change tells subscribers what is no longer as it was: the catalog, or one
// resource.
type Change struct{ URI string } // empty: a new catalog is in force

// Subscribe calls changed for every change until stop is called. It is called
// by whoever made the change, so it must not block.
func (g *Gateway) Subscribe(changed func(Change)) (stop func()) {
	key := &changed
	g.subscribers.Store(key, nil)
	return func() { g.subscribers.Delete(key) }
}

// Updated tells subscribers that the resource at uri is not what it was.
func (g *Gateway) Updated(uri string) { g.tell(Change{URI: uri}) }

func (g *Gateway) tell(c Change) {
	g.subscribers.Range(func(key, _ any) bool {
		if changed, ok := key.(*func(Change)); ok {
			(*changed)(c)
		}
		return true
	})
}

// unwinds reports whether err is for the door and not for the model.
func unwinds(err error) bool {
	var needed *InputNeededError
	var cannot *CannotAskError
	return errors.As(err, &needed) || errors.As(err, &cannot)
}
