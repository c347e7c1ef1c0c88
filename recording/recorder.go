// Package recording records the HTTP exchanges of a source and replays them.
//
// It does not know the source, its tools or its credentials: a [Recorder] is a
// transport between a source's client and the network, and learns secret values
// from the environment that it wraps. No secret value is stored.
//
// A [Recording] is the file of one test case: its arguments, its result and the
// exchanges.
package recording

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/redact"
)

// Exchange is a recorded request and its response. Values of server parameters
// are replaced by meaningless names.
type Exchange struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Sent    string            `json:"sent,omitempty"` // request body
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // response headers
	Text    string            `json:"text,omitempty"`    // response body
	Base64  string            `json:"base64,omitempty"`  // response body that is not valid UTF-8
}

// Recorder is a transport that records the exchanges of a source, or replays
// them. It is safe for concurrent use.
type Recorder struct {
	replay bool
	next   http.RoundTripper

	mu       sync.Mutex
	names    map[string]string // values of server parameters and their replacements
	all      []Exchange
	replayed []bool
}

// New returns a Recorder that records, or one that replays.
func New(replay bool) *Recorder { return &Recorder{replay: replay, names: map[string]string{}} }

// Client returns a copy of c that sends its requests through the recorder.
func (rec *Recorder) Client(c *http.Client) *http.Client {
	through := *c
	rec.next = c.Transport
	through.Transport = rec
	return &through
}

// Env wraps env so that its values are not recorded. While replaying, every
// variable is set.
func (rec *Recorder) Env(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		instead := "recorded-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if rec.replay {
			return instead, true
		}
		value, ok := env(name)
		if ok && value != "" {
			rec.mu.Lock()
			rec.names[value] = instead
			rec.mu.Unlock()
		}
		return value, ok
	}
}

// Load replaces the exchanges to replay.
func (rec *Recorder) Load(all []Exchange) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.all, rec.replayed = all, make([]bool, len(all))
}

// Exchanges returns the exchanges recorded since its last call.
func (rec *Recorder) Exchanges() []Exchange {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	all := rec.all
	rec.all = nil
	return all
}

// Redact replaces the values of server parameters in a text, in every encoding
// that a request can use.
func (rec *Recorder) Redact(text string) string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	values := make([]string, 0, len(rec.names))
	for value := range rec.names {
		values = append(values, value)
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, value := range values {
		text = string(redact.For(value).Replace([]byte(text), rec.names[value]))
	}
	return text
}

// maxRecorded limits one recorded response.
const maxRecorded = 32 << 20

// RoundTrip records an exchange, or replays one.
func (rec *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := readAndClose(r.Body)
	if err != nil {
		return nil, err
	}
	if rec.replay {
		return rec.respond(r, string(sent))
	}
	if rec.next == nil {
		return nil, errors.New("the client that is recorded has no transport of its own")
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity") // compressed bodies cannot be searched for keys
	r.Body = http.NoBody
	if len(sent) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := rec.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := readAndClose(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	e := Exchange{Method: r.Method, URL: rec.Redact(r.URL.String()), Sent: rec.Redact(string(sent)), Status: res.StatusCode, Headers: map[string]string{}}
	for name, values := range res.Header {
		if len(e.Headers) < maxHeaders && isRecordedHeader(name) {
			e.Headers[name] = rec.Redact(strings.Join(values, ", "))
		}
	}
	if utf8.Valid(body) {
		e.Text = rec.Redact(string(body))
	} else {
		e.Base64 = base64.StdEncoding.EncodeToString([]byte(rec.Redact(string(body))))
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.all = append(rec.all, e)
	return res, nil
}

// maxHeaders limits the headers of one recorded response.
const maxHeaders = 64

// isRecordedHeader reports whether a response header is recorded. Headers of the
// connection and headers with credentials are not.
func isRecordedHeader(name string) bool {
	switch name {
	case "Set-Cookie", "Set-Cookie2", "Authorization", "Proxy-Authenticate", "Authentication-Info", "Proxy-Authentication-Info",
		"Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Trailer", "Upgrade", "Date", "Alt-Svc":
		return false
	}
	return !credentialHeader.MatchString(name)
}

// credentialHeader matches names of headers with sessions, tokens and keys.
var credentialHeader = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|key|credential|session|signature`)

func readAndClose(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	defer body.Close()
	all, err := io.ReadAll(io.LimitReader(body, maxRecorded+1))
	if err == nil && len(all) > maxRecorded {
		err = errors.New("it is too large to be recorded")
	}
	return all, err
}

// respond replays the exchange of a request: an equal one, else one with the
// same method and path, because some requests are signed or contain the time.
// Each is replayed once.
func (rec *Recorder) respond(r *http.Request, sent string) (*http.Response, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	same := func(e Exchange) bool { return e.Method == r.Method && e.URL == r.URL.String() && e.Sent == sent }
	near := func(e Exchange) bool {
		u, err := url.Parse(e.URL)
		return err == nil && e.Method == r.Method && u.Host == r.URL.Host && u.Path == r.URL.Path
	}
	for _, fits := range []func(Exchange) bool{same, near} {
		for i, e := range rec.all {
			if rec.replayed[i] || !fits(e) {
				continue
			}
			rec.replayed[i] = true
			return e.response(r)
		}
	}
	return nil, fmt.Errorf("the recording has no response for %s %s%s", r.Method, r.URL.Host, r.URL.Path)
}

func (e Exchange) response(r *http.Request) (*http.Response, error) {
	body := []byte(e.Text)
	if e.Base64 != "" {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Base64); err != nil {
			return nil, fmt.Errorf("the recording cannot be read: %w", err)
		}
	}
	h := http.Header{}
	for name, value := range e.Headers {
		h.Set(name, value)
	}
	return &http.Response{
		Status: http.StatusText(e.Status), StatusCode: e.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}
