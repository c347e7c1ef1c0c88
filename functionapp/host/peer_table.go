package host

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// Rows of the Windows tables of TCP connections with their owners,
// MIB_TCPROW_OWNER_PID and MIB_TCP6ROW_OWNER_PID, preceded by their number.
// Numbers are little-endian; addresses, and ports in the first two of their
// four bytes, are in network byte order.
type rowLayout struct {
	size, ip, state, local, localPort, remote, remotePort, pid int
}

const tableHead = 4

// stateEstablished is MIB_TCP_STATE_ESTAB.
const stateEstablished = 5

func rowsV4() rowLayout {
	return rowLayout{size: 24, ip: 4, state: 0, local: 4, localPort: 8, remote: 12, remotePort: 16, pid: 20}
}

// rowsV6 have a scope after each address.
func rowsV6() rowLayout {
	return rowLayout{size: 56, ip: 16, local: 0, localPort: 20, remote: 24, remotePort: 44, state: 48, pid: 52}
}

// ownerIn returns the process that owns the connection from local to remote, or
// 0.
func (l rowLayout) ownerIn(table []byte, local, remote netip.AddrPort) int {
	if len(table) < tableHead {
		return 0
	}
	rows := table[tableHead:]
	for left := binary.LittleEndian.Uint32(table); left > 0 && len(rows) >= l.size; left, rows = left-1, rows[l.size:] {
		row := rows[:l.size]
		if binary.LittleEndian.Uint32(row[l.state:]) != stateEstablished ||
			l.address(row, l.local, l.localPort) != local || l.address(row, l.remote, l.remotePort) != remote {
			continue
		}
		if pid := binary.LittleEndian.Uint32(row[l.pid:]); pid != 0 {
			return int(pid)
		}
	}
	return 0
}

func (l rowLayout) address(row []byte, ip, port int) netip.AddrPort {
	a, _ := netip.AddrFromSlice(row[ip : ip+l.ip])
	return netip.AddrPortFrom(a, binary.BigEndian.Uint16(row[port:]))
}

// ownerOfConnection searches both tables: a dual-stack socket may be in either.
func ownerOfConnection(v4, v6 []byte, local, remote netip.AddrPort) int {
	if local.Addr().Is4() {
		if pid := rowsV4().ownerIn(v4, local, remote); pid != 0 {
			return pid
		}
		local, remote = mapped(local), mapped(remote)
	}
	return rowsV6().ownerIn(v6, local, remote)
}

func mapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}
