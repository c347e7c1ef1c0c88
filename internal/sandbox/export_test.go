package sandbox

import (
	"bufio"
	"bytes"
)

// What goes through the room, in bytes.
const (
	RoomSize    = roomSize
	LeastInRoom = leastInRoom
)

// InRoom is a body of so many bytes in a room.
func InRoom(room []byte, size string) ([]byte, error) {
	return (&worker{room: room}).inRoom([]byte(size))
}

// MaxBytes bounds what a function of the host makes.
const MaxBytes = maxBytes

// Reframe reads a frame and writes it again.
func Reframe(b []byte) ([]byte, error) {
	f, err := readFrame(bytes.NewReader(b), 1<<16, nil)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = writeFrame(bufio.NewWriter(&out), f.kind, f.parts...)
	return out.Bytes(), err
}

// Compute is a function of the host.
func Compute(name string, args ...string) (string, error) { return compute(name, args) }
