package egress

import (
	"io"
	"net/http"
	"net/url"
)

// Response is the response to a request.
type Response struct {
	Status int         // 0: no response
	Header http.Header // nil without a response
	Body   []byte      // decoded; an encoding that is not decoded remains in Header; owned by the caller
	State  RequestState

	Unanswered bool // one of several attempts was sent and got no response

	Final *url.URL // URL of the response after redirects; nil without a response

	redirected bool // the response is from another URL than the requested one
}

// Redirected reports whether the response is from another URL than the
// requested one.
func (r Response) Redirected() bool { return r.redirected }

// Do sends one request and reads the whole response, of at most maxBody bytes
// after decoding. The client should come from NewClient; otherwise Progress is
// at least SentNoResponse for failed requests, and the rules of this package are
// not enforced.
//
// Every error is an [*Error]. The response then contains what is known: always
// the progress, status and headers if they arrived, and the part of the body
// that was read. The caller must not use r afterwards.
func Do(c *http.Client, r *http.Request, maxBody int64) (Response, error) {
	got, _, err := exchange(c, r, maxBody, 0)
	return got, err
}

// exchange is Do and returns the URL of the response. The request was sent so many
// times before.
func exchange(c *http.Client, r *http.Request, maxBody int64, resends int) (Response, *url.URL, error) {
	o := Stream{observed: observed{resends: resends}}
	if err := o.open(c, r, maxBody); err != nil {
		return o.Response, nil, err
	}
	got, err := o.ReadAll()
	if err != nil {
		return got, nil, err
	}
	return got, o.answer.Request.URL, nil
}

// Stream is a response whose body has not been read. Either Whole or Close must
// be called.
type Stream struct {
	Response // without Body

	request   *http.Request
	answer    *http.Response
	transport *transport
	tracker   *tracker
	permit    *permit // held until the body is closed; nil: none
	max       int64
	read      int64
	observed  observed
}

// Open is [Do] without reading the body, of which at most maxBody bytes can be
// read. The context of r must not end before that is done.
func Open(c *http.Client, r *http.Request, maxBody int64) (*Stream, Response, error) {
	o := &Stream{}
	if err := o.open(c, r, maxBody); err != nil {
		return nil, o.Response, err
	}
	return o, o.Response, nil
}

// open sends r and reads the headers of the response.
func (o *Stream) open(c *http.Client, r *http.Request, maxBody int64) error {
	if d, ours := c.Transport.(*transport); ours && d.observer != nil {
		return o.openObserved(d.observer, c, r, maxBody)
	}
	return o.begin(c, r, maxBody)
}

func (o *Stream) begin(c *http.Client, r *http.Request, maxBody int64) error {
	if err := checkRequest(r); err != nil {
		closeBody(r)
		return newError(r, err, NotSent)
	}
	d, _ := c.Transport.(*transport)
	asked := false
	if d != nil {
		setAgent(r, d.agent)
		asked = d.ask(r)
	}
	t, r := track(r, d != nil || isStandard(c.Transport))
	// The transport waits for the end of the context deep in the stack. Its
	// channel is allocated here, because allocating it there would grow the
	// stack.
	r.Context().Done()
	answer, err := send(c, t, r)
	if answer == nil {
		o.Response, err = t.noResponse(r, err)
		return err
	}
	o.Response = Response{Status: answer.StatusCode, Header: answer.Header, State: Responded, Unanswered: d != nil && t.sentBefore(), Final: answer.Request.URL, redirected: answer.Request.Response != nil}
	if err != nil { // a redirect that is not followed
		_ = answer.Body.Close() // nothing is read
		return newError(r, err, Responded)
	}
	if asked {
		d.open(answer, maxBody)
	}
	o.request, o.answer, o.transport, o.tracker, o.max = r, answer, d, t, maxBody
	return nil
}

// send is c.Do, which copies all headers and uses a deep stack even if there is
// no redirect. So the transport is called first, and c.Do only for a redirect.
func send(c *http.Client, t *tracker, r *http.Request) (*http.Response, error) {
	d, ours := c.Transport.(*transport)
	if !ours || c.Jar != nil || c.Timeout != 0 || r.URL.User != nil || r.Header == nil {
		return c.Do(r) //nolint:gosec // the client decides where requests may go
	}
	answer, err := d.RoundTrip(r)
	if err != nil || !redirects(answer.StatusCode) {
		return answer, err
	}
	t.first = answer
	return c.Do(r) //nolint:gosec // as above: it starts with the response that is already there
}

// Close closes the response, even if its body was not read completely.
func (o *Stream) Close() error {
	o.observed.end(o.Status, nil)
	if o.permit != nil {
		defer o.permit.release()
	}
	return o.answer.Body.Close()
}

// Read reads the body as it arrives. Every error except io.EOF is an [*Error].
func (o *Stream) Read(p []byte) (int, error) {
	if left := o.max - o.read + 1; int64(len(p)) > left {
		p = p[:left]
	}
	n, err := o.answer.Body.Read(p)
	o.read += int64(n)
	switch {
	case o.read > o.max:
		return n - 1, bodyError(o.request, &tooLargeError{limit: o.max})
	case err == nil, err == io.EOF:
		return n, err
	}
	failed := bodyError(o.request, err)
	o.observed.end(o.Status, failed)
	return n, failed
}

// ReadAll reads the whole body and closes it, as [Do] does.
func (o *Stream) ReadAll() (got Response, err error) {
	defer func() { _ = o.Close() }() // the body may have become a decoder
	got = o.Response
	got.Body, err = readBody(o.transport, o.answer, o.max)
	if err != nil {
		e := bodyError(o.request, err)
		if e.Kind != TooLarge && e.Kind != Full && !o.tracker.wasRedirected() {
			// Half a response: the upstream may have failed as well.
			got.State = SentNoResponse
		}
		e.State = got.State
		o.observed.end(got.Status, e)
		return got, e
	}
	return got, nil
}

// checkRequest rejects requests for which the error of the transport would
// reveal too much, or which it would accept.
func checkRequest(r *http.Request) error {
	switch {
	case r.URL == nil || r.URL.Hostname() == "":
		return forbid("the URL has no host")
	case !webScheme(r.URL):
		return forbid("only http and https are supported")
	}
	return nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // nothing was read from it
	}
}

func setAgent(r *http.Request, agent []string) {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if _, set := r.Header["User-Agent"]; !set { // an empty value means that none is sent
		r.Header["User-Agent"] = agent
	}
}

func isStandard(t http.RoundTripper) bool {
	if t == nil {
		return true
	}
	_, ok := t.(*http.Transport)
	return ok
}
