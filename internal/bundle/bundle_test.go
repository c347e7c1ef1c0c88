package bundle_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/bundle"
)

// install writes a package of these files into a new folder.
func install(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		path := filepath.Join(dir, "node_modules", name, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		name, pkg string
		files     map[string]string
		want, err string
	}{
		{"a module", "two", map[string]string{"package.json": `{"version":"1.2.3","module":"m.js"}`, "m.js": `export const two = () => 'zwei'`}, "zwei", ""},
		{"a module that needs Node's", "@a/z", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `exports.z = require('zlib').inflateSync`}, `"zlib"`, ""},
		{"nothing", "none", nil, "", "not installed"},
		{"native code", "native", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `module.exports = require('./x.node')`, "x.node": "\x7fELF", "binding.gyp": "{}"}, "", "native code"},
		{"a module that is not there", "broken", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `require('nowhere')`}, "", "nowhere"},
		{"no name", "../x", nil, "", "not the name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := bundle.Build(install(t, c.pkg, c.files), c.pkg)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || errors.Is(err, bundle.ErrNative) != (c.err == "native code") {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil || b.Version != "1.2.3" || !strings.Contains(string(b.Source), c.want) {
				t.Errorf("%s %s, %v; want %q", b.Version, b.Source, err, c.want)
			}
		})
	}
}
