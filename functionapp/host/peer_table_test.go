package host

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// row4 is a MIB_TCPROW_OWNER_PID, row6 a MIB_TCP6ROW_OWNER_PID, as they are
// documented member by member.
func row4(state uint32, local, remote string, pid uint32) (row []byte) {
	row = binary.LittleEndian.AppendUint32(row, state) // dwState
	for _, text := range []string{local, remote} {
		at := netip.MustParseAddrPort(text)
		row = append(row, at.Addr().AsSlice()...)           // dwLocalAddr, dwRemoteAddr
		row = binary.BigEndian.AppendUint16(row, at.Port()) // dwLocalPort, dwRemotePort
		row = append(row, 0xde, 0xad)                       // their upper halves, which may hold anything
	}
	return binary.LittleEndian.AppendUint32(row, pid) // dwOwningPid
}

func row6(state uint32, local, remote string, pid uint32) (row []byte) {
	for _, text := range []string{local, remote} {
		at := netip.MustParseAddrPort(text)
		row = append(row, at.Addr().AsSlice()...)           // ucLocalAddr, ucRemoteAddr
		row = binary.LittleEndian.AppendUint32(row, 7)      // dwLocalScopeId, dwRemoteScopeId
		row = binary.BigEndian.AppendUint16(row, at.Port()) // dwLocalPort, dwRemotePort
		row = append(row, 0xde, 0xad)
	}
	row = binary.LittleEndian.AppendUint32(row, state) // dwState
	return binary.LittleEndian.AppendUint32(row, pid)  // dwOwningPid
}

func table(rows ...[]byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(rows)))
	for _, row := range rows {
		out = append(out, row...)
	}
	return out
}

func TestTablesOfConnections(t *testing.T) {
	const listens, synReceived, established, timeWait = 2, 4, 5, 11
	v4 := table(
		row4(listens, "127.0.0.1:7071", "0.0.0.0:0", 10),
		row4(established, "127.0.0.1:50000", "127.0.0.1:7071", 1), // our own end
		row4(established, "127.0.0.1:7071", "127.0.0.1:50000", 4242),
		row4(timeWait, "127.0.0.1:7071", "127.0.0.1:50001", 4242),
		row4(synReceived, "127.0.0.1:7071", "127.0.0.1:50002", 4242),
		row4(established, "127.0.0.1:7071", "127.0.0.1:50003", 0),
		row4(established, "127.0.0.2:7071", "127.0.0.1:50004", 66),
	)
	v6 := table(
		row6(listens, "[::]:7071", "[::]:0", 10),
		row6(established, "[::1]:50000", "[::1]:7071", 1),
		row6(established, "[::1]:7071", "[::1]:50000", 4343),
		row6(established, "[::ffff:127.0.0.1]:7071", "[::ffff:127.0.0.1]:50005", 4444),
	)
	for _, c := range []struct {
		name          string
		v4, v6        []byte
		local, remote string
		pid           int
	}{
		{"version 4", v4, v6, "127.0.0.1:7071", "127.0.0.1:50000", 4242},
		{"version 6", v4, v6, "[::1]:7071", "[::1]:50000", 4343},
		{"a socket for both", v4, v6, "127.0.0.1:7071", "127.0.0.1:50005", 4444},
		{"our own end is another row", v4, v6, "127.0.0.1:50000", "127.0.0.1:7071", 1},
		{"over", v4, v6, "127.0.0.1:7071", "127.0.0.1:50001", 0},
		{"not yet established", v4, v6, "127.0.0.1:7071", "127.0.0.1:50002", 0},
		{"owned by nobody", v4, v6, "127.0.0.1:7071", "127.0.0.1:50003", 0},
		{"another address", v4, v6, "127.0.0.1:7071", "127.0.0.1:50004", 0},
		{"not there", v4, v6, "127.0.0.1:7071", "127.0.0.1:1", 0},
		{"no tables", nil, nil, "127.0.0.1:7071", "127.0.0.1:50000", 0},
		{"a row that is cut", v4[:4+3*24-1], v6[:4+3*56-1], "127.0.0.1:7071", "127.0.0.1:50000", 0},
		{"more rows than said", append([]byte{2, 0, 0, 0}, v4[4:]...), nil, "127.0.0.1:7071", "127.0.0.1:50000", 0},
		{"fewer rows than said", append([]byte{0xff, 0xff, 0xff, 0xff}, v4[4:]...), nil, "127.0.0.1:7071", "127.0.0.1:50009", 0},
	} {
		if pid := ownerOfConnection(c.v4, c.v6, netip.MustParseAddrPort(c.local), netip.MustParseAddrPort(c.remote)); pid != c.pid {
			t.Errorf("%s: %d, want %d", c.name, pid, c.pid)
		}
	}
}

// FuzzTablesOfConnections: no bytes are read beyond a table, and an owner is one
// that stands in it.
func FuzzTablesOfConnections(f *testing.F) {
	f.Add(table(row4(stateEstablished, "127.0.0.1:7071", "127.0.0.1:50000", 4242)), table(row6(stateEstablished, "[::1]:7071", "[::1]:50000", 4343)))
	f.Fuzz(func(t *testing.T, v4, v6 []byte) {
		pid := ownerOfConnection(v4, v6, netip.MustParseAddrPort("127.0.0.1:7071"), netip.MustParseAddrPort("127.0.0.1:50000"))
		if pid != 0 && len(v4) < tableHead+rowsV4().size && len(v6) < tableHead+rowsV6().size {
			t.Errorf("owner %d of no row", pid)
		}
	})
}
