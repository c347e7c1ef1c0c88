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
	Network     Kind = iota // no connection, or it broke before the response headers were complete
	Forbidden               // not sent, or a redirect not followed, because of a rule of this package
	Timeout                 // a time limit of the client or the context's deadline passed
	Canceled                // the caller canceled
	TooLarge                // the response has more bytes than allowed
	Truncated               // the response body is incomplete or cannot be decoded
	RateLimited             // not sent: a limit of Policy is reached
	CircuitOpen             // not sent: the circuit breaker is open
	Full                    // the response was not read completely: too many bytes of other responses are buffered
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case Network:
		return "network error"
	case Forbidden:
		return "refused"
	case Timeout:
		return "timeout"
	case Canceled:
		return "canceled"
	case TooLarge:
		return "response too large"
	case Truncated:
		return "response truncated"
	case RateLimited:
		return "limit reached"
	case CircuitOpen:
		return "circuit breaker open"
	case Full:
		return "no buffer for the response"
	}
	return "unknown error"
}

// NotAllowed reports whether the operator has not allowed the address.
func (e *Error) NotAllowed() bool { return errors.As(e.Err, new(*AddressError)) }

// Error says why a request has no complete response.
type Error struct {
	Kind  Kind
	State RequestState
	Err   error // the cause, for errors.Is and errors.As; its text must not be shown to the caller

	request string // method, scheme, host
	reason  string
}

// Error returns a text that may be shown to the caller: method, scheme and host
// of the request and the reason, but no path, query, user information, header
// value or text of the upstream.
func (e *Error) Error() string {
	if e.reason == "" {
		return e.Kind.String()
	}
	if e.request == "" {
		return e.reason
	}
	return e.request + ": " + e.reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// forbiddenError is the reason for a request that is not sent.
type forbiddenError struct{ reason string }

func (e *forbiddenError) Error() string { return e.reason }

func forbid(why string) error { return &forbiddenError{reason: why} }

// newError explains a failure before the response body.
func newError(r *http.Request, err error, p RequestState) *Error {
	e := &Error{State: p, Err: withoutURL(err), request: requestText(r)}
	e.Kind, e.reason = explain(r.Context(), e.Err)
	if e.Kind == Network && strings.Contains(e.Err.Error(), `"`) {
		e.Err = errors.New(e.reason) // net/http quotes what the upstream sent
	}
	return e
}

// bodyError explains a failure in the response body.
func bodyError(r *http.Request, err error) *Error {
	e := newError(r, err, SentNoResponse)
	if e.Kind == Network && !errors.Is(err, errSwitched) {
		e.Kind, e.reason = Truncated, "the response is truncated"
		if !errors.Is(err, io.ErrUnexpectedEOF) && !isReset(err) {
			e.reason = "the response cannot be read completely"
		}
	}
	return e
}

// withoutURL removes the layer of net/http that prints the whole URL.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func requestText(r *http.Request) string {
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
	var refused *forbiddenError
	var large *tooLargeError
	var timeout net.Error
	switch {
	case errors.As(err, &address):
		return Forbidden, address.Error()
	case errors.As(err, &refused):
		return Forbidden, refused.reason
	case errors.As(err, &large):
		return TooLarge, large.Error()
	case errors.Is(err, inflight.ErrFull):
		return Full, "the response was not read: too many bytes are buffered for clients that read slowly"
	case errors.Is(ctx.Err(), context.Canceled):
		return Canceled, "the call was canceled"
	case ctx.Err() != nil:
		return Timeout, "no complete response before the deadline"
	case errors.As(err, &timeout) && timeout.Timeout():
		return Timeout, timeoutText(err)
	case errors.Is(err, context.Canceled):
		return Canceled, "the call was canceled"
	case strings.HasPrefix(err.Error(), "net/http: invalid "):
		return Forbidden, "the request has an invalid method or header" // never sent by net/http
	}
	return Network, networkText(err)
}

func timeoutText(err error) string {
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		return "connecting timed out"
	case strings.Contains(err.Error(), "TLS handshake"):
		return "the TLS handshake timed out"
	}
	return "the response timed out"
}

func networkText(err error) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case errors.As(err, &cert):
		return "the certificate is rejected: " + certificateText(cert.Err)
	case errors.As(err, &record):
		return "the upstream does not support TLS"
	case errors.As(err, &op) && op.Op == "remote error":
		return "the upstream ended the TLS handshake"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case isReset(err):
		return "the connection was closed before the response"
	case errors.Is(err, errSwitched):
		return errSwitched.Error()
	}
	return otherText(err.Error())
}

// certificateText explains a certificate error without text from the
// certificate.
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

// otherText explains failures that have no type in the standard library. Its
// texts are matched and not shown, because some quote the upstream.
func otherText(text string) string {
	switch {
	case strings.Contains(text, "malformed HTTP"):
		return "the response is not HTTP"
	case strings.Contains(text, "response headers exceeded"):
		return "the response headers are too large"
	case strings.Contains(text, "server closed idle connection"):
		return "the connection was closed before the response"
	case strings.Contains(text, "Location header"):
		return "the redirect's Location is not a URL"
	}
	return "the request failed"
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
