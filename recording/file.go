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

	"github.com/tenon-mcp/tenon/internal/filelock"
)

// Extension is that of files of recordings: a JSON object a line, one for each call.
const Extension = ".ndjson"

// Bounds of a folder of recordings.
const (
	maxFile  = 64 << 20 // bytes after which another file is begun
	maxFiles = 16       // the oldest is removed
)

// Writer appends calls to a file, or to files in a folder, for the user alone. It goes on
// where another ended, and beside others: a file is a process's only while it writes a
// line. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	dir    string // empty: one file
	path   string // of the file
	number int    // of the file in a folder
	failed error  // of the disk, or fs.ErrClosed; nothing is written from then on
}

// Create begins a file of recordings, or a folder if path has not their extension.
func Create(path string) (*Writer, error) {
	w := &Writer{path: path}
	if filepath.Ext(path) != Extension {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		names, err := numbered(path)
		if err != nil {
			return nil, err
		}
		w.dir, w.number = path, 1
		if len(names) > 0 {
			_, _ = fmt.Sscanf(names[len(names)-1], "calls-%06d", &w.number)
		}
		w.path = w.name()
	}
	f, _, err := open(w.path)
	if err != nil {
		return nil, err
	}
	return w, f.Close()
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

// open opens a file at the end of its last line. What follows that was not written to its
// end, by a process that was killed, and is removed.
func open(path string) (f *os.File, size int64, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe could wait for ever
		return nil, 0, errors.New(path + " is not a file")
	}
	if f, err = filelock.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		size, err = lastLine(f, info.Size())
	}
	if err == nil && size < info.Size() {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
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
	if err := w.append(line); err != nil {
		w.failed = fmt.Errorf("the recording has ended: %w", err)
		return w.failed
	}
	return nil
}

func (w *Writer) append(line []byte) error {
	f, size, err := open(w.path)
	for err == nil && w.dir != "" && size > 0 && size+int64(len(line)) > maxFile {
		if err = f.Close(); err == nil {
			f, size, err = w.rotate()
		}
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(line); err != nil {
		_ = f.Truncate(size) // whoever opens it next does it otherwise
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// rotate goes on with the next file, which another process may have begun, and removes
// the oldest.
func (w *Writer) rotate() (f *os.File, size int64, err error) {
	w.number++
	w.path = w.name()
	names, err := numbered(w.dir)
	for err == nil && len(names) >= maxFiles && !slices.Contains(names, filepath.Base(w.path)) {
		if err = os.Remove(filepath.Join(w.dir, names[0])); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		names = names[1:]
	}
	if err != nil {
		return nil, 0, err
	}
	return open(w.path)
}

// Close ends the writing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = fs.ErrClosed
	}
	return nil
}
