package server

import (
	"context"
	"strings"
	"sync"
	"time"
)

// Answers that say that a limit is reached are paced: who sends again at once, over
// however many connections, would else keep the processors from everybody who is
// within their limits. The first come at once, so that a client hears when to try again.
const (
	refusedBurst    = 20
	refusedInterval = 10 * time.Millisecond // between two more
	longestPace     = time.Second           // for an answer
	maxPaced        = 4096                  // callers that are known to be refused
)

// pacer knows when callers were refused.
type pacer struct {
	mu   sync.Mutex
	next map[string]time.Time // when the burst of a caller is there again
}

// delay counts an answer and returns for how long it is held back.
func (p *pacer) delay(caller string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.next[caller]
	if !known {
		p.evict(now)
	}
	if at.Before(now) {
		at = now
	}
	at = at.Add(refusedInterval)
	wait := at.Sub(now) - refusedBurst*refusedInterval
	if wait > longestPace {
		wait, at = longestPace, at.Add(-refusedInterval)
	}
	p.next[caller] = at
	return max(0, wait)
}

// evict makes space for a caller: those that were not refused lately go, or else
// anyone.
func (p *pacer) evict(now time.Time) {
	if p.next == nil {
		p.next = map[string]time.Time{}
	}
	if len(p.next) < maxPaced {
		return
	}
	for caller, at := range p.next {
		if len(p.next) < maxPaced && at.After(now) {
			break
		}
		delete(p.next, caller)
	}
}

// slowDown holds back an answer that says that a limit is reached.
func (s *Server) slowDown(ctx context.Context, c account) {
	caller := c.key
	if !strings.HasPrefix(caller, callerPrefix) {
		caller = c.origin // sessions and credentials can be invented
	}
	if caller == "" {
		return
	}
	wait := s.paced.delay(caller, time.Now())
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.closing:
	}
}
