package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

const pageOut = 21 // MADV_PAGEOUT of <linux/mman.h>, since Linux 5.4

// giveBackProgram lets the system have the pages of the program's file that
// were read: a start and a few calls read most of it, and an idle server needs
// none. What is needed again is read again. An older system says no, and
// nothing is lost by that.
func giveBackProgram() {
	for _, p := range programParts() {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, p.begin, p.end-p.begin, pageOut)
	}
}

// part is a range of addresses.
type part struct{ begin, end uintptr }

// programParts are where the program's file stands in memory but for what can
// be written. Where the system does not tell there are none.
func programParts() (parts []part) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if p, ok := readOnly(lines.Text(), self); ok {
			parts = append(parts, p)
		}
	}
	return parts
}

// readOnly is what a line of /proc/self/maps says, if it is of a part of file
// that is never written.
func readOnly(line, file string) (p part, ok bool) {
	fields := strings.Fields(line) // range, rights, offset, device, inode, path
	if len(fields) < 6 || fields[1][1] != '-' || !strings.HasSuffix(line, " "+file) {
		return part{}, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	b, err1 := strconv.ParseUint(from, 16, 64)
	e, err2 := strconv.ParseUint(to, 16, 64)
	return part{uintptr(b), uintptr(e)}, err1 == nil && err2 == nil && b < e
}
