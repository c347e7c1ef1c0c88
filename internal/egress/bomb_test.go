package egress_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/andybalholm/brotli"

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
	var empty, gz, br bytes.Buffer
	nothing := pack(gzip.NewWriter(&empty), &empty, 0)
	for name, c := range map[string]struct {
		encoding string
		body     []byte
		times    int // that the body is repeated
	}{
		"a gzip bomb":            {"gzip", pack(gzip.NewWriter(&gz), &gz, 64<<20), 1},
		"a brotli bomb":          {"br", pack(brotli.NewWriter(&br), &br, 64<<20), 1},
		"gzip without any bytes": {"gzip", nothing, 1 << 20},
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

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }
