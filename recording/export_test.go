package recording

import (
	"os"
	"testing"
)

// FullWriter returns a Writer to a device without space.
func FullWriter(t *testing.T) *Writer {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &Writer{f: f}
}
