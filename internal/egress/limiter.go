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

// turn is the leave to send a request. Both of its ends must be told, whatever
// happens meanwhile: give, and once before it what came, which says how the
// upstream is. Telling again does nothing.
type turn struct {
	g      *gate
	came   func(error) // nil: no breaker waits for it
	answer sync.Once
	end    sync.Once
}

// tell says what came of the request.
func (t *turn) tell(got Response, err error) { t.sign(sign(got, err)) }

func (t *turn) sign(sign error) {
	t.answer.Do(func() {
		if t.came != nil {
			t.came(sign)
		}
	})
}

// give ends the turn. A request of which nothing was told, because it panicked,
// says nothing of the upstream.
func (t *turn) give() {
	t.sign(errNoSign)
	t.end.Do(t.g.give)
}

// enter waits until r may be sent.
func (g *gate) enter(r *http.Request, maxWait time.Duration) (*turn, error) {
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
	t := &turn{g: g}
	if g.breaker == nil {
		return t, nil
	}
	var err error
	if t.came, err = g.breaker.Allow(); err != nil {
		g.give()
		return nil, g.down(r)
	}
	return t, nil
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
		case TooLarge, Full:
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
