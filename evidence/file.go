package evidence

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/filelock"
)

const (
	maxWriters = 256 // of a file
	keysOfOne  = 256 // of an operation, by one writer
	namesOfOne = 64  // of these, for members that are not declared
)

// File is a ledger that processes of one machine count in: each adds, under a lock, what
// it counted since it last wrote, so that they are one writer.
type File struct {
	path string
	home string // what it is on this machine
}

// OpenFile makes sure that a ledger is or can be at path.
func OpenFile(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // without, the path alone tells it apart
	f := &File{path: path, home: host + "\x00" + path}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return f, f.locked(func() error {
		_, err := f.read()
		return err
	})
}

// ReadFile reads the ledger at path. An error names the file.
func ReadFile(path string) (*Ledger, error) {
	in, err := os.Open(path) //nolint:gosec // a file that the operator named, or in the cache folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	l, err := Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// read reads the file, which need not be there.
func (f *File) read() (*Ledger, error) {
	l, err := ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return New(), nil
	}
	return l, err
}

// locked runs do while no other process changes the file.
func (f *File) locked(do func() error) error {
	lock, err := filelock.Open(f.path + ".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	return do()
}

// Change reads the ledger, changes it, and writes it, unless change fails.
func (f *File) Change(change func(*Ledger) error) error {
	return f.locked(func() error {
		l, err := f.read()
		if err != nil {
			return err
		}
		if err := change(l); err != nil {
			return err
		}
		var text bytes.Buffer
		if err := l.Write(&text); err != nil {
			return err
		}
		if text.Len() > maxFile {
			return fmt.Errorf("it would have more than %d MiB; 'tenon evidence forget' makes space", maxFile>>20)
		}
		return atomicfile.Write(f.path, text.Bytes())
	})
}

// Add adds what was counted since the last time.
func (f *File) Add(counts map[Key]*Counts, dropped int64) error {
	return f.Change(func(l *Ledger) error {
		w := l.Writers[f.writer(l)]
		w.Dropped = sum(w.Dropped, dropped)
		has := w.space()
		for _, k := range Keys(counts) {
			to, ok := has.place(k)
			if !ok {
				continue
			}
			if w.Counts[to] == nil {
				if len(w.Counts) >= maxKeys {
					w.Dropped = sum(w.Dropped, counts[k].Calls)
					continue
				}
				w.Counts[to] = &Counts{}
				has.used[k.ofOperation()]++
			}
			w.Counts[to].add(counts[k])
		}
		return nil
	})
}

// space is what a writer has of each operation: keys, and those of them that are names.
type space struct {
	counts      map[Key]*Counts
	used, names map[Key]int
}

func (w *Writer) space() space {
	s := space{counts: w.Counts, used: map[Key]int{}, names: map[Key]int{}}
	for k := range w.Counts {
		s.used[k.ofOperation()]++
		if k.Keyword == Undeclared {
			s.names[k.ofOperation()]++
		}
	}
	return s
}

// place says which key counts what came for k: k, or the one of all for which there is
// no space. A name is no drift, and takes the place of none: without space it has none.
func (s *space) place(k Key) (to Key, ok bool) {
	operation := k.ofOperation()
	full := s.used[operation] >= keysOfOne-2
	switch {
	case s.counts[k] != nil:
		return k, true
	case k.Keyword == Undeclared:
		if full || s.names[operation] >= namesOfOne {
			return Key{}, false
		}
		s.names[operation]++
		return k, true
	case full:
		return rest(k), true
	}
	return k, true
}

// ofOperation is what all keys of an operation have in common.
func (k Key) ofOperation() Key {
	return Key{Schema: k.Schema, Origin: k.Origin, Operation: k.Operation}
}

// rest is the key of all for which an operation has no further ones.
func rest(k Key) Key {
	k.Status, k.MediaType = Rest, Rest
	if k.Keyword != "" {
		k.Pointer, k.Keyword, k.Kind = Rest, Rest, Rest
	}
	return k
}

// writer is the id that the file counts under on this machine. A copy on another
// machine, or by another name, has one of its own, because what both count must be
// added. Where there are too many, such as of containers with random names that share
// a volume, the one that was idle for longest is continued.
func (f *File) writer(l *Ledger) string {
	ids := slices.Sorted(maps.Keys(l.Writers))
	for _, id := range ids {
		if l.Writers[id].Home == f.homeOf(id) {
			return id
		}
	}
	var id string
	if len(ids) >= maxWriters {
		id = slices.MinFunc(ids, func(a, b string) int { return l.Writers[a].last().Compare(l.Writers[b].last()) })
	} else {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it does not fail
		id = hexOf(random[:])
	}
	l.writer(id).Home = f.homeOf(id)
	return id
}

// homeOf tells only those who know name and path of the machine whether a writer is
// theirs.
func (f *File) homeOf(id string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + f.home))
	return hexOf(sum[:4])
}

func (w *Writer) last() (t time.Time) {
	for _, c := range w.Counts {
		if c.Last.After(t) {
			t = c.Last
		}
	}
	return t
}
