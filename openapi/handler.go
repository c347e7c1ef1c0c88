package openapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/charset"
	"github.com/tenon-mcp/tenon/internal/deadline"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// handler sends the operation's request and returns the upstream's response.
// The functions that it calls fill the response in place, so that nothing is
// copied on an already deep stack.
func (o *operation) handler() tenon.Handler {
	return func(ctx context.Context, c *tenon.Call) (response tenon.Response, err error) {
		if o.planned().route().streams {
			err = o.callStream(ctx, c, &response)
			return response, err
		}
		ctx, cancel := o.withTimeout(ctx)
		defer cancel()
		err = o.call(ctx, c, &response, func(req *http.Request) (egress.Response, error) { return o.send(c, req) })
		return response, err
	}
}

// sender sends a request and returns the response, with or without its body.
type sender func(req *http.Request) (egress.Response, error)

// call performs the exchange of a call and fills in the response.
func (o *operation) call(ctx context.Context, c *tenon.Call, response *tenon.Response, send sender) error {
	var got exchangeResult
	err := o.exchange(ctx, c, page{args: c.Args}, send, &got)
	if got.Status == http.StatusUnauthorized && got.sent.invalidate() {
		err = o.retryUnauthorized(ctx, c, send, &got, err)
	}
	if err == nil && o.isFirstPage(got.Response) {
		got.Response, response.Meta = o.followPages(ctx, c, got.Response)
	}
	response.Status, response.Header = got.Status, got.Header
	response.MediaType = mediaOf(got.Response)
	response.Execution = o.settleKey(ctx, &got.key, got.Response, o.execution(got.State, got.Status))
	err = withKeyAdvice(err, &got.key, response.Execution)
	response.Body = got.sent.body(got.Status, toUTF8(response.MediaType, got.Body))
	return err
}

// retryUnauthorized repeats the request with a new access token, once. A server
// that responds 401 has not applied the request (RFC 9110 §15.5.2).
func (o *operation) retryUnauthorized(ctx context.Context, c *tenon.Call, send sender, first *exchangeResult, err error) error {
	again := exchangeResult{key: first.key}
	failed := o.exchange(ctx, c, page{args: c.Args}, send, &again)
	if failed != nil && again.State == egress.NotSent {
		if first.sent.user { // who was asked for another one, or has to be
			return afterRefusal(failed)
		}
		return err
	}
	if again.Status == http.StatusUnauthorized && again.sent.user {
		again.sent.invalidate() // the next call asks, and this one does not go on asking
	}
	*first = again
	return failed
}

// exchangeResult is the response to one request, with its credentials and its key.
type exchangeResult struct {
	egress.Response
	sent sentCredentials
	key  callKey
}

// exchange sends one request of a call and fills in the result.
func (o *operation) exchange(ctx context.Context, c *tenon.Call, at page, send sender, got *exchangeResult) error {
	req, err := o.planned().request(egress.Tracked(ctx), o.method, at.args)
	if err != nil {
		return err
	}
	if at.link != nil {
		req.URL = o.withoutCredentials(at.link)
	}
	if got.sent, err = o.authorize(ctx, c, req); err != nil {
		return err
	}
	if tell := o.api.options.ObserveSecret; tell != nil {
		for _, secret := range got.sent.secrets {
			tell(secret)
		}
	}
	if err := o.setKey(ctx, c, &got.key, req); err != nil {
		return err
	}
	got.Response, err = send(req)
	got.sent.headers(got.Header)
	if err != nil {
		return requestError(err)
	}
	return nil
}

// execution returns the execution state of the call. A redirect that was not
// followed counts by its status: 307 and 308 mean that the request was not
// carried out (RFC 9110 §15.4.8), 303 that it was, and the others are
// ambiguous.
func (o *operation) execution(p egress.RequestState, status int) tenon.Execution {
	switch {
	case p == egress.NotSent:
		return tenon.Execution{}
	case o.safe:
		return tenon.Execution{Reads: tenon.NoResponse} // the status shows whether there was a response
	}
	s := tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: o.idempotent()}
	if p != egress.Responded {
		return s
	}
	switch status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return tenon.Execution{}
	case http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusFound:
	default:
		s.Unsafe = tenon.Responded
	}
	return s
}

// mediaOf returns the media type of the response. A body without one is
// examined, as RFC 9110 §8.3 allows: it is JSON or just bytes.
func mediaOf(res egress.Response) string {
	if len(res.Body) == 0 {
		return ""
	}
	if m := strings.TrimSpace(res.Header.Get("Content-Type")); m != "" {
		return m
	}
	if rawjson.Check(rawjson.WithoutMark(res.Body)) == nil {
		return "application/json"
	}
	return "application/octet-stream"
}

// toUTF8 converts the text of a body to UTF-8. JSON is UTF-8 whatever its
// charset parameter says (RFC 8259 §8.1), so only invalid JSON is converted.
func toUTF8(media string, body []byte) []byte {
	if strings.IndexByte(media, ';') < 0 { // no charset parameter
		return body
	}
	kind := encode.MediaType(media)
	if isBinary(kind) {
		return body
	}
	text := charset.UTF8(media, body)
	if encode.IsJSON(kind) && !bytes.Equal(text, body) && rawjson.Check(body) == nil {
		return body
	}
	return text
}

// requestError converts an error of egress. Its text contains no path, query or
// credential, so the caller may read it. The cause is for the log.
func requestError(err error) error {
	e, ok := errors.AsType[*egress.Error](err)
	if !ok {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: "no response", Err: err}
	}
	if e.NotAllowed() {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: e.Error(), Err: e.Err, Suggestions: []string{
			"Tell the operator: this address is not public and must be allowed with --allow-private-host; retrying does not help",
		}}
	}
	return &tenon.Error{Code: codeOf(e.Kind), Message: e.Error(), Err: e.Err}
}

func codeOf(k egress.Kind) tenon.Code {
	switch k {
	case egress.Timeout:
		return tenon.CodeTimeout
	case egress.Forbidden, egress.TooLarge:
		return tenon.CodeRequest // a different request may succeed
	case egress.RateLimited, egress.Full:
		return tenon.CodeRateLimited
	case egress.Network, egress.Canceled, egress.Truncated, egress.CircuitOpen:
	}
	return tenon.CodeNetwork
}

// Upstream configures how the source calls its servers. Limits and the circuit
// breaker apply to each origin (scheme, host and port) separately. The zero
// value sends each request once, without limits, and caches nothing.
type Upstream struct {
	// Retries is the number of retries after a transient failure: no
	// connection, no or an incomplete response, status 408, 429, 502, 503 or
	// 504. A request that may change something is retried only if it is PUT or
	// DELETE, is marked as safe or idempotent (see Overrides, TrustMarks),
	// carries an idempotency key (see Options.IdempotencyHeader), or if none of its
	// bytes was sent. Retry-After is honoured.
	Retries int
	MaxWait time.Duration // longest wait before a retry or for a free slot; a longer wait fails immediately; 0: 10 s

	MaxConcurrent     int           // concurrent requests; 0: no limit
	RequestsPerSecond float64       // 0: no limit
	BreakerFailures   int           // consecutive requests without a response, or with 502, 503 or 504, that open the circuit breaker; 0: no breaker
	BreakerCooldown   time.Duration // time until the breaker lets one request through; 0: 30 s

	// CacheBytes bounds the cache of responses to GET and HEAD, which follows
	// the rules of RFC 9111 for private caches; 0: none. An entry is used only
	// for the same Subject and a request with equal headers.
	CacheBytes int64
}

func (u Upstream) policy(attempt time.Duration) egress.Policy {
	return egress.Policy{
		Retries: u.Retries, MaxWait: u.MaxWait, Attempt: attempt,
		Concurrent: u.MaxConcurrent, Rate: u.RequestsPerSecond, Failures: u.BreakerFailures, Pause: u.BreakerCooldown, CacheBytes: u.CacheBytes,
	}
}

// send sends a request of the operation under the operator's limits.
func (o *operation) send(c *tenon.Call, req *http.Request) (egress.Response, error) {
	a := o.api
	if a.upstreams == nil {
		return egress.Do(a.options.Client, req, a.options.MaxResponse)
	}
	return a.upstreams.Do(req, o.requestOptions(c, req))
}

// requestOptions returns the options of egress for a request.
func (o *operation) requestOptions(c *tenon.Call, req *http.Request) egress.RequestOptions {
	return egress.RequestOptions{MaxBody: o.api.options.MaxResponse, Safe: o.safe, Idempotent: o.idempotent() || o.hasKey(req), Identity: string(c.Subject)}
}

// open is send for a response that may be a stream.
func (o *operation) open(c *tenon.Call, req *http.Request) (*egress.Stream, egress.Response, error) {
	if a := o.api; a.upstreams != nil {
		return a.upstreams.Open(req, o.requestOptions(c, req))
	}
	return egress.Open(o.api.options.Client, req, o.api.options.MaxResponse)
}

// withTimeout returns ctx with the timeout of one request, or ctx itself if the
// timeout applies to each attempt.
func (o *operation) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.api.upstreams != nil {
		return ctx, func() {}
	}
	return deadline.Within(ctx, o.api.options.Timeout)
}
