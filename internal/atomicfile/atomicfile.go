// Package atomicfile writes files that are complete or absent, whatever happens
// meanwhile: a disk may be full.
//
// It does not know their contents and keeps none.
//
// Caches, downloads and recordings are written with it, and what a user of the
// command wants in a file.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// private is the mode of a file that was not there.
const private fs.FileMode = 0o600

// Write writes a file, and its folders, for the user alone. What was there by
// this name is replaced, whatever it was.
func Write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := newBeside(path)
	if err != nil {
		return err
	}
	return become(path, f, content, private)
}

// Overwrite writes a file that a user names. One that is there keeps its mode.
// What is no plain file (a device, a pipe, a link) is written to as it is, and so
// is a file in a folder that takes no new ones. The folder has to exist.
func Overwrite(path string, content []byte) error {
	mode := private
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, content, mode)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := newBeside(path)
	if errors.Is(err, fs.ErrPermission) {
		return os.WriteFile(path, content, mode)
	}
	if err != nil {
		return err
	}
	return become(path, f, content, mode)
}

func newBeside(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	return f, about(path, err)
}

// become fills a new file, and renames it once all is there.
func become(path string, f *os.File, content []byte, mode fs.FileMode) error {
	_, err := f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return about(path, err)
}

// about names the file that was meant instead of the new one.
func about(path string, err error) error {
	if place, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: place.Op, Path: path, Err: place.Err}
	}
	return err
}
