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

// call sends the operation's request and returns the upstream's answer.
func (o *operation) call(ctx context.Context, c *tenon.Call) (tenon.Reply, error) {
	if o.planned().streams {
		return o.callStream(ctx, c)
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	return o.answered(ctx, c, func(req *http.Request) (egress.Response, error) { return o.send(c, req) })
}

// sender sends a request and returns what came, with the body or without.
type sender func(req *http.Request) (egress.Response, error)

// answered makes the request of a call. A kept access token that is refused is
// replaced once: what answers 401 did not apply the request (RFC 9110 §15.5.2).
func (o *operation) answered(ctx context.Context, c *tenon.Call, send sender) (tenon.Reply, error) {
	first := page{args: c.Args}
	res, sent, err := o.exchange(ctx, c, first, send)
	if res.Status == http.StatusUnauthorized && sent.refused() {
		again, _, failed := o.exchange(ctx, c, first, send)
		if failed == nil || again.Progress != egress.NotSent {
			res, err = again, failed
		}
	}
	var pages []byte
	if err == nil && o.follows(res) {
		res, pages = o.follow(ctx, c, res)
	}
	reply := tenon.Reply{
		Meta:   pages,
		Status: res.Status,
		Header: res.Header,
		Media:  mediaOf(res),
		Sent:   o.sent(res.Progress),
	}
	reply.Body = readable(reply.Media, res.Body)
	return reply, err
}

// exchange makes one request of a call.
func (o *operation) exchange(ctx context.Context, c *tenon.Call, at page, send sender) (egress.Response, carried, error) {
	req, err := o.planned().request(egress.Tracked(ctx), o.method, at.args)
	if err != nil {
		return egress.Response{}, carried{}, err
	}
	if at.link != nil {
		req.URL = o.withoutCredentials(at.link)
	}
	sent, err := o.authorize(ctx, c, req)
	if err != nil {
		return egress.Response{}, carried{}, err
	}
	res, err := send(req)
	sent.scrub(res.Header)
	if err != nil {
		return res, sent, failure(err)
	}
	return res, sent, nil
}

// sent tells how far the request got, where that matters.
func (o *operation) sent(p egress.Progress) tenon.Sent {
	if o.safe || p == egress.NotSent {
		return tenon.Sent{}
	}
	s := tenon.Sent{Unsafe: tenon.SentNoAnswer, Repeatable: o.repeatable()}
	if p == egress.Answered {
		s.Unsafe = tenon.Answered
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
	if rawjson.Check(res.Body) == nil {
		return "application/json"
	}
	return "application/octet-stream"
}

// readable is a body whose text is UTF-8. JSON is that whatever its charset
// parameter says (RFC 8259 §8.1): only what cannot be read so is converted.
func readable(media string, body []byte) []byte {
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
	return &tenon.Error{Code: codeOf(e.Kind), Message: e.Error(), Err: e.Err}
}

func codeOf(k egress.Kind) tenon.Code {
	switch k {
	case egress.Timeout:
		return tenon.CodeTimeout
	case egress.Refused, egress.TooLarge:
		return tenon.CodeRequest // another request may do
	case egress.Busy:
		return tenon.CodeRateLimited
	case egress.Network, egress.Canceled, egress.Truncated, egress.Down:
	}
	return tenon.CodeNetwork
}
