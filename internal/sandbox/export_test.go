package sandbox

import (
	"bufio"
	"bytes"
)

// Sizes of bodies that are passed in shared memory, in bytes.
const (
	SharedSize = sharedSize
	MinShared  = minShared
)

// SharedBody returns a body of size bytes in shared memory.
func SharedBody(shared []byte, size string) ([]byte, error) {
	return (&worker{shared: shared}).sharedBody([]byte(size))
}

// MaxBytes limits the result of a host function.
const MaxBytes = maxBytes

// Reframe reads and rewrites a frame.
func Reframe(b []byte) ([]byte, error) {
	f, err := readFrame(bytes.NewReader(b), 1<<16, nil)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = writeFrame(bufio.NewWriter(&out), f.kind, f.parts...)
	return out.Bytes(), err
}

// CallBuiltin calls a host function.
func CallBuiltin(name string, args ...string) (string, error) { return callBuiltin(name, args) }
