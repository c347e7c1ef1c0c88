package bundle_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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
		missing   []string
	}{
		{"a module", "two", map[string]string{"package.json": `{"version":"1.2.3","module":"m.js"}`, "m.js": `export const two = () => 'zwei'`}, "zwei", "", nil},
		{"a module that needs Node's", "@a/z", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `exports.z = require('zlib').inflateSync`}, `"zlib"`, "", nil},
		{"events and a stream", "emits", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `exports.e = [require('events'), require('node:stream'), require('timers')]`}, `"events"`, "", nil},
		{"what leads outside", "reads", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `const fs = require('fs'), net = require('node:net'); exports.r = () => fs.readFileSync('x'); exports.s = () => net`}, `"fs"`, "", []string{"fs", "net"}},
		{"what browsers have instead", "both", map[string]string{"package.json": `{"version":"1.2.3","browser":{"fs":false,"./net.js":"./web.js"}}`, "index.js": `exports.b = [require('fs'), require('./net.js')]`, "net.js": `exports.n = require('net')`, "web.js": `exports.w = 'web'`}, "web", "", nil},
		{"a package of that name", "uses", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `exports.u = require('events').mine`, "node_modules/events/package.json": `{}`, "node_modules/events/index.js": `exports.mine = 'of the package'`}, "of the package", "", nil},
		{"nothing", "none", nil, "", "not installed", nil},
		{"native code", "native", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `module.exports = require('./x.node')`, "x.node": "\x7fELF", "binding.gyp": "{}"}, "", "native code", nil},
		{"a module that is not there", "broken", map[string]string{"package.json": `{"version":"1.2.3"}`, "index.js": `require('nowhere')`}, "", "nowhere", nil},
		{"no name", "../x", nil, "", "not the name", nil},
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
			if !slices.Equal(b.Missing, c.missing) {
				t.Errorf("missing %q, want %q", b.Missing, c.missing)
			}
		})
	}
}
