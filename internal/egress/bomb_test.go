package egress_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// Packed bodies are bounded by what they unpack to, and by what they take where
// they unpack to nothing.
func TestPackedBodiesAreBounded(t *testing.T) {
	pack := func(w io.WriteCloser, to *bytes.Buffer, zeros int) []byte {
		_, _ = io.CopyN(w, zeroes{}, int64(zeros))
		_ = w.Close()
		return to.Bytes()
	}
	var empty, gz, br, df, zs, emptyZs bytes.Buffer
	z, _ := zstd.NewWriter(&zs)
	nothingZ, _ := zstd.NewWriter(&emptyZs, zstd.WithZeroFrames(true))
	nothing := pack(gzip.NewWriter(&empty), &empty, 0)
	for name, c := range map[string]struct {
		encoding string
		body     []byte
		times    int // that the body is repeated
	}{
		"a gzip bomb":            {"gzip", pack(gzip.NewWriter(&gz), &gz, 64<<20), 1},
		"a brotli bomb":          {"br", pack(brotli.NewWriter(&br), &br, 64<<20), 1},
		"a deflate bomb":         {"deflate", pack(zlib.NewWriter(&df), &df, 64<<20), 1},
		"a zstd bomb":            {"zstd", pack(z, &zs, 64<<20), 1},
		"a size of its own":      {"zstd", []byte(zstdFrame(1<<50, 20)), 1},
		"gzip without any bytes": {"gzip", nothing, 1 << 20},
		"zstd without any bytes": {"zstd", pack(nothingZ, &emptyZs, 0), 1 << 20},
		"zstd to be skipped":     {"zstd", append([]byte("\x50\x2a\x4d\x18\xf0\xff\xff\xff"), make([]byte, 1<<20)...), 64},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", c.encoding)
			for range c.times {
				if _, err := w.Write(c.body); err != nil {
					return
				}
			}
		}))
		t.Cleanup(s.Close)
		got, err := egress.Do(local(t), request(t, http.MethodGet, s.URL, ""), 100_000)
		if e, ok := errors.AsType[*egress.Error](err); !ok || e.Kind != egress.TooLarge || len(got.Body) > 100_000 {
			t.Errorf("%s: %d bytes, %v", name, len(got.Body), err)
		}
	}
}

// zstdFrame is a frame that announces size bytes and a window of 2^log bytes,
// and holds blocks of zeros that are written in four bytes (RFC 8878 §3.1.1).
func zstdFrame(size uint64, log int) string {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 3 << 6, byte(log-10) << 3}
	b = binary.LittleEndian.AppendUint64(b, size)
	const run = 64 << 10
	for range 64 {
		h := run<<3 | 1<<1 // a block of one byte that is repeated, not the last one
		b = append(b, byte(h), byte(h>>8), byte(h>>16), 0)
	}
	return string(b)
}

// TestWindowOfZstd: a frame that wants more memory than RFC 9659 allows is
// refused before any is taken.
func TestWindowOfZstd(t *testing.T) {
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "zstd")
		_, _ = w.Write(body)
	}))
	defer s.Close()
	for _, bits := range []int{24, 30} { // allowed are 23
		body = []byte(zstdFrame(1<<20, bits))
		if _, err := egress.Do(local(t), request(t, http.MethodGet, s.URL, ""), 100_000); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
			t.Errorf("2^%d bytes: %v", bits, err)
		}
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }
