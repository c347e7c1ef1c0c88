package openapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// handler sends the operation's request and returns the upstream's answer. It
// is no method, and the response is filled in place: both spare copies on a stack
// that is deep enough.
func (o *operation) handler() tenon.Handler {
	return func(ctx context.Context, c *tenon.Call) (reply tenon.Response, err error) {
		if o.planned().route().streams {
			err = o.callStream(ctx, c, &reply)
			return reply, err
		}
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		err = o.answered(ctx, c, &reply, func(req *http.Request) (egress.Response, error) { return o.send(c, req) })
		return reply, err
	}
}

// sender sends a request and returns what came, with the body or without.
type sender func(req *http.Request) (egress.Response, error)

// answered makes the request of a call and fills in what came of it.
func (o *operation) answered(ctx context.Context, c *tenon.Call, reply *tenon.Response, send sender) error {
	var got exchanged
	err := o.exchange(ctx, c, page{args: c.Args}, send, &got)
	if got.Status == http.StatusUnauthorized && got.sent.refused() {
		err = o.exchangeAgain(ctx, c, send, &got, err)
	}
	if err == nil && o.follows(got.Response) {
		got.Response, reply.Meta = o.follow(ctx, c, got.Response)
	}
	reply.Status, reply.Header = got.Status, got.Header
	reply.MediaType = mediaOf(got.Response)
	reply.Execution = o.sent(got.Progress, got.Status)
	reply.Body = got.sent.body(got.Status, readable(reply.MediaType, got.Body))
	return err
}

// exchangeAgain replaces a kept access token that was refused, once: what
// answers 401 did not apply the request (RFC 9110 §15.5.2).
func (o *operation) exchangeAgain(ctx context.Context, c *tenon.Call, send sender, first *exchanged, err error) error {
	var again exchanged
	failed := o.exchange(ctx, c, page{args: c.Args}, send, &again)
	if failed != nil && again.Progress == egress.NotSent {
		return err
	}
	*first = again
	return failed
}

// exchanged is what came of one request, and what it carried.
type exchanged struct {
	egress.Response
	sent carried
}

// exchange makes one request of a call and fills in what came of it.
func (o *operation) exchange(ctx context.Context, c *tenon.Call, at page, send sender, got *exchanged) error {
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
	got.Response, err = send(req)
	got.sent.headers(got.Header)
	if err != nil {
		return failure(err)
	}
	return nil
}

// sent tells how far the request got, where that matters. A redirect is the
// answer only where it was not followed: 307 and 308 say that the request is
// to be made elsewhere (RFC 9110 §15.4.8), 303 that it was carried out, and
// behind the others services have either.
func (o *operation) sent(p egress.RequestState, status int) tenon.Execution {
	switch {
	case p == egress.NotSent:
		return tenon.Execution{}
	case o.safe:
		return tenon.Execution{Reads: tenon.NoResponse} // whether an answer came is seen by its status
	}
	s := tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: o.repeatable()}
	if p != egress.Answered {
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

// mediaOf is the media type as it was sent. A body without one is looked at
// (RFC 9110 §8.3 allows that): it is JSON or just bytes.
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

// readable is a body whose text is UTF-8. JSON is that whatever its charset
// parameter says (RFC 8259 §8.1): only what cannot be read so is converted.
func readable(media string, body []byte) []byte {
	if strings.IndexByte(media, ';') < 0 { // no charset is named
		return body
	}
	kind := mediaType(media)
	if isBinary(kind) {
		return body
	}
	text := egress.UTF8(media, body)
	if isJSON(kind) && !bytes.Equal(text, body) && rawjson.Check(body) == nil {
		return body
	}
	return text
}

// failure is a failed request as the caller may read it: what egress prints
// holds no path, no query and no credential. The cause goes to the log.
func failure(err error) error {
	e, ok := errors.AsType[*egress.Error](err)
	if !ok {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: "no answer", Err: err}
	}
	if e.NotAllowed() {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: e.Error(), Err: e.Err, Suggestions: []string{
			"Tell the operator: this address is not public, and is only called where it is allowed (--allow-host); until then, calling again does not help",
		}}
	}
	return &tenon.Error{Code: codeOf(e.Kind), Message: e.Error(), Err: e.Err}
}

func codeOf(k egress.Kind) tenon.Code {
	switch k {
	case egress.Timeout:
		return tenon.CodeTimeout
	case egress.Refused, egress.TooLarge:
		return tenon.CodeRequest // another request may do
	case egress.Busy, egress.Full:
		return tenon.CodeRateLimited
	case egress.Network, egress.Canceled, egress.Truncated, egress.Down:
	}
	return tenon.CodeNetwork
}
