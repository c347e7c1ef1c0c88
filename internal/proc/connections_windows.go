package proc

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	tableOwnerPIDAll = 5        // TCP_TABLE_OWNER_PID_ALL
	maxTable         = 64 << 20 // bytes of a table
	tableTries       = 8        // the table may grow between two calls
)

var getExtendedTCPTable = windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")

// ConnectionsV4 returns the TCP connections of the machine with their owners,
// as MIB_TCPTABLE_OWNER_PID.
func ConnectionsV4() ([]byte, error) { return connections(windows.AF_INET) }

// ConnectionsV6 returns those of version 6, as MIB_TCP6TABLE_OWNER_PID.
func ConnectionsV6() ([]byte, error) { return connections(windows.AF_INET6) }

func connections(family uintptr) ([]byte, error) {
	if err := getExtendedTCPTable.Find(); err != nil {
		return nil, err
	}
	size := uint32(16 << 10)
	for range tableTries {
		words := make([]uint32, (size+3)/4) // aligned like the rows
		size = uint32(len(words) * 4)
		code, _, _ := getExtendedTCPTable.Call(uintptr(unsafe.Pointer(&words[0])), uintptr(unsafe.Pointer(&size)), 0, family, tableOwnerPIDAll, 0)
		switch err := windows.Errno(code); {
		case code == 0:
			return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), min(int(size), len(words)*4)), nil
		case !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER):
			return nil, err
		case size > maxTable:
			return nil, errors.New("the table of connections is too large")
		}
		size += 4 << 10
	}
	return nil, errors.New("the table of connections grows faster than it is read")
}
