package watch

import (
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Sum stands for what a file holds: two files with different content have
// different sums, but for accidents.
type Sum struct {
	size int64
	crc  uint32
	read bool
}

// SumOf is the Sum of a file's text.
func SumOf(text []byte) Sum {
	return Sum{size: int64(len(text)), crc: crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)), read: true}
}

// Read returns what files hold now.
func Read(paths []string) Held {
	held := make(Held, len(paths))
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			held[p] = sumOfFile(p)
		}
	}
	return held
}

func sumOfFile(path string) Sum {
	f, err := os.Open(path) //nolint:gosec // whoever watches names the files
	if err != nil {
		return Sum{}
	}
	defer func() { _ = f.Close() }()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	size, err := io.Copy(sum, f)
	if err != nil {
		return Sum{}
	}
	return Sum{size: size, crc: sum.Sum32(), read: true}
}

// looker looks at files again and again and reads those alone that may have
// changed.
type looker struct {
	announcer *fsnotify.Watcher // nil: there are no announcements
	folders   map[string]bool   // that it follows
	known     map[string]look
}

type look struct {
	size    int64
	written time.Time
	sum     Sum
	settled bool // what was written after the look has another time
}

// settles is how long after a file was written another writing may leave the
// same time behind.
const settles = 2 * time.Second

func (l *looker) look(paths iter.Seq[string]) Held {
	now := Held{}
	for p := range paths {
		l.follow(filepath.Dir(p))
		info, err := os.Stat(p)
		switch {
		case err != nil:
			now[p] = Sum{}
		case info.IsDir():
			l.follow(p)
		default:
			now[p] = l.sum(p, info)
		}
	}
	return now
}

func (l *looker) sum(path string, info os.FileInfo) Sum {
	k, ok := l.known[path]
	if ok && k.settled && k.size == info.Size() && k.written.Equal(info.ModTime()) {
		return k.sum
	}
	k = look{size: info.Size(), written: info.ModTime(), sum: sumOfFile(path), settled: time.Since(info.ModTime()) > settles}
	l.known[path] = k
	return k.sum
}
