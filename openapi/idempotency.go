package openapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/idempotency"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
	"github.com/tenon-mcp/tenon/schema"
)

// retryKeys is when a call that needs a key is worth another try.
const retryKeys = 5 * time.Second

// isIdempotencyKey reports whether a header has an idempotency key:
// draft-ietf-httpapi-idempotency-key-header, and the names that services had before,
// such as X-Idempotency-Key, or the name that the operator gives.
func (o *operation) isIdempotencyKey(header string) bool {
	name := strings.ToLower(header)
	return name == "idempotency-key" || strings.HasSuffix(name, "-idempotency-key") || strings.EqualFold(name, o.api.options.IdempotencyHeader)
}

// keyHeader finds the header in which the operation's key is sent, in canonical form;
// empty: it takes none. A header that the document does not declare counts only where
// the operator names it, because services ignore what they do not know, and only for
// operations that need it.
func (p *plan) keyHeader(o *operation) string {
	for i := range p.params {
		if q := &p.params[i]; q.in == encode.InHeader && o.isIdempotencyKey(q.name) {
			return q.wire
		}
	}
	if o.idempotent() || o.api.options.IdempotencyHeader == "" {
		return ""
	}
	return http.CanonicalHeaderKey(o.api.options.IdempotencyHeader)
}

// offerKey makes the key of the operation optional, because each call gets one. Where
// its schema refuses the keys that are made, the caller still has to give one.
func (p *plan) offerKey(o *operation) {
	p.key = p.keyHeader(o)
	for i := range p.params {
		q := &p.params[i]
		if q.in != encode.InHeader || q.wire != p.key {
			continue
		}
		f := o.parameterSchema(q, convert.Input)
		s, err := schema.Compile(convert.Assemble(f.Body, f.Deps), schema.Options{})
		if err != nil || s.Validate(rawjson.AppendString(nil, idempotency.NewKey().Value)) != nil {
			p.keyOfCaller = true
			return
		}
		q.required = false
	}
}

// callKey is the idempotency key of one call.
type callKey struct {
	idempotency.Key      // of tenon's own; zero: none was sent
	given           bool // the caller gave one
}

// setKey adds the key of a call to a request of it.
func (o *operation) setKey(ctx context.Context, c *tenon.Call, key *callKey, req *http.Request) (err error) {
	header := o.planned().key
	switch {
	case header == "":
		return nil
	case key.Value != "": // the request is made again, as by the caller's new token
	case req.Header[header] != nil:
		key.given = true
		return nil
	case o.planned().keyOfCaller:
		return nil
	case o.safe:
		key.Key = idempotency.NewKey()
	default:
		if key.Key, err = o.api.keys.Take(ctx, c); err != nil {
			return keyError(err)
		}
	}
	req.Header[header] = []string{key.Value}
	return nil
}

// hasKey reports whether a request has an idempotency key that counts.
func (o *operation) hasKey(req *http.Request) bool {
	header := o.planned().key
	return header != "" && req.Header[header] != nil
}

// keyError is what the caller reads when there is no key for a call.
func keyError(err error) error {
	if errors.Is(err, idempotency.ErrPending) {
		return &tenon.Error{
			Code: tenon.CodeRateLimited, RetryAfter: retryKeys, Message: "The same call is being made again at this moment, because its outcome was not known. Nothing was sent.",
			Suggestions: []string{"Wait for the result of that call; if its effect is wanted once more, call again after it"},
		}
	}
	return &tenon.Error{
		Code: tenon.CodeInternal, RetryAfter: retryKeys, Err: err, Message: "It cannot be found out now whether this call repeats one whose outcome is not known. Nothing was sent.",
		Suggestions: []string{"Wait 5 seconds, then try again; tell the operator if that does not help"},
	}
}

// settleKey keeps the key of a call whose outcome is not known, and forgets it
// otherwise. It returns what is known of the execution then.
func (o *operation) settleKey(ctx context.Context, key *callKey, got egress.Response, s tenon.Execution) tenon.Execution {
	switch {
	case o.safe:
		return s
	case key.given: // and the same call gives it again
		s.Idempotent = s.Idempotent || s.Unsafe != tenon.NotSent
		return s
	case key.Value == "":
		return s
	}
	ctx = context.WithoutCancel(ctx) // a caller that has left may come back
	if s.Unsafe != tenon.NoResponse && (settles(s, got.Status) || !key.Again && !got.Unanswered) {
		if err := o.api.keys.Drop(ctx, key.Key); err != nil {
			o.logKey("an idempotency key could not be deleted: an equal call within ten minutes sends it again", err)
		}
		return s
	}
	err := o.api.keys.Keep(ctx, key.Key)
	if err != nil {
		o.logKey("an idempotency key could not be kept: the call must not be repeated", err)
	}
	return tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: s.Idempotent || err == nil}
}

func (o *operation) logKey(what string, err error) {
	if log := o.api.options.Logger; log != nil {
		log.Warn(what, "method", o.method, "path", o.path, "error", err)
	}
}

// settles reports whether a response shows what an earlier request with the same key
// did, which had no response. Those that refuse a request before they look at its key,
// or because the earlier one is still at work (409), do not.
func settles(s tenon.Execution, status int) bool {
	if s.Unsafe != tenon.Responded {
		return false
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 > 1 && status/100 < 5
}

// withKeyAdvice tells the caller of a failed call that repeating it sends its key again.
func withKeyAdvice(err error, key *callKey, s tenon.Execution) error {
	e, ok := errors.AsType[*tenon.Error](err)
	if !ok || e.Suggestions != nil || key.Value == "" || s.Unsafe != tenon.NoResponse || !s.Idempotent {
		return err
	}
	told := *e
	told.Suggestions = []string{
		"Repeating this call with the same arguments within ten minutes is safe: it sends the same idempotency key, so that the service acts once",
		"If it fails again, tell the operator what the message says: the service may be down or unreachable",
	}
	return &told
}

// keyClaim is longer than any call with a key takes.
func (o *Options) keyClaim() time.Duration {
	wait := cmp.Or(o.Upstream.MaxWait, 10*time.Second)
	return time.Duration(o.Upstream.Retries+1)*(o.Timeout+wait) + wait
}
