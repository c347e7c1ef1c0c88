// Command sbom writes which modules a Go binary is made of, as CycloneDX 1.6.
//
//	go run ./.ci/release/sbom BINARY DOCUMENT
//
// What is linked is asked of the binary, not of go.mod, so that no module is
// named that is not in it. The same binary gives the same bytes.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

type document struct {
	Schema       string      `json:"$schema"`
	Format       string      `json:"bomFormat"`
	Spec         string      `json:"specVersion"`
	Serial       string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
	Dependencies []depends   `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref     string `json:"bom-ref"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, to string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)

	main := componentOf("application", &info.Main)
	main.Name = filepath.Base(binary)
	main.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	all := []component{{Ref: "go", Type: "framework", Name: "go", Version: strings.TrimPrefix(info.GoVersion, "go"),
		PURL: "pkg:generic/go@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return fmt.Errorf("%s is replaced: a release has what its go.mod says", m.Path)
		}
		all = append(all, componentOf("library", m))
	}
	on := depends{Ref: main.Ref}
	for _, c := range all {
		on.On = append(on.On, c.Ref)
	}

	s := sum[:16] // the serial number is a UUID that the binary decides
	s[6], s[8] = s[6]&0x0f|0x80, s[8]&0x3f|0x80
	out, err := json.MarshalIndent(document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6",
		Serial:  fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", s[:4], s[4:6], s[6:8], s[8:10], s[10:]),
		Version: 1, Metadata: metadata{main}, Components: all, Dependencies: []depends{on},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(out, '\n'), 0o644)
}

func componentOf(kind string, m *debug.Module) component {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Ref: purl, Type: kind, Name: m.Path, Version: m.Version, PURL: purl}
	// A sum of go.sum, "h1:" and base64, is a SHA-256 of the module's files.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
	}
	return c
}
