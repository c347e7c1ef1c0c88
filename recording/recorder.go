package flowmcp

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
)

// Exchange is a request and its answer, as a recording keeps them. The values
// of server parameters stand in it under names that mean nothing.
type Exchange struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Sent    string            `json:"sent,omitempty"` // body of the request
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // of the answer
	Text    string            `json:"text,omitempty"`    // body of the answer
	Base64  string            `json:"base64,omitempty"`  // instead, where it is no text
}

// Recorder stands in the way out of a source and keeps what goes by, or plays it
// back. It is safe for concurrent use.
type Recorder struct {
	play bool
	next http.RoundTripper

	mu     sync.Mutex
	names  map[string]string // values of server parameters and what stands for them
	all    []Exchange
	played []bool
}

// NewRecorder returns a tape that records, or one that plays.
func NewRecorder(play bool) *Recorder { return &Recorder{play: play, names: map[string]string{}} }

// Client returns a client like c whose requests go by the tape, or nowhere
// else where it plays.
func (t *Recorder) Client(c *http.Client) *http.Client {
	through := *c
	t.next = c.Transport
	through.Transport = t
	return &through
}

// Env returns an environment that the tape knows: what env gives is not
// recorded, and where the tape plays nothing need be given.
func (t *Recorder) Env(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		instead := "recorded-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if t.play {
			return instead, true
		}
		value, ok := env(name)
		if ok && value != "" {
			t.mu.Lock()
			t.names[value] = instead
			t.mu.Unlock()
		}
		return value, ok
	}
}

// Load puts exchanges on a tape that plays, in the place of those before.
func (t *Recorder) Load(all []Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all, t.played = all, make([]bool, len(all))
}

// Take returns what was recorded since the last Take.
func (t *Recorder) Take() []Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.all
	t.all = nil
	return all
}

// Hide takes the values of server parameters out of a text, in every form that
// a request can have them in.
func (t *Recorder) Hide(text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	values := make([]string, 0, len(t.names))
	for value := range t.names {
		values = append(values, value)
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, value := range values {
		text = string(spellingsOf(value).replace([]byte(text), t.names[value]))
	}
	return text
}

// maxRecorded bounds one answer on a tape.
const maxRecorded = 32 << 20

// RoundTrip records an exchange, or answers from the tape.
func (t *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := readAndClose(r.Body)
	if err != nil {
		return nil, err
	}
	if t.play {
		return t.answer(r, string(sent))
	}
	if t.next == nil {
		return nil, errors.New("the client that is recorded has no transport of its own")
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity") // what is packed cannot be searched for keys
	r.Body = http.NoBody
	if len(sent) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := readAndClose(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	e := Exchange{Method: r.Method, URL: t.Hide(r.URL.String()), Sent: t.Hide(string(sent)), Status: res.StatusCode, Headers: map[string]string{}}
	for name, values := range res.Header {
		if len(e.Headers) < maxHeaders && keptHeader(name) {
			e.Headers[name] = t.Hide(strings.Join(values, ", "))
		}
	}
	if utf8.Valid(body) {
		e.Text = t.Hide(string(body))
	} else {
		e.Base64 = base64.StdEncoding.EncodeToString([]byte(t.Hide(string(body))))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, e)
	return res, nil
}

// maxHeaders bounds the headers of one answer on a tape.
const maxHeaders = 64

// keptHeader tells the headers of an answer that handlers may read. Those that
// are only about the connection, and those that let somebody in, are left out.
func keptHeader(name string) bool {
	switch name {
	case "Set-Cookie", "Set-Cookie2", "Authorization", "Proxy-Authenticate", "Authentication-Info", "Proxy-Authentication-Info",
		"Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Trailer", "Upgrade", "Date", "Alt-Svc":
		return false
	}
	return !credentialHeader.MatchString(name)
}

// credentialHeader finds the names of headers in which upstreams hand out
// sessions, tokens and keys.
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

// answer plays the exchange of a request: the same, else, because some sign or
// name the time, one of the same method and path. Each is played once.
func (t *Recorder) answer(r *http.Request, sent string) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := func(e Exchange) bool { return e.Method == r.Method && e.URL == r.URL.String() && e.Sent == sent }
	near := func(e Exchange) bool {
		u, err := url.Parse(e.URL)
		return err == nil && e.Method == r.Method && u.Host == r.URL.Host && u.Path == r.URL.Path
	}
	for _, fits := range []func(Exchange) bool{same, near} {
		for i, e := range t.all {
			if t.played[i] || !fits(e) {
				continue
			}
			t.played[i] = true
			return e.response(r)
		}
	}
	return nil, fmt.Errorf("the recording has no answer for %s %s%s", r.Method, r.URL.Host, r.URL.Path)
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
