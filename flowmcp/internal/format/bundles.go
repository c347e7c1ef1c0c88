package format

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// IndexFile lists the bundles of a folder.
const IndexFile = "libraries.json"

// maxBundle limits a library's bundle; the largest in use has 1.1 MB.
const maxBundle = 8 << 20

// Bundle describes a library that was bundled ahead of time: an entry in the
// index of a folder of libraries.
type Bundle struct {
	Name    string `json:"name"`    // of the package
	Version string `json:"version"` // of the package
	File    string `json:"file"`    // in the folder
	SHA256  string `json:"sha256"`  // of the file, in hexadecimal
}

// Libraries are the bundles of a folder.
type Libraries struct {
	dir     string
	bundles []Bundle

	mu   sync.Mutex
	read map[string]sandbox.Library
}

// Bundles lists the libraries of a folder. A folder without an index has none.
func Bundles(dir string) ([]Bundle, error) {
	text, err := os.ReadFile(filepath.Join(dir, IndexFile)) //nolint:gosec // the operator names the folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var bundles []Bundle
	if err := json.Unmarshal(text, &bundles); err != nil {
		return nil, fmt.Errorf("%s is not an index of libraries: %w", filepath.Join(dir, IndexFile), err)
	}
	return bundles, nil
}

// AddBundle writes a library into a folder and replaces one of the same name.
// source is the text of a function that takes the environment of a library and
// returns its exports.
func AddBundle(dir, name, version string, source []byte) (Bundle, error) {
	if len(source) > maxBundle {
		return Bundle{}, fmt.Errorf("the bundle of %s has %d bytes, %d are allowed", name, len(source), maxBundle)
	}
	bundles, err := Bundles(dir)
	if err != nil {
		return Bundle{}, err
	}
	hash := sha256.Sum256(source)
	b := Bundle{Name: name, Version: version, SHA256: hex.EncodeToString(hash[:])}
	b.File = tenon.ToolName(name) + "-" + b.SHA256[:16] + ".js"
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return b, err
	}
	if err := os.WriteFile(filepath.Join(dir, b.File), source, 0o600); err != nil {
		return b, err
	}
	bundles = append(slices.DeleteFunc(bundles, func(old Bundle) bool { return old.Name == name }), b)
	text, err := json.MarshalIndent(bundles, "", "  ")
	if err != nil {
		return b, err
	}
	return b, os.WriteFile(filepath.Join(dir, IndexFile), append(text, '\n'), 0o600)
}

// OpenLibraries opens the bundles in a folder; "" has none.
func OpenLibraries(dir string) (*Libraries, error) {
	l := &Libraries{dir: dir, read: map[string]sandbox.Library{}}
	if dir == "" {
		return l, nil
	}
	bundles, err := Bundles(dir)
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "read the libraries", Err: err}
	}
	l.bundles = bundles
	return l, nil
}

// Get reads a library; ok is false where it is missing or its hash differs from
// the index.
func (l *Libraries) Get(name string) (sandbox.Library, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.read[name]; ok {
		return known, known.Source != ""
	}
	found := sandbox.Library{Name: name}
	for _, b := range l.bundles {
		if b.Name != name || filepath.Base(b.File) != b.File {
			continue
		}
		text, err := ReadUpTo(filepath.Join(l.dir, b.File), maxBundle)
		if hash := sha256.Sum256(text); err == nil && hex.EncodeToString(hash[:]) == b.SHA256 {
			found.Source = string(text)
		}
	}
	l.read[name] = found
	return found, found.Source != ""
}

// IsNative reports whether a library is compiled code, which no realm can run.
func IsNative(name string) bool {
	return slices.Contains([]string{"talib", "canvas", "better-sqlite3", "sharp"}, name)
}

// BuiltIn returns the libraries that every realm provides: the modules of Node
// without side effects.
func BuiltIn() []string {
	return []string{"zlib", "crypto", "buffer", "path", "url", "util", "querystring", "events", "stream", "string_decoder", "assert"}
}
