package server

import (
	"context"
	"errors"
)

// gate bounds the calls under way. As many again may wait for a place.
type gate struct {
	places chan struct{}
	queue  chan struct{}
}

func newGate(n int) gate {
	return gate{places: make(chan struct{}, n), queue: make(chan struct{}, n)}
}

var errBusy = errors.New("too many calls at once")

// enter takes a place, or fails at once where the queue is full too.
func (g gate) enter(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
	}
	select {
	case g.queue <- struct{}{}:
	default:
		return errBusy
	}
	defer func() { <-g.queue }()
	return g.wait(ctx)
}

// wait takes a place as soon as one is free.
func (g gate) wait(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g.places }
