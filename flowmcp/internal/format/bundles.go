package flowmcp

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

// indexFile lists the bundles of a folder.
const indexFile = "libraries.json"

// maxBundle bounds a library's bundle; the largest in use has 1.1 MB.
const maxBundle = 8 << 20

// Bundle is a library that was put together ahead of time, as the index of a
// folder of libraries describes it.
type Bundle struct {
	Name    string `json:"name"`    // of the package
	Version string `json:"version"` // of the package
	File    string `json:"file"`    // in the folder
	SHA256  string `json:"sha256"`  // of the file, in hexadecimal
}

// libraries are the bundles of a folder.
type libraries struct {
	dir     string
	bundles []Bundle

	mu   sync.Mutex
	read map[string]sandbox.Library
}

// Bundles lists the libraries of a folder. A folder without an index has none.
func Bundles(dir string) ([]Bundle, error) {
	text, err := os.ReadFile(filepath.Join(dir, indexFile)) //nolint:gosec // the operator names the folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var bundles []Bundle
	if err := json.Unmarshal(text, &bundles); err != nil {
		return nil, fmt.Errorf("%s is no index of libraries: %w", filepath.Join(dir, indexFile), err)
	}
	return bundles, nil
}

// AddBundle puts a library into a folder, in the place of one of the same name.
// source is the text of a function that takes what stands around a library and
// returns what it exports.
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
	return b, os.WriteFile(filepath.Join(dir, indexFile), append(text, '\n'), 0o600)
}

func openLibraries(dir string) (*libraries, error) {
	l := &libraries{dir: dir, read: map[string]sandbox.Library{}}
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

// get reads a library, if it is there and has the bytes that its index names.
func (l *libraries) get(name string) (sandbox.Library, bool) {
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
		text, err := readUpTo(filepath.Join(l.dir, b.File), maxBundle)
		if hash := sha256.Sum256(text); err == nil && hex.EncodeToString(hash[:]) == b.SHA256 {
			found.Source = string(text)
		}
	}
	l.read[name] = found
	return found, found.Source != ""
}

// isNative tells the libraries that are compiled code, which no realm can run.
func isNative(name string) bool {
	return slices.Contains([]string{"talib", "canvas", "better-sqlite3", "sharp"}, name)
}
