package server

import (
	"context"
	"errors"
)

// gate bounds the calls under way. As many again may wait for a place, and
// whoever is patient.
type gate struct {
	places chan struct{}
	queue  chan struct{}
}

func newGate(n int) gate {
	return gate{places: make(chan struct{}, n), queue: make(chan struct{}, n)}
}

var errBusy = errors.New("too many calls at once")

// enter takes a place as soon as one is free. Without patience it fails at
// once where the queue is full.
func (g gate) enter(ctx context.Context, patient bool) error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
	}
	if !patient {
		select {
		case g.queue <- struct{}{}:
			defer func() { <-g.queue }()
		default:
			return errBusy
		}
	}
	select {
	case g.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryEnter takes a place if one is free.
func (g gate) tryEnter() bool {
	select {
	case g.places <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g gate) leave() { <-g.places }
