package sandbox

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

const (
	maxData        = 1 << 30 // bytes of writable mappings; the parent's memory limit takes effect earlier
	maxDescriptors = 32
	prSetNoNewPriv = 38 // PR_SET_NO_NEW_PRIVS, prctl(2)
)

// confine closes what was inherited, and limits memory, files and privileges of a worker. The number of
// processes is not limited, because that limit counts all processes of the
// user.
func confine() error {
	limit := func(what int, n uint64) error {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(what, &now); err != nil {
			return err
		}
		n = min(n, now.Max)
		return syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n})
	}
	_, _, refused := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, prSetNoNewPriv, 1, 0, 0, 0, 0)
	var err error
	if refused != 0 && refused != syscall.ENOTSUP { // not possible with cgo; the other limits apply there too
		err = refused
	}
	return errors.Join(
		closeInherited(),
		limit(syscall.RLIMIT_DATA, maxData),
		limit(syscall.RLIMIT_NOFILE, maxDescriptors),
		limit(syscall.RLIMIT_CORE, 0),
		limit(syscall.RLIMIT_FSIZE, 0),
		err,
	)
}

// closeInherited closes descriptors that this process was started with beside its
// three streams. Go closes its own in a child; those that the parent itself
// inherited, a socket of a service manager or a file of a shell, came here
// through both. They alone are not to be closed when a program is executed.
func closeInherited() error {
	const first = 3
	folder, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) { // no /proc in this container
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range folder {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < first {
			continue
		}
		flags, _, failed := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		if failed == 0 && flags&syscall.FD_CLOEXEC == 0 {
			_ = syscall.Close(fd)
		}
	}
	return nil
}
