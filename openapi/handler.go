package openapi

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// call sends the operation's request and returns the upstream's answer.
func (o *operation) call(ctx context.Context, c *tenon.Call) (tenon.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, o.api.options.Timeout)
	defer cancel()
	req, err := o.planned().request(ctx, o.method, c.Args)
	if err != nil {
		return tenon.Reply{}, err
	}
	res, err := egress.Do(o.api.options.Client, req, o.api.options.MaxAnswer)
	reply := tenon.Reply{
		Status: res.Status,
		Header: res.Header,
		Body:   res.Body,
		Media:  mediaOf(res),
		Sent:   o.sent(res.Progress),
	}
	if err != nil {
		return reply, o.failure(err, req.URL)
	}
	return reply, nil
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

// failure is a failed request as the caller may read it. What egress prints
// holds no secrets.
func (o *operation) failure(err error, u *url.URL) error {
	code := tenon.CodeNetwork
	what := "no answer from " + u.Host
	var e *egress.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case egress.Timeout:
			code = tenon.CodeTimeout
			what += " within " + o.api.options.Timeout.String()
		case egress.Refused, egress.TooLarge:
			code, what = tenon.CodeRequest, e.Error()
		case egress.Truncated:
			what = "the answer from " + u.Host + " broke off"
		}
	}
	return &tenon.Error{Code: code, Message: what, Err: err}
}
