package host

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// provable reports whether the system reports the owner of a connection.
const provable = true

// ownerOf finds the other end of c in the system's table of connections and the
// process that owns it.
func (s *session) ownerOf(c net.Conn) owner {
	near, far := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
	inode := inodeOf(far, near)
	if inode == "" {
		return nobodyYet
	}
	pids, _ := s.child.Processes()
	for _, pid := range pids {
		if holds(pid, inode) {
			return theWorker
		}
	}
	return somebodyElse
}

// inodeOf returns the socket with the given local and remote address, or ""
// where the connection is not accepted.
func inodeOf(local, remote netip.AddrPort) string {
	if local.Addr().Is4() {
		if inode := inodeIn("/proc/self/net/tcp", local, remote); inode != "" {
			return inode
		}
		// A socket that listens for both versions.
		local, remote = mapped(local), mapped(remote)
	}
	return inodeIn("/proc/self/net/tcp6", local, remote)
}

// inodeIn parses a table described in proc(5): row number, local address,
// remote address, and in the tenth column the inode, 0 before accept.
func inodeIn(table string, local, remote netip.AddrPort) string {
	f, err := os.Open(table) //nolint:gosec // one of two constants
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	want := []byte(" " + hexAddr(local) + " " + hexAddr(remote) + " ")
	for rows := bufio.NewScanner(f); rows.Scan(); {
		if !bytes.Contains(rows.Bytes(), want) {
			continue
		}
		if columns := bytes.Fields(rows.Bytes()); len(columns) > 9 && string(columns[9]) != "0" {
			return string(columns[9])
		}
	}
	return ""
}

// hexAddr formats an address like the tables: in native words.
func hexAddr(a netip.AddrPort) string {
	var text []byte
	for b := a.Addr().AsSlice(); len(b) >= 4; b = b[4:] {
		text = fmt.Appendf(text, "%08X", binary.NativeEndian.Uint32(b))
	}
	return string(fmt.Appendf(text, ":%04X", a.Port()))
}

// holds reports whether a process has a socket open.
func holds(pid int, inode string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	open, err := os.ReadDir(dir)
	if err != nil {
		return false // it has ended, or is not accessible
	}
	for _, fd := range open {
		if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && to == "socket:["+inode+"]" {
			return true
		}
	}
	return false
}
