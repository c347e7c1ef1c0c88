package egress

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Observer is told of requests that go out. Its methods must not block.
type Observer interface {
	// BeginRequest is called before a request is sent, once for each attempt, and may
	// add headers to it. Redirects belong to the request that led to them. EndRequest
	// is given the context that it returns.
	BeginRequest(*http.Request) context.Context
	// EndRequest is called when the response was read, or closed, or there is none.
	EndRequest(context.Context, RequestRecord)
	// CacheLookup is called for every request that may be answered from the cache.
	CacheLookup(hit bool)
	// BreakerChanged is called with the origin of a circuit breaker and its state:
	// closed, half-open or open.
	BreakerChanged(origin, state string)
}

// RequestRecord is a request that has ended.
type RequestRecord struct {
	Method   string
	URL      *url.URL // as it was requested
	Resends  int      // how many attempts were made before
	Began    time.Time
	Duration time.Duration // with the time in which the body was read
	Status   int           // 0: no response
	Failure  string        // Kind of the Error; empty: the whole response arrived, or was not wanted
	NotSent  bool          // no byte of it was sent
}

// observed is what a Stream keeps for the observer. The zero value has none.
type observed struct {
	observer Observer
	ctx      context.Context //nolint:containedctx // of the observer, which gets it back
	record   RequestRecord
	resends  int
}

// openObserved is open for an observer.
func (o *Stream) openObserved(by Observer, c *http.Client, r *http.Request, maxBody int64) error {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	o.observed.observer = by
	o.observed.record = RequestRecord{Method: r.Method, URL: r.URL, Resends: o.observed.resends, Began: time.Now()}
	o.observed.ctx = by.BeginRequest(r) //nolint:fatcontext // one for each stream
	err := o.begin(c, r, maxBody)
	if err != nil {
		o.observed.end(o.Status, err)
	}
	return err
}

// end tells the observer, the first time that it is called.
func (b *observed) end(status int, err error) {
	if b.observer == nil {
		return
	}
	b.record.Status, b.record.Duration = status, time.Since(b.record.Began)
	if e, ok := errors.AsType[*Error](err); ok {
		b.record.Failure, b.record.NotSent = e.Kind.String(), e.State == NotSent
	}
	b.observer.EndRequest(b.ctx, b.record)
	b.observer = nil
}

// observer is that of the client; nil: nobody is told.
func (u *Upstreams) observer() Observer {
	if d, ours := u.client.Transport.(*transport); ours {
		return d.observer
	}
	return nil
}
