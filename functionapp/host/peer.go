package host

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon"
)

// How long a worker may take to accept a connection. Only accepted connections
// have an owner that the system reports.
const (
	acceptTime  = 5 * time.Second
	acceptFirst = 50 * time.Microsecond // first pause between two checks; it doubles each time
	acceptPause = 5 * time.Millisecond  // longest pause
)

// owner is the process at the other end of a local connection.
type owner int

const (
	nobodyYet owner = iota // not accepted yet
	theWorker
	somebodyElse
	notKnown // the system does not report it
)

var errForeign = errors.New("another program listens there")

// dial connects to the worker and to nothing else: no byte is written before
// the other end is proven to belong to the started process or a descendant.
// Another local program may have opened the port first, and must not receive
// arguments.
func (s *session) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var failed error
	for _, host := range [...]string{"127.0.0.1", "::1"} {
		c, err := s.dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(s.port)))
		if err == nil && !s.trusted {
			if err = s.prove(ctx, c); err != nil {
				_ = c.Close()
			}
		}
		if err == nil {
			return c, nil
		}
		if failed == nil || errors.Is(err, errForeign) {
			failed = err
		}
	}
	if errors.Is(failed, errForeign) {
		s.foreign.Store(true)
		failed = &tenon.Error{
			Code: tenon.CodeNetwork,
			Message: "at the port " + strconv.Itoa(s.port) + " of the worker answers a program that the worker did not start, so nothing was sent to it; " +
				"where it is meant to answer, --trust-worker-port says so",
			Err: failed,
		}
	}
	return nil, failed
}

// prove waits until the connection is accepted, and returns an error unless the
// worker has accepted it.
func (s *session) prove(ctx context.Context, c net.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, acceptTime)
	defer cancel()
	for pause := acceptFirst; ; pause = min(2*pause, acceptPause) {
		switch s.ownerOf(c) {
		case theWorker, notKnown: // start has warned about it
			return nil
		case somebodyElse:
			return errForeign
		case nobodyYet:
		}
		wait(ctx, pause)
		if ctx.Err() != nil {
			return errors.New("the worker does not accept a connection")
		}
	}
}
