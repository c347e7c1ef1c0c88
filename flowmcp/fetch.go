package flowmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// Limits of one executeRequest.
const (
	maxFetches = 64
	maxFetched = 64 << 20 // bytes of all responses
)

// fetchRequest is the request of a call of fetch.
type fetchRequest struct {
	URL      string      `json:"url"`
	Method   string      `json:"method"`
	Headers  [][2]string `json:"headers"`
	Body     *string     `json:"body"`
	Binary   bool        `json:"binary"`
	Redirect string      `json:"redirect"`
	Timeout  float64     `json:"timeout"` // milliseconds; 0: the timeout of the call
}

// hostCall handles a host call of the file's code, which is allowed in
// executeRequest only: fetch, or rows of one of the file's databases.
func (x *execution) hostCall(ctx context.Context, name string, args []byte) (sandbox.HostResult, error) {
	if x.stage != "executeRequest" {
		return sandbox.HostResult{}, fmt.Errorf("SEC100 %s is not available in %s; use executeRequest", name, x.stage)
	}
	if err := x.countHostCall(); err != nil {
		return sandbox.HostResult{}, err
	}
	switch name {
	case "fetch":
		return x.fetch(ctx, args)
	case "rows":
		return x.rows(ctx, args)
	}
	return sandbox.HostResult{}, errors.New("unknown host call")
}

func (x *execution) fetch(ctx context.Context, args []byte) (sandbox.HostResult, error) {
	var w fetchRequest
	if json.Unmarshal(args, &w) != nil {
		return sandbox.HostResult{}, errors.New("unknown host call")
	}
	if w.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(min(w.Timeout, 3.6e6)*float64(time.Millisecond)))
		defer cancel()
	}
	h := http.Header{}
	for _, f := range w.Headers {
		if isConnectionHeader(f[0]) {
			continue
		}
		if !validHeader(f[0], f[1]) {
			return sandbox.HostResult{}, errors.New("fetch failed: invalid header")
		}
		h.Add(f[0], f[1])
	}
	body := ""
	if w.Body != nil {
		body = *w.Body
	}
	if w.Binary {
		body = string(fromLatin1(body))
	}
	res, err := x.send(ctx, w, h, body)
	if err != nil {
		x.recordFailure(err)
		return sandbox.HostResult{}, errors.New("fetch failed: " + plainMessage(err))
	}
	address := w.URL
	if res.Redirected() {
		address = x.secrets.restoreMarkers(res.Final.String())
	}
	return fetchResult(address, res)
}

// isConnectionHeader reports whether a header belongs to the connection. As in a
// browser, code cannot set it, and trying to is not an error.
func isConnectionHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding":
		return true
	}
	return false
}

func (x *execution) countHostCall() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fetches++
	if x.fetches > maxFetches || x.budget.Remaining() == 0 {
		return fmt.Errorf("limit exceeded: one call may make %d requests and queries with %d bytes of responses", maxFetches, maxFetched)
	}
	return nil
}

// recordFailure records the first error of ours, which the code's own error may hide.
func (x *execution) recordFailure(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed == nil {
		x.failed = err
	}
}

// block records the first blocked request: the result of a handler that
// continues without the response would be made up.
func (x *execution) block(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.blocked == nil {
		x.blocked = err
	}
	return err
}

func fetchResult(address string, res egress.Response) (sandbox.HostResult, error) {
	binary := !utf8.Valid(res.Body) || bytes.HasPrefix(res.Body, []byte("\xEF\xBB\xBF"))
	var headers [][2]string
	for name, values := range res.Header {
		for _, v := range values {
			headers = append(headers, [2]string{name, v})
		}
	}
	value, err := json.Marshal(map[string]any{
		"status": res.Status, "statusText": http.StatusText(res.Status), "headers": headers, "url": address, "redirected": res.Redirected(), "binary": binary,
	})
	text := res.Body
	if binary {
		text = []byte(sandbox.Latin1(res.Body))
	}
	return sandbox.HostResult{Value: value, Text: text}, err
}

func fromLatin1(text string) []byte {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		b = append(b, byte(r)) //nolint:gosec // truncated, as in JavaScript
	}
	return b
}

// send performs one request of a handler: it checks the host, inserts the
// server parameters last and redacts them in the response.
func (x *execution) send(ctx context.Context, w fetchRequest, h http.Header, body string) (egress.Response, error) {
	method, address := w.Method, w.URL
	t, base := x.tool, strings.TrimSuffix(x.options.BaseURL, "/")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return egress.Response{}, requestError("the address is not a URL with a host")
	}
	switch {
	case !format.SameOrigin(u, base) && u.Scheme != "https":
		return egress.Response{}, x.block(requestError("only https is allowed, not " + u.Scheme))
	case !t.File.AllowsHost(u, base) && !x.secrets.isIn([]byte(u.Host)):
		return egress.Response{}, x.block(requestError("the host " + u.Host + " is not named in the schema file"))
	}
	if err := t.checkMethod(method, h); err != nil {
		return egress.Response{}, x.block(err)
	}
	carried := x.secrets.namesIn(address, h, body)
	address, body, err = x.secrets.insert(address, h, body, t.File, base)
	if err == nil {
		err = t.checkDestination(carried, address, x.options)
	}
	if err != nil {
		return egress.Response{}, x.block(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return egress.Response{}, requestError("invalid method or address")
	}
	if body == "" {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	for name, values := range h {
		for _, v := range values {
			if !validHeader(name, v) {
				return egress.Response{}, requestError("invalid header")
			}
		}
	}
	req.Header = h
	res, err := egress.DoWithin(x.redirectClient(w.Redirect), req, x.options.MaxResponse, x.budget)
	x.recordRequest(method, res.State)
	t.redactUpstream(&res, x.options.Env)
	if err != nil {
		return res, requestFailure(err)
	}
	return res, nil
}

// redirectClient returns a client for one request of a handler: redirects are
// followed to the hosts of the file, or as the code asks. The client's own rule
// still applies.
func (x *execution) redirectClient(redirect string) *http.Client {
	c := *x.options.Client
	rule, base := c.CheckRedirect, strings.TrimSuffix(x.options.BaseURL, "/")
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch redirect {
		case "manual":
			return http.ErrUseLastResponse
		case "error":
			return &tenon.Error{Code: tenon.CodeRequest, Message: "unexpected redirect"}
		}
		if rule == nil && len(via) >= maxRedirects {
			return errors.New("too many redirects")
		}
		if rule != nil {
			if err := rule(r, via); err != nil {
				return err
			}
		}
		f := x.tool.File
		if !f.AllowsHost(r.URL, base) {
			return x.block(requestError("the redirect to " + r.URL.Host + " is blocked: the host is not named in the schema file"))
		}
		if !format.SameOrigin(r.URL, via[0].URL.String()) { // strip credentials, whatever the client does
			maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return !isHarmlessHeader(name) })
		}
		return nil
	}
	return &c
}

// isHarmlessHeader reports whether a header contains no credentials.
func isHarmlessHeader(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Accept-Language", "User-Agent":
		return true
	}
	return false
}

// maxRedirects limits redirects of a client without a rule of its own.
const maxRedirects = 10
