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

// dialer connects to addresses that the policy lets pass.
type dialer struct {
	allow   *allowList
	timeout time.Duration
}

// DialContext looks the host up and connects. The policy is asked about each
// address after the lookup and directly before the connection is made, so a
// name that changes its address between check and use gains nothing.
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

// conn counts what is written, so that a failed request knows whether any of
// it left.
type conn struct {
	net.Conn
	written atomic.Int64
}

// Write counts before it writes and takes back what did not leave: who looks
// while a write is under way sees too much rather than too little.
func (c *conn) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	if n < len(p) {
		c.written.Add(int64(n - len(p)))
	}
	return n, err
}

// counted finds the counting connection under a connection of the transport.
func counted(c net.Conn) *conn {
	if layer, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = layer.NetConn()
	}
	found, ok := c.(*conn)
	if !ok {
		return nil
	}
	return found
}
