// Package mcpb writes MCP bundles: a server with everything that it needs in one
// file, which desktop clients install. It also writes the server.json by which the
// MCP registry knows such a file.
//
// It does not know descriptions or settings: it is given files, a command line and
// the questions for the user.
//
// `tenon bundle` is its only user. manifest.go has what a bundle says of itself,
// registry.go what the registry is told.
package mcpb

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"
)

// File is a file of a bundle.
type File struct {
	Name       string // slash-separated, relative to the bundle
	Path       string // where it is now; empty: Text
	Text       []byte
	Executable bool
}

// maxFile is the largest file of a bundle, in bytes.
const maxFile = 1 << 30

// Write writes a bundle. The same files give the same bytes, whenever and wherever
// they were made, with the same version of Go: entries are in the order of their
// names and have no time of their own.
func Write(w io.Writer, m *Manifest, files []File) (err error) {
	text, err := m.text()
	if err != nil {
		return err
	}
	all := append([]File{{Name: "manifest.json", Text: text}}, files...)
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) })
	for i, f := range all {
		if !fs.ValidPath(f.Name) || path.Clean(f.Name) != f.Name || i > 0 && all[i-1].Name == f.Name {
			return fmt.Errorf("a bundle cannot hold %q", f.Name)
		}
		if err := add(z, f); err != nil {
			return err
		}
	}
	return z.Close()
}

func add(z *zip.Writer, f File) error {
	h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(0o644)
	if f.Executable {
		h.SetMode(0o755)
	}
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	if f.Path == "" {
		_, err = w.Write(f.Text)
		return err
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	n, err := io.Copy(w, io.LimitReader(in, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", f.Path, maxFile>>20)
	}
	return err
}

// Sum is the SHA-256 of a file, in hexadecimal digits, and its size.
func Sum(file string) (sum string, size int64, err error) {
	f, err := os.Open(file) //nolint:gosec // the bundle that was just written
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// indented is a value as JSON for people.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
