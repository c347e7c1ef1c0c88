package audit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// stream is an output that somebody else opened.
type stream struct {
	w    io.Writer
	torn bool // the last line is incomplete
}

func (s *stream) write(line []byte) error { return writeLine(s.w, &s.torn, line) }
func (*stream) reopen() error             { return nil }
func (*stream) close() error              { return nil }

// writeLine ends the line that the last write left incomplete, and writes line.
func writeLine(w io.Writer, torn *bool, line []byte) error {
	if *torn {
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return err
		}
		*torn = false
	}
	n, err := w.Write(line)
	*torn = n > 0 && n < len(line)
	return err
}

// file is an output with rotation.
type file struct {
	path string
	max  int64 // bytes; negative: no limit
	keep int   // renamed files; negative: all
	sync Sync

	f      *os.File
	size   int64
	torn   bool
	due    atomic.Bool           // a sync will come
	failed atomic.Pointer[error] // of a sync that came; the next write returns it
}

func (f *file) open() error {
	w, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := w.Stat()
	if err != nil {
		return errors.Join(err, w.Close())
	}
	f.f, f.size, f.torn = w, 0, false
	if !info.Mode().IsRegular() { // a pipe or a device has no size, and is not synced
		f.sync = SyncOff
		return nil
	}
	if f.size = info.Size(); f.size > 0 { // a process may have died while it wrote
		last := []byte{0}
		_, err = w.ReadAt(last, f.size-1)
		f.torn = err == nil && last[0] != '\n'
	}
	return nil
}

func (f *file) write(line []byte) error {
	if f.f == nil { // it could not be opened again
		if err := f.open(); err != nil {
			return err
		}
	}
	if f.max > 0 && f.size > 0 && f.size+int64(len(line)) > f.max {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	if err := writeLine(f.f, &f.torn, line); err != nil {
		return err
	}
	f.size += int64(len(line))
	switch {
	case f.sync == SyncCall:
		return f.f.Sync()
	case f.sync == SyncSecond && !f.due.Swap(true):
		time.AfterFunc(time.Second, f.syncNow(f.f))
	}
	if err := f.failed.Swap(nil); err != nil {
		return *err
	}
	return nil
}

// syncNow returns the function that syncs w later. Lines can be written
// meanwhile: they are synced with these or with the next.
func (f *file) syncNow(w *os.File) func() {
	return func() {
		f.due.Store(false)
		if err := w.Sync(); err != nil && !errors.Is(err, os.ErrClosed) { // closed: it was synced before
			f.failed.Store(&err)
		}
	}
}

// rotated is the form of the time in the name of a renamed file, which sorts as
// text.
const rotated = "20060102T150405.000000000"

// rotate renames the file and begins a new one.
func (f *file) rotate() error {
	if err := f.close(); err != nil {
		return err
	}
	if err := os.Rename(f.path, f.path+"."+time.Now().UTC().Format(rotated)); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	if f.keep < 0 {
		return nil
	}
	// What cannot be removed costs space and no line.
	if old, err := f.old(); err == nil && len(old) > f.keep {
		for _, path := range old[:len(old)-f.keep] {
			_ = os.Remove(path)
		}
	}
	return nil
}

// old returns the renamed files, the oldest first, and no other file of the
// folder.
func (f *file) old() (paths []string, err error) {
	dir, base := filepath.Split(f.path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	for _, e := range entries {
		when, ok := strings.CutPrefix(e.Name(), base+".")
		if _, err := time.Parse(rotated, when); ok && err == nil {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(paths)
	return paths, err
}

func (f *file) reopen() error { return errors.Join(f.close(), f.open()) }

func (f *file) close() error {
	if f.f == nil {
		return nil
	}
	var err error
	if f.sync != SyncOff {
		err = f.f.Sync()
	}
	err = errors.Join(err, f.f.Close())
	f.f = nil
	return err
}
