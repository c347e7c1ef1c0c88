// Command packages puts the binaries of a release into npm packages and Python
// wheels, so that people without Go install tenon by one line.
//
//	go run ./.ci/release/packages DIST
//
// DIST is what goreleaser made. There is one npm package for each platform, and
// one that chooses among them and downloads nothing: npm installs the optional
// dependency that fits. A wheel has the binary of its platform. The same
// binaries give the same bytes.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// platform is one of those that a release has a binary for.
type platform struct {
	goos, goarch string
	npm          string   // platform and architecture as Node calls them
	wheel        []string // platform tags of PEP 425
}

// The oldest macOS is that of Go 1.26. The Linux binaries are static, so that
// both C libraries are as good.
var platforms = []platform{
	{"linux", "amd64", "linux-x64", []string{"manylinux2014_x86_64", "musllinux_1_1_x86_64"}},
	{"linux", "arm64", "linux-arm64", []string{"manylinux2014_aarch64", "musllinux_1_1_aarch64"}},
	{"darwin", "amd64", "darwin-x64", []string{"macosx_12_0_x86_64"}},
	{"darwin", "arm64", "darwin-arm64", []string{"macosx_12_0_arm64"}},
	{"windows", "amd64", "win32-x64", []string{"win_amd64"}},
	{"windows", "arm64", "win32-arm64", []string{"win_arm64"}},
}

const (
	about    = "Turns OpenAPI documents and other descriptions of services into MCP tools whose answers keep their output schema"
	home     = "https://github.com/tenon-mcp/tenon"
	licensed = "Apache-2.0"
)

// release is what the packages are made of.
type release struct {
	version string
	time    time.Time // of the commit
	readme  []byte
	license []byte
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: packages DIST")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(dist string) error {
	r, err := readRelease(dist)
	if err != nil {
		return err
	}
	for _, folder := range []string{"npm", "pypi"} {
		if err := os.MkdirAll(filepath.Join(dist, folder), 0o755); err != nil {
			return err
		}
	}
	binaries, err := readBinaries(dist)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		binary, ok := binaries[p.goos+"/"+p.goarch]
		if !ok {
			return fmt.Errorf("%s has no binary for %s/%s", dist, p.goos, p.goarch)
		}
		if err := r.npmBinary(dist, p, binary); err != nil {
			return err
		}
		if err := r.wheel(dist, p, binary); err != nil {
			return err
		}
	}
	return r.npmChooser(dist)
}

func readRelease(dist string) (r release, err error) {
	var meta struct {
		Version string
		Commit  string
	}
	if err = readJSON(filepath.Join(dist, "metadata.json"), &meta); err != nil {
		return r, err
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(meta.Version) {
		return r, fmt.Errorf("version %q: npm and PyPI write versions that are no plain numbers in different ways; tag a release as v1.2.3", meta.Version)
	}
	r.version = meta.Version
	if r.readme, err = os.ReadFile("README.md"); err != nil {
		return r, err
	}
	if r.license, err = os.ReadFile("LICENSE"); err != nil {
		return r, err
	}
	// goreleaser's "date" is that of the build.
	r.time, err = commitTime(meta.Commit)
	return r, err
}

// readBinaries reads the binaries of a release by GOOS/GOARCH.
func readBinaries(dist string) (map[string][]byte, error) {
	var all []struct{ Path, Goos, Goarch, Type string }
	if err := readJSON(filepath.Join(dist, "artifacts.json"), &all); err != nil {
		return nil, err
	}
	binaries := map[string][]byte{}
	for _, a := range all {
		if a.Type != "Binary" {
			continue
		}
		// Paths begin with the name of the folder that goreleaser wrote to.
		_, path, _ := strings.Cut(filepath.ToSlash(a.Path), "/")
		data, err := os.ReadFile(filepath.Join(dist, path))
		if err != nil {
			return nil, err
		}
		binaries[a.Goos+"/"+a.Goarch] = data
	}
	return binaries, nil
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// file is one of a package.
type file struct {
	name string
	data []byte
	mode os.FileMode
}

// sorted has the files in the order of their names.
func sorted(files []file) []file {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}
