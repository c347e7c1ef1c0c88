package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Extension is that of files of recordings: a JSON object a line, one for each call.
const Extension = ".ndjson"

// Bounds of a folder of recordings.
const (
	maxFile  = 64 << 20 // bytes after which another file is begun
	maxFiles = 16       // the oldest is removed
)

// Writer appends calls to a file, or to files in a folder, for the user alone. It
// goes on where another ended. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	dir    string // empty: one file
	f      *os.File
	number int
	size   int64
	failed error // of the disk; nothing is written from then on
}

// Create opens a file for recordings, or a folder if path has not their extension.
func Create(path string) (*Writer, error) {
	w := &Writer{}
	if filepath.Ext(path) == Extension {
		return w, w.open(path)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	w.dir = path
	names, err := numbered(path)
	if err != nil {
		return nil, err
	}
	w.number = 1
	if len(names) > 0 {
		_, _ = fmt.Sscanf(names[len(names)-1], "calls-%06d", &w.number)
	}
	return w, w.open(w.name())
}

func (w *Writer) name() string {
	return filepath.Join(w.dir, fmt.Sprintf("calls-%06d%s", w.number, Extension))
}

// numbered are the files of a folder that a Writer made, in order.
func numbered(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ok, _ := filepath.Match("calls-??????"+Extension, e.Name()); ok && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// open opens a file to append. What follows its last line was not written to its
// end, and is removed.
func (w *Writer) open(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(path + " is not a file")
	}
	if err == nil {
		w.size, err = lastLine(f, info.Size())
	}
	if err == nil && w.size < info.Size() {
		err = f.Truncate(w.size)
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = f.Seek(w.size, io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.f = f
	return nil
}

// lastLine is the offset behind the last end of a line. What another program wrote is
// left alone.
func lastLine(f *os.File, size int64) (int64, error) {
	head := make([]byte, min(size, int64(len(lineStart))))
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	if !strings.HasPrefix(lineStart, string(head)) {
		return 0, errors.New(f.Name() + " is not a recording; nothing is added to it")
	}
	const step = 64 << 10
	buf := make([]byte, step)
	for end := size; end > 0; {
		from := max(0, end-step)
		part := buf[:end-from]
		if _, err := f.ReadAt(part, from); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// lineStart begins every line.
const lineStart = `{"recording":1,`

// Write appends a call. After an error of the disk, which is in each later one, too,
// nothing of the call is there.
func (w *Writer) Write(c *Call) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if w.f == nil {
		return fs.ErrClosed
	}
	if w.dir != "" && w.size > 0 && w.size+int64(len(line)) > maxFile {
		err = w.rotate()
	}
	if err == nil {
		_, err = w.f.Write(line)
	}
	if err != nil {
		_ = w.f.Truncate(w.size) // the next start does it otherwise
		w.failed = fmt.Errorf("the recording has ended: %w", err)
		return w.failed
	}
	w.size += int64(len(line))
	return nil
}

func (w *Writer) rotate() error {
	if err := w.f.Close(); err != nil {
		return err
	}
	w.number++
	if err := w.open(w.name()); err != nil {
		return err
	}
	names, err := numbered(w.dir)
	if err != nil {
		return err
	}
	for len(names) > maxFiles {
		if err := os.Remove(filepath.Join(w.dir, names[0])); err != nil {
			return err
		}
		names = names[1:]
	}
	return nil
}

// Close closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	return f.Close()
}
