package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// dialer connects to addresses that the policy allows.
type dialer struct {
	allow   *allowList
	timeout time.Duration
}

// DialContext looks the host up and connects. The policy is applied to each
// address after the lookup, directly before the connection is made, so that a
// name cannot change its address between check and use.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	nd := net.Dialer{
		Timeout: d.timeout,
		ControlContext: func(_ context.Context, _, found string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(found)
			if err != nil {
				return fmt.Errorf("check the address: %w", err)
			}
			return d.allow.check(host, ap)
		},
	}
	c, err := nd.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn counts the written bytes, so that it is known whether any byte of a
// failed request was sent.
type conn struct {
	net.Conn
	written atomic.Int64
}

// Write adds to the counter before it writes and subtracts what was not sent: a
// concurrent reader may see too much, never too little.
func (c *conn) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	if n < len(p) {
		c.written.Add(int64(n - len(p)))
	}
	return n, err
}

// countingConn finds the counting connection below a connection of the transport.
func countingConn(c net.Conn) *conn {
	if layer, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = layer.NetConn()
	}
	found, ok := c.(*conn)
	if !ok {
		return nil
	}
	return found
}
