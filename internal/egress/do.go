package egress

import (
	"io"
	"net/http"
	"net/url"
)

// Response is what came back for a request.
type Response struct {
	Status   int         // 0: no answer came
	Header   http.Header // nil without an answer
	Body     []byte      // without transfer encoding and the content encodings that are undone; another Content-Encoding still stands in Header; the caller owns it
	Progress RequestState

	Final *url.URL // that answered in the end; nil without an answer

	redirected bool // another URL answered than the one that was asked
}

// Redirected reports whether another URL answered than the one that was asked.
func (r Response) Redirected() bool { return r.redirected }

// Do sends one request and reads the whole answer, of at most maxBody bytes
// after decoding. The client should come from NewClient; with another one
// Progress errs on the side of NoResponse, and the rules of this package are
// that client's affair.
//
// Every error is an [*Error]. The response then holds what is known: progress
// always, status and headers once they came, and as much of the body as was
// read. Do owns r from here on.
func Do(c *http.Client, r *http.Request, maxBody int64) (Response, error) {
	got, _, err := exchange(c, r, maxBody)
	return got, err
}

// exchange is Do and tells which URL answered in the end.
func exchange(c *http.Client, r *http.Request, maxBody int64) (Response, *url.URL, error) {
	var o Stream
	if err := o.open(c, r, maxBody); err != nil {
		return o.Response, nil, err
	}
	got, err := o.Whole()
	if err != nil {
		return got, nil, err
	}
	return got, o.answer.Request.URL, nil
}

// Stream is an answer whose body has not been read yet. One of Whole and Close
// must be called.
type Stream struct {
	Response // without Body

	request *http.Request
	answer  *http.Response
	door    *door
	tracker *tracker
	turn    *turn // that ends with the body; nil: none
	max     int64
	read    int64
}

// Open is [Do] but for the body, of which at most maxBody bytes can be read.
// The context of r has to live until that is done.
func Open(c *http.Client, r *http.Request, maxBody int64) (*Stream, Response, error) {
	o := &Stream{}
	if err := o.open(c, r, maxBody); err != nil {
		return nil, o.Response, err
	}
	return o, o.Response, nil
}

// open sends r and reads what stands before the body.
func (o *Stream) open(c *http.Client, r *http.Request, maxBody int64) error {
	if err := checkRequest(r); err != nil {
		closeBody(r)
		return newError(r, err, NotSent)
	}
	d, _ := c.Transport.(*door)
	asked := false
	if d != nil {
		setAgent(r, d.agent)
		asked = d.ask(r)
	}
	t, r := track(r, d != nil || isStandard(c.Transport))
	// The transport waits for the end of the context, far down. What that takes
	// is made here: further down the stack would grow for it.
	r.Context().Done()
	answer, err := send(c, t, r)
	if answer == nil {
		o.Response, err = t.noAnswer(r, err)
		return err
	}
	o.Response = Response{Status: answer.StatusCode, Header: answer.Header, Progress: Answered, Final: answer.Request.URL, redirected: answer.Request.Response != nil}
	if err != nil { // a redirect that is not followed
		_ = answer.Body.Close() // nothing is read from it
		return newError(r, err, Answered)
	}
	if asked {
		d.open(answer, maxBody)
	}
	o.request, o.answer, o.door, o.tracker, o.max = r, answer, d, t, maxBody
	return nil
}

// send is c.Do. A client made here does nothing for most requests but what
// follows redirects needs, at the cost of a copy of all headers and a stack that
// grows with every call: it is asked only where there is one.
func send(c *http.Client, t *tracker, r *http.Request) (*http.Response, error) {
	d, ours := c.Transport.(*door)
	if !ours || c.Jar != nil || c.Timeout != 0 || r.URL.User != nil || r.Header == nil {
		return c.Do(r) //nolint:gosec // the client decides where requests may go
	}
	answer, err := d.RoundTrip(r)
	if err != nil || !redirects(answer.StatusCode) {
		return answer, err
	}
	t.first = answer
	return c.Do(r) //nolint:gosec // as above: it begins with the answer that is there
}

// Close ends the answer, whatever is left of it.
func (o *Stream) Close() error {
	if o.turn != nil {
		defer o.turn.give()
	}
	return o.answer.Body.Close()
}

// Read reads of the body, as it comes. Every error but io.EOF is an [*Error].
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
	return n, bodyError(o.request, err)
}

// Whole reads the whole body and closes it: the rest of [Do].
func (o *Stream) Whole() (got Response, err error) {
	defer func() { _ = o.Close() }() // the body may be a decoder by then
	got = o.Response
	got.Body, err = readBody(o.door, o.answer, o.max)
	if err != nil {
		e := bodyError(o.request, err)
		if e.Kind != TooLarge && e.Kind != Full && !o.tracker.wasRedirected() {
			// Half an answer: the far side may have failed as well.
			got.Progress = SentNoAnswer
		}
		e.Progress = got.Progress
		return got, e
	}
	return got, nil
}

// checkRequest refuses what the transport would refuse with a text that shows
// too much, or not at all.
func checkRequest(r *http.Request) error {
	switch {
	case r.URL == nil || r.URL.Hostname() == "":
		return refuse("the URL has no host")
	case !webScheme(r.URL):
		return refuse("only http and https are spoken")
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
	if _, set := r.Header["User-Agent"]; !set { // an empty one means: send none
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
