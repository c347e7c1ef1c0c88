package proc

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

const (
	maxEnvironment = 4 << 20 // bytes that are read of a process's environment
	markSweeps     = 10      // a process that was not seen may start another one meanwhile
)

// killMarked kills the processes that have the variable mark in their
// environment, and so descend from the child, whatever group they went to.
func killMarked(mark string) {
	if mark == "" {
		return
	}
	for range markSweeps {
		found := false
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range all {
			if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && pid != os.Getpid() {
				found = killIfMarked(pid, mark) || found
			}
		}
		if !found {
			return
		}
	}
}

// killIfMarked holds the process before it looks at it, so that its number
// cannot belong to another one when it is killed.
func killIfMarked(pid int, mark string) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // it has ended, or is not ours to look into
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, maxEnvironment)) // one that has ended has none
	for v := range bytes.SplitSeq(text, []byte{0}) {
		if string(v) == mark {
			return p.Kill() == nil
		}
	}
	return false
}
