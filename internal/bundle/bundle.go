// Package bundle bundles an npm package and everything that it imports into one
// script, so that programs can use it without Node and without a package
// folder.
//
// It does not know what a bundle is used for or where it is stored, and it
// executes no code of a package: installing skips scripts, and bundling only
// reads.
//
// An operator bundles libraries ahead of time; the sandbox evaluates them
// later.
package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Bundle is a package as one script.
type Bundle struct {
	Name    string
	Version string
	// Source is a JavaScript function. It takes an object with the environment
	// of a library (timers, fetch, require and so on) and returns the exports
	// of the package.
	Source []byte
	// Missing are the imported modules of Node that have side effects: they can
	// be imported, and fail when they are used.
	Missing []string
}

// ErrNative reports that a package contains compiled code, which cannot be
// bundled.
var ErrNative = errors.New("it is native code")

var packageName = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// Build bundles the package name that is installed in dir/node_modules. The
// error wraps ErrNative where the package needs compiled code.
func Build(dir, name string) (Bundle, error) {
	if !packageName.MatchString(name) {
		return Bundle{}, fmt.Errorf("%q is not the name of a package", name)
	}
	version, err := installed(dir, name)
	if err != nil {
		return Bundle{}, err
	}
	n := &nodeModules{missing: map[string]bool{}}
	result := api.Build(api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: fmt.Sprintf("import * as all from %q; export { all };", name), ResolveDir: dir, Sourcefile: "entry.js"},
		Bundle:            true,
		Format:            api.FormatIIFE,
		GlobalName:        "library",
		Platform:          api.PlatformBrowser,
		Target:            api.ES2023,
		External:          preferNode(),
		Plugins:           []api.Plugin{{Name: "node", Setup: n.setup}},
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`, "global": "globalThis"},
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsEndOfFile,
		LogLevel:          api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return Bundle{}, failure(dir, name, result.Errors)
	}
	return Bundle{Name: name, Version: version, Source: wrap(result.OutputFiles[0].Contents), Missing: slices.Sorted(maps.Keys(n.missing))}, nil
}

// installed returns the version of the package in dir.
func installed(dir, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json")) //nolint:gosec // the operator names the folder, and name is a package's
	if err != nil {
		return "", fmt.Errorf("the package is not installed in %s", filepath.Join(dir, "node_modules"))
	}
	var p struct{ Version string }
	if err := json.Unmarshal(text, &p); err != nil {
		return "", fmt.Errorf("its package.json is not valid JSON: %w", err)
	}
	return p.Version, nil
}

// failure returns why a package could not be bundled.
func failure(dir, name string, all []api.Message) error {
	_, gyp := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "binding.gyp"))
	for _, m := range all {
		if strings.Contains(m.Text, ".node") || gyp == nil {
			return fmt.Errorf("it cannot be bundled: %w (%s)", ErrNative, m.Text)
		}
	}
	return fmt.Errorf("it cannot be bundled: %s (and %d more)", all[0].Text, len(all)-1)
}

// wrap makes the bundle a function of its environment.
func wrap(code []byte) []byte {
	const before = `function (host) {
const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask, fetch, process, self, require } = host;
`
	return append(append([]byte(before), code...), "\nreturn library.all;\n}\n"...)
}
