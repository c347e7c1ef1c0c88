// Package atomicfile writes files that are complete or absent, whatever happens
// meanwhile.
//
// It does not know their contents and keeps none.
//
// Caches, downloads and recordings are written with it.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file, and its folders, atomically.
func Write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
