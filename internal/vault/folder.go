package vault

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
)

// folder keeps a file for each credential, in a folder for each user, all of them
// for the process's user alone. A torn file costs one credential.
type folder struct{ path string }

// Folder returns Blobs in a folder, which is made where it is missing. It tries
// whether it can be written to.
func Folder(path string) (Blobs, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	probe, err := os.CreateTemp(path, ".new-*")
	if err != nil {
		return nil, err
	}
	return folder{path}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func (f folder) file(user, name string) (string, error) {
	for _, part := range []string{user, name} {
		if _, err := hex.DecodeString(part); err != nil || part == "" { // no path comes from outside
			return "", fmt.Errorf("%.80q: %w", part, fs.ErrInvalid)
		}
	}
	return filepath.Join(f.path, user, name), nil
}

// Read reads a plain file, no longer than limit.
func (f folder) Read(user, name string, limit int64) ([]byte, error) {
	path, err := f.file(user, name)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, ErrDamaged
	}
	file, err := os.Open(path) //nolint:gosec // its name is hexadecimal
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// Write replaces a file.
func (f folder) Write(user, name string, content []byte) error {
	path, err := f.file(user, name)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, content)
}

// Remove removes a file.
func (f folder) Remove(user, name string) error {
	path, err := f.file(user, name)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// List returns the names of a user's files; what else is there is passed over.
func (f folder) List(user string, limit int) (names []string, err error) {
	dir, err := os.Open(filepath.Join(f.path, filepath.Base(user)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for len(names) < limit {
		found, err := dir.Readdirnames(limit)
		for _, name := range found {
			if b, err := hex.DecodeString(name); err == nil && len(b) > 0 && len(names) < limit {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
