package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed pypi/__init__.py pypi/__main__.py
var python embed.FS

// wheel writes the wheel of one platform: the binary as a script, which pip puts
// on the PATH, and a module that starts it, for "python -m tenon_mcp" and for
// "uvx tenon-mcp", which looks for a command of the package's name.
//
// The format is that of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func (r *release) wheel(dist string, p platform, binary []byte) error {
	name := "tenon_mcp-" + r.version
	tag := "py3-none-" + strings.Join(p.wheel, ".")
	info := name + ".dist-info/"

	var metadata, wheel bytes.Buffer
	fmt.Fprintf(&metadata, "Metadata-Version: 2.4\nName: tenon-mcp\nVersion: %s\nSummary: %s\nLicense-Expression: %s\nLicense-File: LICENSE\n"+
		"Project-URL: Repository, %s\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s", r.version, about, licensed, home, r.readme)
	wheel.WriteString("Wheel-Version: 1.0\nGenerator: tenon\nRoot-Is-Purelib: false\n")
	for _, t := range p.wheel {
		fmt.Fprintf(&wheel, "Tag: py3-none-%s\n", t)
	}
	files := []file{
		{name + ".data/scripts/" + executable(p), binary, 0o755},
		{info + "METADATA", metadata.Bytes(), 0o644},
		{info + "WHEEL", wheel.Bytes(), 0o644},
		{info + "entry_points.txt", []byte("[console_scripts]\ntenon-mcp = tenon_mcp.__main__:main\n"), 0o644},
		{info + "licenses/LICENSE", r.license, 0o644},
	}
	for _, f := range []string{"__init__.py", "__main__.py"} {
		data, err := python.ReadFile("pypi/" + f)
		if err != nil {
			return err
		}
		files = append(files, file{"tenon_mcp/" + f, data, 0o644})
	}
	files = sorted(files)

	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, file{info + "RECORD", record.Bytes(), 0o644})

	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode | 0o100000)
		to, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, "pypi", name+"-"+tag+".whl"), b.Bytes(), 0o644)
}
