package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed npm/tenon.js
var launcher []byte

type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	License     string            `json:"license"`
	Bin         map[string]string `json:"bin,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

func (r *release) npmPackage(name, description string) npmPackage {
	return npmPackage{
		Name: name, Version: r.version, Description: description, Homepage: home,
		Repository: map[string]string{"type": "git", "url": "git+" + home + ".git"}, License: licensed,
	}
}

// npmBinary writes the package with the binary of one platform.
func (r *release) npmBinary(dist string, p platform, binary []byte) error {
	system, cpu, _ := strings.Cut(p.npm, "-")
	m := r.npmPackage("@tenon-mcp/"+p.npm, "The binary of tenon-mcp for "+p.goos+"/"+p.goarch)
	m.OS, m.CPU = []string{system}, []string{cpu}
	return r.npm(dist, "tenon-mcp-"+p.npm, m, []file{{"bin/" + executable(p), binary, 0o755}})
}

// npmChooser writes the package that people install.
func (r *release) npmChooser(dist string) error {
	m := r.npmPackage("tenon-mcp", about)
	m.Bin = map[string]string{"tenon": "tenon.js"}
	m.Engines = map[string]string{"node": ">=18"}
	m.Optional = map[string]string{}
	for _, p := range platforms {
		m.Optional["@tenon-mcp/"+p.npm] = r.version
	}
	return r.npm(dist, "tenon-mcp", m, []file{{"tenon.js", launcher, 0o755}})
}

// npm writes a tarball as "npm pack" does: all files below package/.
func (r *release) npm(dist, name string, m npmPackage, files []file) error {
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, file{"package.json", append(manifest, '\n'), 0o644}, file{"README.md", r.readme, 0o644}, file{"LICENSE", r.license, 0o644})
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zip)
	for _, f := range sorted(files) {
		h := &tar.Header{Name: "package/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, "npm", name+"-"+r.version+".tgz"), b.Bytes(), 0o644)
}

func executable(p platform) string {
	if p.goos == "windows" {
		return "tenon.exe"
	}
	return "tenon"
}

func commitTime(commit string) (time.Time, error) {
	out, err := exec.Command("git", "show", "-s", "--format=%ct", commit).Output()
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}
