package egress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"
)

// limiter holds the limits and the breaker of one origin. Each of its parts may be
// nil, which means no limit.
type limiter struct {
	slots   chan struct{} // one element per request in flight
	rate    *rate.Limiter
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
	policy  Policy
}

func newLimiter(p Policy, origin string, o Observer) *limiter {
	g := &limiter{policy: p}
	if p.Concurrent > 0 {
		g.slots = make(chan struct{}, p.Concurrent)
	}
	if p.Rate > 0 {
		g.rate = rate.NewLimiter(rate.Limit(p.Rate), int(math.Ceil(p.Rate)))
	}
	if p.Failures > 0 {
		limit := uint32(min(p.Failures, math.MaxInt32))
		changed := func(string, gobreaker.State, gobreaker.State) {}
		if o != nil {
			changed = func(_ string, _, to gobreaker.State) { o.BreakerChanged(origin, to.String()) }
			o.BreakerChanged(origin, gobreaker.StateClosed.String())
		}
		g.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			OnStateChange: changed,
			Timeout:       p.Pause,
			ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= limit },
			IsExcluded:    func(err error) bool { return errors.Is(err, errNoHealth) },
		})
	}
	return g
}

var (
	errFailed   = errors.New("the upstream failed")
	errOpen     = errors.New("the breaker is open")
	errLimit    = errors.New("a limit is reached")
	errNoHealth = errors.New("the outcome does not depend on the upstream's health")
)

// permit is the permission to send a request. Its holder must report the outcome
// once with tell, and release it with give, whatever happens. Repeated calls do
// nothing.
type permit struct {
	limiter       *limiter
	reportOutcome func(error) // reports to the breaker; nil: none
	reported      sync.Once
	released      sync.Once
}

// report reports the outcome of the request.
func (t *permit) report(got Response, err error) { t.reportHealth(health(got, err)) }

func (t *permit) reportHealth(sign error) {
	t.reported.Do(func() {
		if t.reportOutcome != nil {
			t.reportOutcome(sign)
		}
	})
}

// release ends the turn. If no outcome was reported, because of a panic, the
// breaker ignores the request.
func (t *permit) release() {
	t.reportHealth(errNoHealth)
	t.released.Do(t.limiter.freeSlot)
}

// acquire waits until r may be sent.
func (g *limiter) acquire(r *http.Request, maxWait time.Duration) (*permit, error) {
	if g.breaker != nil && g.breaker.State() == gobreaker.StateOpen {
		return nil, g.circuitOpen(r) // fails without waiting
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxWait)
	defer cancel()
	if err := g.takeSlot(ctx, r); err != nil {
		return nil, err
	}
	if g.rate != nil && g.rate.Wait(ctx) != nil {
		g.freeSlot()
		return nil, limitReached(r, fmt.Sprintf("the limit of %v requests per second to this upstream is reached", g.policy.Rate))
	}
	t := &permit{limiter: g}
	if g.breaker == nil {
		return t, nil
	}
	var err error
	if t.reportOutcome, err = g.breaker.Allow(); err != nil {
		g.freeSlot()
		return nil, g.circuitOpen(r)
	}
	return t, nil
}

func (g *limiter) takeSlot(ctx context.Context, r *http.Request) error {
	if g.slots == nil {
		return nil
	}
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return limitReached(r, fmt.Sprintf("the limit of %d concurrent requests to this upstream is reached", g.policy.Concurrent))
	}
}

func (g *limiter) freeSlot() {
	if g.slots != nil {
		<-g.slots
	}
}

// health returns what an outcome says about the upstream's health. A 500 may be
// caused by one operation, and a 429 by one caller.
func health(got Response, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.Kind {
		case Network, Timeout, Truncated:
			return errFailed
		case Forbidden, Canceled, RateLimited, CircuitOpen:
			return errNoHealth
		case TooLarge, Full:
		}
	}
	switch got.Status {
	case 0:
		return errNoHealth
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return errFailed
	}
	return nil
}

// limitReached returns the error of a request that waited too long for its turn, or
// whose caller canceled.
func limitReached(r *http.Request, why string) error {
	e := &Error{Kind: RateLimited, Err: errLimit, request: requestText(r), reason: "not sent: " + why}
	if errors.Is(r.Context().Err(), context.Canceled) {
		e.Kind, e.reason = Canceled, "the call was canceled"
	}
	return e
}

func (g *limiter) circuitOpen(r *http.Request) error {
	why := fmt.Sprintf("the upstream failed %d times in a row; the circuit breaker is open for %v", g.policy.Failures, g.policy.Pause)
	return &Error{Kind: CircuitOpen, Err: errOpen, request: requestText(r), reason: "not sent: " + why}
}
