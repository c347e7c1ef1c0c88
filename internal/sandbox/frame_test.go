package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// FuzzFrame: any bytes are a frame that is rewritten unchanged, or an error,
// and memory is only allocated for received data.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x06\x00\x00\x00R\x01\x00\x00\x00x"))
	f.Add([]byte("\x01\x00\x00\x00G"))
	f.Add([]byte("\xff\xff\xff\x0fW"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := sandbox.Reframe(in)
		if err != nil {
			return
		}
		if n := 4 + int(binary.LittleEndian.Uint32(in)); !bytes.Equal(out, in[:n]) {
			t.Errorf("%q is written as %q", in[:n], out)
		}
	})
}

// FuzzCompute: any host function call returns text or an error, within the
// limit.
func FuzzCompute(f *testing.F) {
	for _, name := range []string{"encode", "decode", "base64", "unbase64", "hex", "unhex", "random", "hash", "hmac", "inflate", "inflateRaw", "gunzip", "deflate", "gzip", "deflateRaw"} {
		f.Add(name, "sha256", "key")
	}
	f.Fuzz(func(t *testing.T, name, a, b string) {
		out, err := sandbox.CallBuiltin(name, a, b)
		if err == nil && (!utf8.ValidString(out) || len(out) > 2*sandbox.MaxBytes) {
			t.Errorf("%s gives %d bytes", name, len(out))
		}
	})
}
