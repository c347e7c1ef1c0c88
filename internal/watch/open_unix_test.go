//go:build unix

package watch_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/internal/watch"
)

// TestWhatIsNoFile holds nothing, and nobody waits for it.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, device, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "device"), filepath.Join(dir, "large")
	write(t, large, "")
	for _, err := range []error{syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", device), os.Truncate(large, 1<<40)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, sum := range watch.Read([]string{pipe, device, large}) {
		if sum != (watch.Sum{}) {
			t.Errorf("%s holds %v", path, sum)
		}
	}
}
