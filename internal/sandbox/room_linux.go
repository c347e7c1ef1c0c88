package sandbox

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// roomPlace is the descriptor of the room in a worker: the one behind its
// input, output and errors.
const roomPlace = 3

// newRoom makes the memory that is shared with a worker. It takes no more of
// the machine than was ever written there. nil: the system has none to give.
func newRoom() *os.File {
	fd, err := unix.MemfdCreate("room", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	room := os.NewFile(uintptr(fd), "room")
	if err := room.Truncate(roomSize); err != nil {
		_ = room.Close()
		return nil
	}
	return room
}

// openRoom is the worker's side of it.
func openRoom() ([]byte, error) {
	var found syscall.Stat_t
	if err := syscall.Fstat(roomPlace, &found); err != nil || found.Size < roomSize {
		return nil, fmt.Errorf("%w: it shares no room", errParent)
	}
	return syscall.Mmap(roomPlace, 0, roomSize, syscall.PROT_READ, syscall.MAP_SHARED)
}
