// Package recording records the HTTP exchanges of tools without secrets, and
// replays them in place of the network.
//
// It does not know sources, tools or the gateway: whoever makes a call says so in
// its context, and outgoing requests with that context belong to it. It sees a
// secret when it is sent, or is told of it.
//
// It is below the client of outgoing requests and above the network: what is
// replayed passes decoding, retries, validation and splitting again.
package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options configure a Recorder. The zero value writes nothing.
type Options struct {
	// Redact are JSON Pointers of values in arguments and bodies that are replaced; *
	// stands for every member and item.
	Redact []string
	// Write is given every call with its exchanges; nil: nobody is.
	Write func(*Call) error
	// Failed is told why something was not recorded; nil: nobody is.
	Failed func(error)
}

// Recorder records the exchanges of calls. It is safe for concurrent use.
type Recorder struct {
	o        Options
	pointers [][]string
	secrets  secrets
}

// NewRecorder checks the options.
func NewRecorder(o Options) (*Recorder, error) {
	rec := &Recorder{o: o}
	for _, p := range o.Redact {
		tokens, err := pointerTokens(p)
		if err != nil {
			return nil, err
		}
		rec.pointers = append(rec.pointers, tokens)
	}
	return rec, nil
}

func pointerTokens(p string) ([]string, error) {
	if !strings.HasPrefix(p, "/") {
		return nil, fmt.Errorf("%q is not a JSON Pointer such as /user/email or /items/*/email", p)
	}
	tokens := strings.Split(p[1:], "/")
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

// Secret makes a value known that is never written.
func (rec *Recorder) Secret(value string) { rec.secrets.add(value, placeholder) }

// Env wraps env so that its values are not recorded: a name stands for each.
func (rec *Recorder) Env(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env(name)
		if ok {
			rec.secrets.add(value, standIn(name))
		}
		return value, ok
	}
}

// standIn is what stands for the value of a variable in a recording.
func standIn(name string) string {
	return "recorded-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

// clean replaces the secrets of a body or of arguments.
func (rec *Recorder) clean(text []byte) []byte {
	text = rec.secrets.replace(text)
	return withoutMembers([]byte(withoutForms(string(text))), rec.pointers)
}

type captureKey struct{}

// Capture is a call that is recorded.
type Capture struct {
	rec  *Recorder
	call Call

	mu     sync.Mutex
	open   int // bodies that are read
	ended  bool
	failed error
	bytes  int
}

// maxExchanges limits the exchanges of one call, maxCall their bodies together.
const (
	maxExchanges = 1000
	maxCall      = 64 << 20
)

// Begin returns a context whose requests belong to a call of a tool.
func (rec *Recorder) Begin(ctx context.Context, source, tool string, args []byte) (context.Context, *Capture) {
	c := &Capture{rec: rec, call: Call{Version: formatVersion, Source: source, Tool: tool, Began: time.Now().UTC(), Exchanges: []Exchange{}}}
	if len(args) > 0 {
		c.call.Arguments = json.RawMessage(rec.clean(slices.Clone(args)))
	}
	return context.WithValue(ctx, captureKey{}, c), c
}

// Captures reports whether requests with ctx belong to a call already.
func (rec *Recorder) Captures(ctx context.Context) bool {
	c, _ := ctx.Value(captureKey{}).(*Capture)
	return c != nil && c.rec == rec
}

// End says that the call has returned. Bodies may still be read; the call is
// written after the last one. Calls without a request are not written.
func (c *Capture) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.writeIfDone()
}

// writeIfDone writes a call that has ended. A part of one would replay as
// another call, so it is written as a whole or not at all.
func (c *Capture) writeIfDone() {
	if !c.ended || c.open > 0 || c.rec.o.Write == nil || len(c.call.Exchanges) == 0 && c.failed == nil {
		return
	}
	call := c.call
	c.call.Exchanges = nil
	call.Exchanges = slices.DeleteFunc(call.Exchanges, func(e Exchange) bool { return e.Status == 0 })
	if len(call.Exchanges) == 0 && c.failed == nil {
		return
	}
	err := c.failed
	if err == nil {
		err = c.rec.secrets.check(call.Arguments)
	}
	if err == nil {
		err = c.rec.o.Write(&call)
	}
	if err != nil && c.rec.o.Failed != nil {
		c.rec.o.Failed(fmt.Errorf("a call of %s is not recorded: %w", call.Tool, err))
	}
}

var errTooLarge = errors.New("its body is too large to be recorded")

// RoundTrip sends a request by next and records the exchange if it belongs to a
// call. Next has to decode bodies: in encoded ones no secret is found.
func (rec *Recorder) RoundTrip(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	rec.secrets.learn(r.Header)
	if _, password := userOf(r); password != "" {
		rec.Secret(password)
	}
	c, _ := r.Context().Value(captureKey{}).(*Capture)
	if c == nil || c.rec != rec {
		return next(r)
	}
	sent, err := peekBody(r)
	if err != nil && !errors.Is(err, errTooLarge) {
		return nil, err
	}
	at, ok := c.begin(err)
	if !ok {
		return next(r)
	}
	e := Exchange{Method: r.Method, Began: time.Now().UTC()}
	res, err := next(r)
	if err != nil {
		c.finish(at, nil, nil)
		return nil, err
	}
	e.Status, e.Headers = res.StatusCode, map[string]string{}
	rec.describeRequest(&e, r, sent)
	for name, values := range res.Header {
		if len(e.Headers) < maxHeaders && isRecordedHeader(name) {
			e.Headers[name] = withoutForms(string(rec.secrets.replace([]byte(strings.Join(values, ", ")))))
		}
	}
	encoded := res.Header.Get("Content-Encoding")
	res.Body = &recordedBody{ReadCloser: res.Body, length: res.ContentLength, none: r.Method == http.MethodHead, done: func(body []byte, whole bool, err error) {
		if err == nil && encoded != "" && encoded != "identity" {
			err = errors.New("its body has a content encoding that cannot be looked into: " + encoded)
		}
		e.Truncated, e.Millis = !whole, float64(time.Since(e.Began).Microseconds())/1000
		if err == nil {
			err = rec.seal(&e, body)
		}
		c.finish(at, &e, err)
	}}
	return res, nil
}

func userOf(r *http.Request) (name, password string) {
	if r.URL.User == nil {
		return "", ""
	}
	password, _ = r.URL.User.Password()
	return r.URL.User.Username(), password
}

// describeRequest puts the request of an exchange into it, without secrets. A
// request that is replayed passes here, too, so that both are the same.
func (rec *Recorder) describeRequest(e *Exchange, r *http.Request, sent []byte) {
	u := *r.URL
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery = withoutParameters(u.RawQuery, rec.secrets.instead)
	e.Method, e.URL = r.Method, withoutForms(string(rec.secrets.replace([]byte(u.String()))))
	if len(sent) > 0 {
		e.SentType = r.Header.Get("Content-Type")
		if strings.HasPrefix(e.SentType, "application/x-www-form-urlencoded") {
			sent = []byte(withoutParameters(string(sent), rec.secrets.instead))
		}
		body := Exchange{}
		body.setBody(rec.clean(sent))
		e.Sent = body.Text + body.Base64
	}
}

// seal puts the response body into an exchange, and reports ErrSecret if a secret
// is left in any of it.
func (rec *Recorder) seal(e *Exchange, body []byte) error {
	if err := rec.secrets.checkPacked(body); err != nil {
		return err
	}
	body = rec.clean(body)
	e.setBody(body)
	for _, text := range []string{e.URL, e.SentType, e.Sent} {
		if err := rec.secrets.check([]byte(text)); err != nil {
			return err
		}
	}
	for _, value := range e.Headers {
		if err := rec.secrets.check([]byte(value)); err != nil {
			return err
		}
	}
	return rec.secrets.check(body)
}

// begin makes a place for an exchange, in the order of the requests.
func (c *Capture) begin(failed error) (at int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed == nil && len(c.call.Exchanges) >= maxExchanges {
		failed = errors.New("it has too many requests")
	}
	if failed != nil {
		c.failed = firstErr(c.failed, failed)
	}
	if c.failed != nil || c.ended && c.open == 0 {
		return 0, false
	}
	c.open++
	c.call.Exchanges = append(c.call.Exchanges, Exchange{})
	return len(c.call.Exchanges) - 1, true
}

// finish fills the place. Without an exchange there was no response, and nothing
// can be replayed.
func (c *Capture) finish(at int, e *Exchange, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if e != nil {
		if c.bytes += len(e.Text) + len(e.Base64) + len(e.Sent); c.bytes > maxCall && err == nil {
			err = errTooLarge
		}
	}
	switch {
	case err != nil:
		c.failed = firstErr(c.failed, err)
	case e != nil && c.failed == nil:
		c.call.Exchanges[at] = *e
	}
	c.writeIfDone()
}

// firstErr is the first error that there is.
func firstErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// peekBody reads the body of a request and leaves it to be read.
func peekBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	sent, err := io.ReadAll(io.LimitReader(r.Body, maxRecorded+1))
	if err != nil {
		return nil, err
	}
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(sent), rest), rest}
	if len(sent) > maxRecorded {
		return nil, errTooLarge
	}
	return sent, nil
}

// recordedBody is a response body that is recorded while it is read.
type recordedBody struct {
	io.ReadCloser
	length int64 // -1: unknown
	none   bool  // it has none whatever its length says
	done   func(body []byte, whole bool, err error)

	mu   sync.Mutex
	read []byte
	err  error
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && len(b.read)+n > maxRecorded {
		b.err, b.read = errTooLarge, nil
	}
	if b.err == nil {
		b.read = append(b.read, p[:n]...)
	}
	if err != nil {
		b.finish(errors.Is(err, io.EOF))
	}
	return n, err
}

// Close ends the exchange also where the body was not read to its end.
func (b *recordedBody) Close() error {
	b.mu.Lock()
	b.finish(b.none || b.length >= 0 && int64(len(b.read)) == b.length)
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

func (b *recordedBody) finish(whole bool) {
	if b.done == nil {
		return
	}
	done := b.done
	b.done = nil
	done(b.read, whole, b.err)
}
