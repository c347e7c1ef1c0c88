package sandbox

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharedDescriptor is the descriptor of the shared memory in a worker, after stdin,
// stdout and stderr.
const sharedDescriptor = 3

// newSharedMemory creates the memory that is shared with a worker, or returns nil where
// the system does not support it. Pages are allocated on first write.
func newSharedMemory() *os.File {
	fd, err := unix.MemfdCreate("tenon-sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	shared := os.NewFile(uintptr(fd), "tenon-sandbox")
	if err := shared.Truncate(sharedSize); err != nil {
		_ = shared.Close()
		return nil
	}
	return shared
}

// openSharedMemory maps the shared memory in a worker.
func openSharedMemory() ([]byte, error) {
	var found syscall.Stat_t
	if err := syscall.Fstat(sharedDescriptor, &found); err != nil || found.Size < sharedSize {
		return nil, fmt.Errorf("%w: no shared memory", errParent)
	}
	return syscall.Mmap(sharedDescriptor, 0, sharedSize, syscall.PROT_READ, syscall.MAP_SHARED)
}
