package openapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/deadline"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// Upstream says how a source treats the servers that it calls. Limits and the
// breaker count for each origin (scheme, host and port) by itself. The zero
// value sends each request once, at once, and keeps nothing.
type Upstream struct {
	// Retries are the further attempts of a request that failed in passing: no
	// connection, no or half an answer, status 408, 429, 502, 503 or 504. A
	// request that may change something is repeated only if it is PUT or DELETE,
	// is marked as safe or idempotent (see Changes, TrustMarks), carries the Idempotency-Key that
	// its operation declares (one is made where the caller gave none), or if not
	// one byte of it left. Retry-After is honoured.
	Retries int
	MaxWait time.Duration // the longest wait for the next attempt, or for a turn; what would take longer fails at once; 0: 10 s

	MaxConcurrent     int           // requests at a time; 0: no limit
	RequestsPerSecond float64       // requests a second; 0: no limit
	BreakerFailures   int           // requests in a row without an answer, or with 502, 503 or 504, after which nothing is sent for Pause; 0: never
	BreakerCooldown   time.Duration // then one request tries how things are; 0: 30 s

	// CacheBytes bounds the answers that are kept as RFC 9111 allows a private
	// cache, for GET and HEAD; 0: none. An answer is found again only for the
	// same Subject and a request that is equal in every header.
	CacheBytes int64
}

func (u Upstream) policy(attempt time.Duration) egress.Policy {
	return egress.Policy{
		Retries: u.Retries, MaxWait: u.MaxWait, Attempt: attempt,
		Concurrent: u.MaxConcurrent, Rate: u.RequestsPerSecond, Failures: u.BreakerFailures, Pause: u.BreakerCooldown, CacheBytes: u.CacheBytes,
	}
}

// send sends a request of the operation as the operator has it.
func (o *operation) send(c *tenon.Call, req *http.Request) (egress.Response, error) {
	a := o.api
	if a.upstreams == nil {
		return egress.Do(a.options.Client, req, a.options.MaxAnswer)
	}
	return a.upstreams.Do(req, o.terms(c, req))
}

// terms are what the way out must know of a request.
func (o *operation) terms(c *tenon.Call, req *http.Request) egress.RequestOptions {
	return egress.RequestOptions{MaxBody: o.api.options.MaxAnswer, Safe: o.safe, Repeatable: o.repeatable() || o.keyed(req), Identity: string(c.Subject)}
}

// open is send for an answer that may be a stream.
func (o *operation) open(c *tenon.Call, req *http.Request) (*egress.Stream, egress.Response, error) {
	if a := o.api; a.upstreams != nil {
		return a.upstreams.Open(req, o.terms(c, req))
	}
	return egress.Open(o.api.options.Client, req, o.api.options.MaxAnswer)
}

// bounded is ctx with the time of one request. Where attempts and waits have
// bounds of their own, it is ctx.
func (o *operation) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.api.upstreams != nil {
		return ctx, func() {}
	}
	return deadline.Within(ctx, o.api.options.Timeout)
}

const idempotencyKey = "Idempotency-Key"

// keyed tells whether the upstream knows a repeated request by its key, and
// makes one where the caller gave none. Only a key that the operation declares
// counts: others are ignored by upstreams.
func (o *operation) keyed(req *http.Request) bool {
	for i := range o.planned().params {
		q := &o.planned().params[i]
		if q.in != inHeader || http.CanonicalHeaderKey(q.wire) != idempotencyKey {
			continue
		}
		if req.Header[idempotencyKey] == nil {
			req.Header[idempotencyKey] = []string{rand.Text()}
		}
		return true
	}
	return false
}
