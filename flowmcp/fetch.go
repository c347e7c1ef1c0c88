package flowmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// Bounds of what one executeRequest may fetch.
const (
	maxFetches = 64
	maxFetched = 64 << 20 // bytes of all answers
)

// wanted is what a handler asks of fetch.
type wanted struct {
	URL      string      `json:"url"`
	Method   string      `json:"method"`
	Headers  [][2]string `json:"headers"`
	Body     *string     `json:"body"`
	Binary   bool        `json:"binary"`
	Redirect string      `json:"redirect"`
	Timeout  float64     `json:"timeout"` // milliseconds; 0: that of the call
}

// ask answers what the file's code asks for: fetch, and rows of a database of
// the file, in executeRequest alone.
func (x *execution) ask(ctx context.Context, name string, args []byte) (sandbox.Answer, error) {
	if x.stage != "executeRequest" {
		return sandbox.Answer{}, fmt.Errorf("SEC100 %s is not there in %s; use executeRequest", name, x.stage)
	}
	if err := x.spend(); err != nil {
		return sandbox.Answer{}, err
	}
	switch name {
	case "fetch":
		return x.fetch(ctx, args)
	case "rows":
		return x.rows(ctx, args)
	}
	return sandbox.Answer{}, errors.New("this cannot be asked for")
}

func (x *execution) fetch(ctx context.Context, args []byte) (sandbox.Answer, error) {
	var w wanted
	if json.Unmarshal(args, &w) != nil {
		return sandbox.Answer{}, errors.New("this cannot be asked for")
	}
	if w.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(min(w.Timeout, 3.6e6)*float64(time.Millisecond)))
		defer cancel()
	}
	h := http.Header{}
	for _, f := range w.Headers {
		if ownHeader(f[0]) {
			continue
		}
		if !validHeader(f[0], f[1]) {
			return sandbox.Answer{}, errors.New("fetch failed: a header cannot be sent")
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
		x.fault(err)
		return sandbox.Answer{}, errors.New("fetch failed: " + plainMessage(err))
	}
	address := w.URL
	if res.Redirected() {
		address = x.secrets.remark(res.Final.String())
	}
	return fetched(address, res)
}

// ownHeader tells the headers that belong to the connection. As in a browser
// they are not the code's to set, and setting them is no error.
func ownHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding":
		return true
	}
	return false
}

func (x *execution) spend() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fetches++
	if x.fetches > maxFetches || x.budget.Left() == 0 {
		return fmt.Errorf("too much is asked for: one call may make %d requests and queries, with %d bytes in their answers", maxFetches, maxFetched)
	}
	return nil
}

// fault keeps the first error of ours: what the code makes of it may hide it.
func (x *execution) fault(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed == nil {
		x.failed = err
	}
}

// refuse keeps the first request that the rules keep from leaving: a handler
// that goes on without its answer makes something up.
func (x *execution) refuse(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.refused == nil {
		x.refused = err
	}
	return err
}

func fetched(address string, res egress.Response) (sandbox.Answer, error) {
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
	return sandbox.Answer{Value: value, Text: text}, err
}

func fromLatin1(text string) []byte {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		b = append(b, byte(r)) //nolint:gosec // what is no byte is cut, as in JavaScript
	}
	return b
}

// send makes one request of a handler: to a host that the file names, with the
// server parameters put in at last, and takes them out of the answer.
func (x *execution) send(ctx context.Context, w wanted, h http.Header, body string) (egress.Response, error) {
	method, address := w.Method, w.URL
	t, base := x.route, strings.TrimSuffix(x.options.BaseURL, "/")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return egress.Response{}, refused("the address is no URL with a host")
	}
	switch {
	case !sameOrigin(u, base) && u.Scheme != "https":
		return egress.Response{}, x.refuse(refused("only https is spoken, not " + u.Scheme))
	case !t.file.knows(u, base) && !x.secrets.in([]byte(u.Host)):
		return egress.Response{}, x.refuse(refused("the host " + u.Host + " does not stand in the schema file"))
	}
	if err := t.mayEverSend(method, h); err != nil {
		return egress.Response{}, x.refuse(err)
	}
	carried := x.secrets.carried(address, h, body)
	address, body, err = x.secrets.put(address, h, body, t.file, base)
	if err == nil {
		err = t.mayCarry(carried, address, x.options)
	}
	if err != nil {
		return egress.Response{}, x.refuse(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return egress.Response{}, refused("the method or the address cannot be sent")
	}
	if body == "" {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	for name, values := range h {
		for _, v := range values {
			if !validHeader(name, v) {
				return egress.Response{}, refused("a header cannot be sent")
			}
		}
	}
	req.Header = h
	res, err := egress.DoWithin(x.following(w.Redirect), req, x.options.MaxAnswer, x.budget)
	x.record(method, res.Progress)
	t.hideAnswer(&res, x.options.Env)
	if err != nil {
		return res, failure(err)
	}
	return res, nil
}
