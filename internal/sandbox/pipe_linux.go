package sandbox

import (
	"os"
	"syscall"
)

// widePipe is the capacity of the pipes to and from a worker: large bodies
// cross in one write instead of sixteen, each of which would wake both sides.
const widePipe = 1 << 20

// widen enlarges the buffer of a pipe, where the system permits it.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, 1031, widePipe) // F_SETPIPE_SZ
	})
}
