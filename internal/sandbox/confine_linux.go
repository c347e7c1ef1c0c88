package sandbox

import (
	"errors"
	"syscall"
)

const (
	maxData        = 1 << 30 // bytes of writable mappings; the parent's memory limit takes effect earlier
	maxDescriptors = 32
	prSetNoNewPriv = 38 // PR_SET_NO_NEW_PRIVS, prctl(2)
)

// confine limits memory, files and privileges of a worker. The number of
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
		limit(syscall.RLIMIT_DATA, maxData),
		limit(syscall.RLIMIT_NOFILE, maxDescriptors),
		limit(syscall.RLIMIT_CORE, 0),
		limit(syscall.RLIMIT_FSIZE, 0),
		err,
	)
}
