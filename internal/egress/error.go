package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/tenon-mcp/tenon/internal/inflight"
)

// Kind is the class of an Error.
type Kind uint8

// The kinds of error.
const (
	Network   Kind = iota // no connection, or it broke before the answer's headers were complete
	Refused               // not sent, or a redirect not followed, because a rule of this package forbids it
	Timeout               // a time limit of the client or the context's deadline passed
	Canceled              // the caller gave up
	TooLarge              // the answer has more bytes than allowed
	Truncated             // the answer's body broke off or cannot be decoded
	Busy                  // not sent: a limit of Policy is used up
	Down                  // not sent: the upstream failed too often
	Full                  // the answer was not read to its end: too many bytes of others are held
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case Network:
		return "network error"
	case Refused:
		return "refused"
	case Timeout:
		return "timeout"
	case Canceled:
		return "canceled"
	case TooLarge:
		return "answer too large"
	case Truncated:
		return "answer cut short"
	case Busy:
		return "limit reached"
	case Down:
		return "upstream left alone"
	case Full:
		return "no room for the answer"
	}
	return "unknown error"
}

// NotAllowed reports whether the address is one that the operator did not allow.
func (e *Error) NotAllowed() bool { return errors.As(e.Err, new(*AddressError)) }

// Error says why a request has no complete answer.
type Error struct {
	Kind     Kind
	Progress RequestState
	Err      error // the cause, for errors.Is and errors.As; its text is not for the caller

	where string // method, scheme, host
	why   string
}

// Error returns a text that may be shown to the caller: method, scheme and
// host of the request and the reason, but no path, no query, no user
// information, no header value and no text of the far side.
func (e *Error) Error() string {
	if e.why == "" {
		return e.Kind.String()
	}
	if e.where == "" {
		return e.why
	}
	return e.where + ": " + e.why
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refusedError is a reason of ours not to send a request.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

func refuse(why string) error { return &refusedError{why: why} }

// newError explains a failure before the answer's body.
func newError(r *http.Request, err error, p RequestState) *Error {
	e := &Error{Progress: p, Err: withoutURL(err), where: whereOf(r)}
	e.Kind, e.why = explain(r.Context(), e.Err)
	if e.Kind == Network && strings.Contains(e.Err.Error(), `"`) {
		e.Err = errors.New(e.why) // net/http puts what the far side sent between quotation marks
	}
	return e
}

// bodyError explains a failure inside the answer's body.
func bodyError(r *http.Request, err error) *Error {
	e := newError(r, err, SentNoAnswer)
	if e.Kind == Network && !errors.Is(err, errSwitched) {
		e.Kind, e.why = Truncated, "the answer was cut short"
		if !errors.Is(err, io.ErrUnexpectedEOF) && !isReset(err) {
			e.why = "the answer cannot be read to its end"
		}
	}
	return e
}

// withoutURL takes off the layer of net/http that prints the whole URL.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func whereOf(r *http.Request) string {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	if r.URL == nil {
		return method
	}
	return method + " " + r.URL.Scheme + "://" + r.URL.Host
}

func explain(ctx context.Context, err error) (Kind, string) {
	var address *AddressError
	var refused *refusedError
	var large *tooLargeError
	var timeout net.Error
	switch {
	case errors.As(err, &address):
		return Refused, address.Error()
	case errors.As(err, &refused):
		return Refused, refused.why
	case errors.As(err, &large):
		return TooLarge, large.Error()
	case errors.Is(err, inflight.ErrFull):
		return Full, "an answer came, but cannot be read: too many bytes wait for clients that read slowly"
	case errors.Is(ctx.Err(), context.Canceled):
		return Canceled, "the call was canceled"
	case ctx.Err() != nil:
		return Timeout, "no complete answer before the deadline"
	case errors.As(err, &timeout) && timeout.Timeout():
		return Timeout, timeoutText(err)
	case errors.Is(err, context.Canceled):
		return Canceled, "the call was canceled"
	case strings.HasPrefix(err.Error(), "net/http: invalid "):
		return Refused, "the request has an invalid method or header" // never sent by net/http
	}
	return Network, networkText(err)
}

func timeoutText(err error) string {
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection in time"
	case strings.Contains(err.Error(), "TLS handshake"):
		return "no TLS handshake in time"
	}
	return "no answer in time"
}

func networkText(err error) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "the host's name cannot be looked up"
	case errors.As(err, &cert):
		return "the certificate is not accepted: " + certificateText(cert.Err)
	case errors.As(err, &record):
		return "the upstream does not speak TLS"
	case errors.As(err, &op) && op.Op == "remote error":
		return "the upstream ended the TLS handshake"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case isReset(err):
		return "the connection broke before an answer came"
	case errors.Is(err, errSwitched):
		return errSwitched.Error()
	}
	return otherText(err.Error())
}

// certificateText says what is wrong with a certificate without a word of what
// stands in it.
func certificateText(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var bad x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "it is signed by an unknown authority"
	case errors.As(err, &host):
		return "it is for another host"
	case errors.As(err, &bad) && bad.Reason == x509.Expired:
		return "it has expired or is not yet valid"
	}
	return "it is not valid"
}

// otherText knows failures that the standard library gives no type. Its texts
// are matched, not shown: some quote the far side.
func otherText(text string) string {
	switch {
	case strings.Contains(text, "malformed HTTP"):
		return "the answer is not HTTP"
	case strings.Contains(text, "response headers exceeded"):
		return "the answer's headers are too large"
	case strings.Contains(text, "server closed idle connection"):
		return "the connection broke before an answer came"
	case strings.Contains(text, "Location header"):
		return "the redirect's Location is not a URL"
	}
	return "the request failed"
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
