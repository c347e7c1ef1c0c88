package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// initialWait is the maximum wait before the first retry; it doubles with each
// further one.
const initialWait = 200 * time.Millisecond

// send sends a request with retries. A request that is not idempotent is
// retried only if none of its bytes was sent.
func (u *Upstreams) send(r *http.Request, t RequestOptions) (Response, error) {
	furthest, unanswered := NotSent, false
	for done := 0; ; done++ {
		got, err := u.attempt(r, t, done)
		furthest = max(furthest, got.State)
		unanswered = unanswered || got.Unanswered || got.State == SentNoResponse
		got.Unanswered = unanswered
		got.State = furthest
		if e, ok := errors.AsType[*Error](err); ok {
			e.State = furthest
		}
		if done >= u.policy.Retries || !mayRetry(r, t, got, err) {
			return got, err
		}
		wait, asked := retryAfter(got.Header, time.Now())
		if !asked {
			wait = min(initialWait<<min(done, 20), u.policy.MaxWait)
			wait = wait/2 + rand.N(wait/2+1) //nolint:gosec // not secret: jitter between clients
		}
		if wait > u.policy.MaxWait || !u.policy.Replayed && !pause(r.Context(), wait) {
			return got, err
		}
	}
}

// mayRetry reports whether another attempt is allowed and may succeed.
func mayRetry(r *http.Request, t RequestOptions, got Response, err error) bool {
	if r.Context().Err() != nil || r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	if err != nil {
		return t.Idempotent && isTransient(err) || got.State == NotSent && isTransient(err)
	}
	switch got.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return t.Idempotent
	}
	return false
}

// isTransient reports whether an error may be transient.
func isTransient(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	return e.Kind == Network || e.Kind == Timeout || e.Kind == Truncated
}

// retryAfter reads Retry-After (RFC 9110 §10.2.3).
func retryAfter(h http.Header, now time.Time) (wait time.Duration, asked bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}

// pause waits, unless the context would end first.
func pause(ctx context.Context, wait time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
