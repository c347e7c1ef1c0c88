package sandbox

import (
	"os"
	"syscall"
)

// widePipe is the room of the pipes to and from a worker: a megabyte that it
// asked for, or what it made of one, crosses in one go, and not in sixteen for
// each of which both sides are woken.
const widePipe = 1 << 20

// widen gives a pipe more room. Where the system does not grant it, the pipe
// stays as it is.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, 1031, widePipe) // F_SETPIPE_SZ
	})
}
