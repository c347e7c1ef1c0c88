package recording_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/recording"
)

// withLittleSpace lets files of this process have at most so many bytes.
func withLittleSpace(t *testing.T, most uint64) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	})
}

// A call for which there is no space is not there in part, and the recording ends.
func TestNoSpaceLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.ndjson")
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(call("one", "1")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	withLittleSpace(t, uint64(len(whole))+100)
	for range 2 {
		if err := w.Write(call("two", strings.Repeat("2", 1000))); err == nil || !strings.Contains(err.Error(), "the recording has ended: ") || !strings.Contains(err.Error(), "file too large") {
			t.Error(err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(whole) {
		t.Errorf("%s, %v", after, err)
	}
}
