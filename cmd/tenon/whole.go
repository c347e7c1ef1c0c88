package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole writes a file that is there in whole or stays what it was: a disk
// may be full. What is no plain file (a device, a pipe, a link) is written to as
// it is. A file that is there keeps its mode.
func writeWhole(path string, content []byte) error {
	mode := fs.FileMode(0o600)
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, content, mode) //nolint:gosec // the user names the file
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if errors.Is(err, fs.ErrPermission) { // the folder takes no new file, but this one may be written
		return os.WriteFile(path, content, mode) //nolint:gosec // as above
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		if place, ok := errors.AsType[*fs.PathError](err); ok {
			err = &fs.PathError{Op: place.Op, Path: path, Err: place.Err}
		}
	}
	return err
}
