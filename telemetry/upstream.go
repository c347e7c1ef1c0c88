package telemetry

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Upstream is a request to an upstream that has ended.
type Upstream struct {
	Method   string
	URL      *url.URL
	Resends  int // attempts before
	Began    time.Time
	Duration time.Duration
	Status   int    // 0: no response
	Failure  string // low-cardinality reason why there is no whole response; empty: there is
}

// BeginUpstream begins the span of a request to an upstream, as a child of that of
// its call, and tells the upstream of it. EndUpstream gets the context back.
func (t *Telemetry) BeginUpstream(r *http.Request) context.Context {
	ctx := r.Context()
	place := placeOf(ctx)
	switch {
	case t.spans == nil:
		return ctx
	case place.IsValid() && !place.IsSampled():
		inject(ctx, place, r.Header)
		return ctx
	}
	id := place.TraceID()
	if !place.IsValid() { // a description that is read, for example
		if id = newTraceID(); !t.sampler.takes(place, id) {
			return ctx
		}
	}
	s := startSpan(methodOf(r.Method), trace.SpanKindClient, place, id, time.Now())
	inject(ctx, s.place, r.Header)
	s.set(attrHTTPMethod.String(methodOf(r.Method)), attrServer.String(r.URL.Hostname()), attrPort.Int(portOf(r.URL)), attrURL.String(t.urlOf(r.URL)))
	return &attempt{ctx, s}
}

// attempt is the context of a request to an upstream that is recorded.
type attempt struct {
	context.Context //nolint:containedctx // it is one

	span *span
}

// urlOf is the URL for a span: no query and no user, which can hold credentials, and
// the path only where contents are wanted, because arguments are parts of it.
func (t *Telemetry) urlOf(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	if t.options.Content {
		shown.Path = clip(u.Path)
	}
	return shown.String()
}

// EndUpstream ends the span of a request to an upstream and records its duration.
func (t *Telemetry) EndUpstream(ctx context.Context, u Upstream) {
	t.recordUpstream(&u)
	a, ok := ctx.(*attempt)
	if !ok {
		return
	}
	if u.Status != 0 {
		a.span.set(attrHTTPStatus.Int(u.Status))
	}
	if u.Resends > 0 {
		a.span.set(attrResends.Int(u.Resends))
	}
	if failure := u.failure(); failure != "" {
		a.span.fail(failure, "")
	}
	t.end(a.span)
}

// failure is the value of error.type; empty: the request did not fail.
func (u *Upstream) failure() string {
	switch {
	case u.Failure != "":
		return u.Failure
	case u.Status >= 400:
		return strconv.Itoa(u.Status)
	}
	return ""
}

// methodOf is an HTTP method of the conventions, or one value for all others.
func methodOf(name string) string {
	switch name {
	case "":
		return http.MethodGet
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace, "QUERY":
		return name
	}
	return valueOther
}

func portOf(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}
