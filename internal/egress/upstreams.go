package egress

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Policy configures how the upstreams of a source are called. The zero value
// sends each request once, without limits.
type Policy struct {
	Retries    int           // retries of a request that may be repeated; 0: none
	MaxWait    time.Duration // longest wait before a retry or for a turn; 0: 10 s
	Attempt    time.Duration // timeout of each attempt including its body; 0: that of the context
	Concurrent int           // concurrent requests per origin; 0: no limit
	Rate       float64       // requests per second and origin; 0: no limit
	Failures   int           // consecutive failures of an origin that open its circuit breaker; 0: none
	Pause      time.Duration // time for which the breaker stays open; 0: 30 s
	CacheBytes int64         // size of the cache; 0: none
	Replayed   bool          // retries do not wait: the responses were recorded
	Shared     Shared        // keeps responses for other replicas, too; nil: nothing does
}

// RequestOptions are properties of a request that Upstreams needs.
type RequestOptions struct {
	MaxBody    int64  // see Do
	Safe       bool   // it changes nothing
	Idempotent bool   // it is idempotent
	Identity   string // the caller; cached responses are not shared between callers
}

// Upstreams sends requests under a policy and has the state of each origin. It
// is safe for concurrent use.
type Upstreams struct {
	client *http.Client
	policy Policy
	cache  *cache // nil: no cache

	mu       sync.Mutex
	limiters map[string]*limiter // by origin
}

// NewUpstreams opens no connection. The client should come from NewClient.
func NewUpstreams(c *http.Client, p Policy) *Upstreams {
	p.MaxWait = orDuration(p.MaxWait, 10*time.Second)
	p.Pause = orDuration(p.Pause, 30*time.Second)
	u := &Upstreams{client: c, policy: p, limiters: map[string]*limiter{}}
	if p.CacheBytes > 0 {
		u.cache = newCache(p.CacheBytes, p.Shared)
	}
	return u
}

// Do is the package's Do under the policy. After several attempts it returns
// the last response and the furthest progress of all attempts.
func (u *Upstreams) Do(r *http.Request, t RequestOptions) (got Response, err error) {
	if u.cache == nil {
		return u.send(r, t)
	}
	if cacheable(r) {
		return u.throughCache(r, t)
	}
	got.State = SentNoResponse // in case that sending panics
	defer func() { u.changed(r, t, got) }()
	got, err = u.send(r, t)
	return got, err
}

// changed invalidates what a request may have changed (RFC 9111 §4.4), even
// without a response.
func (u *Upstreams) changed(r *http.Request, t RequestOptions, got Response) {
	if u.cache != nil && !t.Safe && got.State != NotSent {
		u.cache.invalidate(r.Context(), r.URL, got.Header)
	}
}

// Open is the package's Open under the policy. Its turn ends with the response
// body. A stream is neither retried nor cached.
func (u *Upstreams) Open(r *http.Request, t RequestOptions) (_ *Stream, _ Response, err error) {
	turn, err := u.acquire(r)
	if err != nil {
		return nil, Response{}, err
	}
	opened := &Stream{permit: turn}
	defer func() {
		if opened.answer == nil || err != nil {
			turn.release() // no body will end it
		}
	}()
	err = opened.open(u.client, r, t.MaxBody)
	turn.report(opened.Response, err) // reported now, because a stream may last for hours
	u.changed(r, t, opened.Response)
	if err != nil {
		return nil, opened.Response, err
	}
	context.AfterFunc(r.Context(), turn.release) // ends the turn of a stream that is never closed
	return opened, opened.Response, nil
}

// acquire waits for a turn for r.
func (u *Upstreams) acquire(r *http.Request) (*permit, error) {
	if err := checkRequest(r); err != nil {
		return nil, newError(r, err, NotSent)
	}
	return u.limiterOf(origin(r.URL)).acquire(r, u.policy.MaxWait)
}

// attempt sends a copy of r once.
func (u *Upstreams) attempt(r *http.Request, t RequestOptions, resends int) (Response, error) {
	turn, err := u.acquire(r)
	if err != nil {
		return Response{}, err
	}
	defer turn.release()
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if u.policy.Attempt > 0 {
		ctx, cancel = context.WithTimeout(ctx, u.policy.Attempt)
	}
	defer cancel()
	once := r.Clone(ctx)
	if r.GetBody != nil {
		if once.Body, err = r.GetBody(); err != nil {
			return Response{}, newError(r, err, NotSent)
		}
	}
	got, _, err := exchange(u.client, once, t.MaxBody, resends)
	turn.report(got, err)
	return got, err
}

func (u *Upstreams) limiterOf(origin string) *limiter {
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.limiters[origin]
	if g == nil {
		g = newLimiter(u.policy, origin, u.observer())
		u.limiters[origin] = g
	}
	return g
}
