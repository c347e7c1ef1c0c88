package egress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"
)

// gate stands before one origin. Each of its parts may be nil: it is not
// asked for.
type gate struct {
	turns   chan struct{} // one for each request under way
	rate    *rate.Limiter
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
	policy  Policy
}

func newGate(p Policy) *gate {
	g := &gate{policy: p}
	if p.Concurrent > 0 {
		g.turns = make(chan struct{}, p.Concurrent)
	}
	if p.Rate > 0 {
		g.rate = rate.NewLimiter(rate.Limit(p.Rate), int(math.Ceil(p.Rate)))
	}
	if p.Failures > 0 {
		limit := uint32(min(p.Failures, math.MaxInt32))
		g.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Timeout:     p.Pause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= limit },
			IsExcluded:  func(err error) bool { return errors.Is(err, errNoSign) },
		})
	}
	return g
}

var (
	errFailed = errors.New("the upstream failed")
	errOpen   = errors.New("the breaker is open")
	errLimit  = errors.New("a limit is used up")
	errNoSign = errors.New("what happened says nothing of the upstream")
)

// enter waits until r may be sent. leave must then be called with what came of
// it.
func (g *gate) enter(r *http.Request, maxWait time.Duration) (leave func(Response, error), err error) {
	if g.breaker != nil && g.breaker.State() == gobreaker.StateOpen {
		return nil, g.down(r) // nobody waits for a turn that is not used
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxWait)
	defer cancel()
	if err := g.take(ctx, r); err != nil {
		return nil, err
	}
	if g.rate != nil && g.rate.Wait(ctx) != nil {
		g.give()
		return nil, busy(r, fmt.Sprintf("the limit of %v requests a second to this upstream is used up", g.policy.Rate))
	}
	if g.breaker == nil {
		return func(Response, error) { g.give() }, nil
	}
	done, err := g.breaker.Allow()
	if err != nil {
		g.give()
		return nil, g.down(r)
	}
	return func(got Response, err error) {
		done(sign(got, err))
		g.give()
	}, nil
}

func (g *gate) take(ctx context.Context, r *http.Request) error {
	if g.turns == nil {
		return nil
	}
	select {
	case g.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return busy(r, fmt.Sprintf("%d requests to this upstream are under way, which is the limit", g.policy.Concurrent))
	}
}

func (g *gate) give() {
	if g.turns != nil {
		<-g.turns
	}
}

// sign is what an answer, or none, says of the upstream's health. An error of
// its own (500) may belong to one operation, and too many requests (429) to one
// caller.
func sign(got Response, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.Kind {
		case Network, Timeout, Truncated:
			return errFailed
		case Refused, Canceled, Busy, Down:
			return errNoSign
		case TooLarge:
		}
	}
	switch got.Status {
	case 0:
		return errNoSign
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return errFailed
	}
	return nil
}

// busy is the error of a request that found no turn. A caller who gave up is
// told so.
func busy(r *http.Request, why string) error {
	e := &Error{Kind: Busy, Err: errLimit, where: whereOf(r), why: "nothing was sent: " + why}
	if errors.Is(r.Context().Err(), context.Canceled) {
		e.Kind, e.why = Canceled, "the call was canceled"
	}
	return e
}

func (g *gate) down(r *http.Request) error {
	why := fmt.Sprintf("the upstream failed %d times in a row and is left alone for %v", g.policy.Failures, g.policy.Pause)
	return &Error{Kind: Down, Err: errOpen, where: whereOf(r), why: "nothing was sent: " + why}
}
