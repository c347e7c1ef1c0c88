package redis

import (
	"bytes"
	"testing"
)

// FuzzUnpack: whatever stands in the store, what is read is no larger than what may be
// put, and what was put is read again byte for byte.
func FuzzUnpack(f *testing.F) {
	s := &Store{maxValue: 1 << 16}
	f.Add([]byte("p"))
	f.Add([]byte("-12"))
	f.Add([]byte("z\x00"))
	f.Add(bytes.Repeat([]byte("a"), packAbove))
	f.Fuzz(func(t *testing.T, text []byte) {
		if value, err := s.unpack(text); err == nil && len(value) > max(s.maxValue, len(text)) {
			t.Errorf("%d bytes", len(value))
		}
		kept, err := s.pack(text)
		if err != nil {
			return
		}
		if got, err := s.unpack(kept); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	})
}
