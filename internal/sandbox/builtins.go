package sandbox

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // required by foreign protocols
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // required by foreign protocols
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxBytes limits the result of one host function.
const maxBytes = 32 << 20

var errTooLong = fmt.Errorf("more than %d bytes", maxBytes)

// callBuiltin implements the pure functions that a realm gets from its host. The
// result depends on the arguments only, except for random. Bytes are strings of
// one character each.
func callBuiltin(name string, args []string) (string, error) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "encode":
		return Latin1([]byte(arg(0))), nil
	case "decode":
		return strings.ToValidUTF8(string(fromLatin1(arg(0))), string(utf8.RuneError)), nil
	case "base64":
		return base64.StdEncoding.EncodeToString(fromLatin1(arg(0))), nil
	case "unbase64":
		return unbase64(arg(0))
	case "hex":
		return hex.EncodeToString(fromLatin1(arg(0))), nil
	case "unhex":
		b, _ := hex.DecodeString(arg(0)) // like Node: the bytes before the first invalid digit
		return Latin1(b), nil
	case "random":
		return randomBytes(arg(0))
	case "hash":
		h, err := newHash(arg(0))
		if err != nil {
			return "", err
		}
		return sum(h(), arg(1)), nil
	case "hmac":
		h, err := newHash(arg(0))
		if err != nil {
			return "", err
		}
		return sum(hmac.New(h, fromLatin1(arg(2))), arg(1)), nil
	}
	return pack(name, fromLatin1(arg(0)))
}

// Latin1 converts bytes to a string of one character each, as realms expect
// them.
func Latin1(b []byte) string {
	var s strings.Builder
	s.Grow(len(b) + len(b)/4)
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

func fromLatin1(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r)) //nolint:gosec // truncated, as in JavaScript
	}
	return b
}

// unbase64 decodes either alphabet, with or without padding and white space,
// like Node.
func unbase64(s string) (string, error) {
	s = strings.NewReplacer("-", "+", "_", "/", "=", "", " ", "", "\n", "", "\r", "", "\t", "").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return "", errors.New("not base64")
	}
	return Latin1(b), nil
}

func randomBytes(count string) (string, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > 65536 {
		return "", errors.New("between 0 and 65536 random bytes at a time")
	}
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return Latin1(b), nil
}

func newHash(name string) (func() hash.Hash, error) {
	switch name {
	case "md5":
		return md5.New, nil
	case "sha1":
		return sha1.New, nil
	case "sha256":
		return sha256.New, nil
	case "sha384":
		return sha512.New384, nil
	case "sha512":
		return sha512.New, nil
	}
	return nil, fmt.Errorf("unknown digest %.20q", name)
}

func sum(h hash.Hash, data string) string {
	h.Write(fromLatin1(data))
	return Latin1(h.Sum(nil))
}

// pack compresses or decompresses.
func pack(name string, data []byte) (string, error) {
	var r io.Reader
	var err error
	var out bytes.Buffer
	var w io.WriteCloser
	switch name {
	case "inflateRaw":
		r = flate.NewReader(bytes.NewReader(data))
	case "inflate":
		r, err = zlib.NewReader(bytes.NewReader(data))
	case "gunzip":
		r, err = gzip.NewReader(bytes.NewReader(data))
	case "deflateRaw":
		w, err = flate.NewWriter(&out, flate.DefaultCompression)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "gzip":
		w = gzip.NewWriter(&out)
	default:
		return "", fmt.Errorf("unknown function %.20q", name)
	}
	if err != nil {
		return "", err
	}
	if w != nil {
		if _, err := w.Write(data); err != nil {
			return "", err
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		return Latin1(out.Bytes()), nil
	}
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxBytes {
		return "", errTooLong
	}
	return Latin1(b), nil
}
