package egress

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Policy says how the services behind a source are treated. The zero value
// sends each request once and at once.
type Policy struct {
	Retries    int           // further attempts of a request that may be repeated; 0: none
	MaxWait    time.Duration // the longest that a request waits for its next attempt or for its turn; 0: 10 s
	Attempt    time.Duration // of one attempt, from connecting to the last byte; 0: as the context has it
	Concurrent int           // requests at a time to one origin; 0: no limit
	Rate       float64       // requests a second to one origin; 0: no limit
	Failures   int           // failures of one origin in a row after which it is left alone; 0: never
	Pause      time.Duration // for which it is left alone; 0: 30 s
	CacheBytes int64         // of answers that are kept; 0: none
}

// RequestOptions are what Upstreams must know of a request besides its bytes.
type RequestOptions struct {
	MaxBody    int64  // see Do
	Safe       bool   // it changes nothing
	Repeatable bool   // made twice it does what it does once
	Identity   string // on whose behalf; answers are kept for nobody else
}

// Upstreams sends requests by a policy and remembers what that needs of each
// origin. It is safe for concurrent use.
type Upstreams struct {
	client *http.Client
	policy Policy
	cache  *cache // nil: no answer is kept

	mu    sync.Mutex
	gates map[string]*gate // by origin
}

// NewUpstreams opens nothing. The client should come from NewClient.
func NewUpstreams(c *http.Client, p Policy) *Upstreams {
	p.MaxWait = orDuration(p.MaxWait, 10*time.Second)
	p.Pause = orDuration(p.Pause, 30*time.Second)
	u := &Upstreams{client: c, policy: p, gates: map[string]*gate{}}
	if p.CacheBytes > 0 {
		u.cache = newCache(p.CacheBytes)
	}
	return u
}

// Do is the package's Do under the policy. Where several attempts were made the
// answer is the last one's and the progress that of the one that got furthest.
func (u *Upstreams) Do(r *http.Request, t RequestOptions) (got Response, err error) {
	if u.cache == nil {
		return u.send(r, t)
	}
	if cacheable(r) {
		return u.throughCache(r, t)
	}
	got.Progress = SentNoAnswer // what is known where sending panics
	defer func() { u.changed(r, t, got) }()
	got, err = u.send(r, t)
	return got, err
}

// changed forgets what a request may have changed (RFC 9111 §4.4), also where no
// answer came.
func (u *Upstreams) changed(r *http.Request, t RequestOptions, got Response) {
	if u.cache != nil && !t.Safe && got.Progress != NotSent {
		u.cache.forget(r.URL, got.Header)
	}
}

// Open is the package's Open in r's turn, which ends with the answer's body. What
// is a stream is neither asked for again nor kept.
func (u *Upstreams) Open(r *http.Request, t RequestOptions) (_ *Stream, _ Response, err error) {
	turn, err := u.enter(r)
	if err != nil {
		return nil, Response{}, err
	}
	opened := &Stream{turn: turn}
	defer func() {
		if opened.answer == nil || err != nil {
			turn.give() // there is no body that would end it
		}
	}()
	err = opened.open(u.client, r, t.MaxBody)
	turn.tell(opened.Response, err) // a stream may last for hours, and a breaker wants to know
	u.changed(r, t, opened.Response)
	if err != nil {
		return nil, opened.Response, err
	}
	context.AfterFunc(r.Context(), turn.give) // who does not close it cannot read it any more either
	return opened, opened.Response, nil
}

// enter waits for r's turn.
func (u *Upstreams) enter(r *http.Request) (*turn, error) {
	if err := checkRequest(r); err != nil {
		return nil, newError(r, err, NotSent)
	}
	return u.gate(origin(r.URL)).enter(r, u.policy.MaxWait)
}

// attempt sends r once, in its turn. r is not touched: it may be sent again.
func (u *Upstreams) attempt(r *http.Request, t RequestOptions) (Response, error) {
	turn, err := u.enter(r)
	if err != nil {
		return Response{}, err
	}
	defer turn.give()
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
	got, err := Do(u.client, once, t.MaxBody)
	turn.tell(got, err)
	return got, err
}

func (u *Upstreams) gate(origin string) *gate {
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.gates[origin]
	if g == nil {
		g = newGate(u.policy)
		u.gates[origin] = g
	}
	return g
}
