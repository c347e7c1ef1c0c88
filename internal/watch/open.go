package watch

import (
	"errors"
	"os"
)

var errNotRegular = errors.New("is not a regular file")

// Open opens a regular file and nothing else: a named pipe would wait for a
// writer, a device may have no end.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0) //nolint:gosec // the caller names the files
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
