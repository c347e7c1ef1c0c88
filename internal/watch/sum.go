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

// Sum identifies the content of a file: different contents have different sums,
// except by accident. The zero Sum stands for what cannot be read: it is not
// there, is no regular file or has more than maxSummed bytes.
type Sum struct {
	size int64
	crc  uint32
	read bool
}

// maxSummed is the most that a description may have.
const maxSummed = 256 << 20

// SumOf returns the Sum of a file's content.
func SumOf(text []byte) Sum {
	return Sum{size: int64(len(text)), crc: crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)), read: true}
}

// Read returns the current sums of files.
func Read(paths []string) Sums {
	held := make(Sums, len(paths))
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			held[p] = sumOfFile(p)
		}
	}
	return held
}

func sumOfFile(path string) Sum {
	f, err := Open(path)
	if err != nil {
		return Sum{}
	}
	defer func() { _ = f.Close() }()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if info, err := f.Stat(); err != nil || info.Size() > maxSummed {
		return Sum{}
	}
	size, err := io.Copy(sum, io.LimitReader(f, maxSummed+1))
	if err != nil || size > maxSummed {
		return Sum{}
	}
	return Sum{size: size, crc: sum.Sum32(), read: true}
}

// scanner computes sums of files repeatedly and reads only files that may have
// changed.
type scanner struct {
	notifier *fsnotify.Watcher // nil: not available
	folders  map[string]bool   // folders with notifications
	known    map[string]fileState
}

type fileState struct {
	size     int64
	modified time.Time
	sum      Sum
	settled  bool // old enough that a later write has another modification time
}

// timeResolution is the resolution of modification times: a second write within it may
// leave the time unchanged.
const timeResolution = 2 * time.Second

func (l *scanner) scan(paths iter.Seq[string]) Sums {
	now := Sums{}
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

func (l *scanner) sum(path string, info os.FileInfo) Sum {
	k, ok := l.known[path]
	if ok && k.settled && k.size == info.Size() && k.modified.Equal(info.ModTime()) {
		return k.sum
	}
	k = fileState{size: info.Size(), modified: info.ModTime(), sum: sumOfFile(path), settled: time.Since(info.ModTime()) > timeResolution}
	l.known[path] = k
	return k.sum
}
