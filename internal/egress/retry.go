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

// firstWait is the longest wait before the second attempt; it doubles with each
// further one.
const firstWait = 200 * time.Millisecond

// send makes the attempts of a request. A request that may not be repeated is
// sent again only where not one byte of it left.
func (u *Upstreams) send(r *http.Request, t RequestOptions) (Response, error) {
	furthest := NotSent
	for done := 0; ; done++ {
		got, err := u.attempt(r, t)
		furthest = max(furthest, got.Progress)
		got.Progress = furthest
		if e, ok := errors.AsType[*Error](err); ok {
			e.Progress = furthest
		}
		if done >= u.policy.Retries || !repeats(r, t, got, err) {
			return got, err
		}
		wait, asked := retryAfter(got.Header, time.Now())
		if !asked {
			wait = min(firstWait<<min(done, 20), u.policy.MaxWait)
			wait = wait/2 + rand.N(wait/2+1) //nolint:gosec // no secret: it keeps clients from coming back all at once
		}
		if wait > u.policy.MaxWait || !pause(r.Context(), wait) {
			return got, err
		}
	}
}

// repeats tells whether another attempt is allowed and may do better.
func repeats(r *http.Request, t RequestOptions, got Response, err error) bool {
	if r.Context().Err() != nil || r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	if err != nil {
		return t.Repeatable && passing(err) || got.Progress == NotSent && passing(err)
	}
	switch got.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return t.Repeatable
	}
	return false
}

// passing tells whether an error may be gone the next time.
func passing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	return e.Kind == Network || e.Kind == Timeout || e.Kind == Truncated
}

// retryAfter reads when an upstream wants to be asked again (RFC 9110 §10.2.3).
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

// pause waits, unless the context would end before.
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
