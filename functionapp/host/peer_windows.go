package host

import (
	"net"
	"slices"

	"github.com/tenon-mcp/tenon/internal/proc"
)

// provable reports whether the system reports the owner of a connection.
const provable = true

// ownerOf finds the other end of c in the system's tables of connections. If a
// table cannot be read, the connection is closed after a timeout.
func (s *session) ownerOf(c net.Conn) owner {
	near, far := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
	var v4, v6 []byte
	if near.Addr().Is4() {
		v4, _ = proc.ConnectionsV4()
	}
	pid := ownerOfConnection(v4, nil, far, near)
	if pid == 0 {
		v6, _ = proc.ConnectionsV6()
		pid = ownerOfConnection(nil, v6, far, near)
	}
	if pid == 0 {
		return nobodyYet
	}
	pids, _ := s.child.Processes()
	if slices.Contains(pids, pid) {
		return theWorker
	}
	return somebodyElse
}
