package mcpb

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func manifest(t testing.TB) *Manifest {
	m := &Manifest{Name: "shop", Title: "Shop", Release: "1.2.3", Description: "Books.", Author: Author{"Me"}, Tools: []Tool{{"list", ""}}}
	if err := m.Start([]Platform{{"linux", "server/linux/tenon"}, {"windows", "server/windows/tenon.exe"}}, []string{"serve", Dir + "/api/a.yaml"}); err != nil {
		t.Fatal(err)
	}
	return m
}

// The same files give the same bytes, in whatever order, whenever and with whatever
// modes they have here.
func TestBundlesAreReproducible(t *testing.T) {
	write := func(mode os.FileMode, turned bool) []byte {
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, bytes.Repeat([]byte("binary "), 10_000), mode); err != nil {
			t.Fatal(err)
		}
		files := []File{{Name: "server/linux/tenon", Path: file, Executable: true}, {Name: "api/a.yaml", Text: []byte("a")}}
		if turned {
			files[0], files[1] = files[1], files[0]
		}
		var b bytes.Buffer
		if err := Write(&b, manifest(t), files); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one := write(0o600, false)
	if !bytes.Equal(one, write(0o755, true)) {
		t.Error("two bundles of the same files differ")
	}
	z, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	modes := ""
	for _, f := range z.File {
		modes += f.Name + " " + f.Mode().String() + "\n"
		if f.Modified.After(time.Date(1980, 1, 2, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s has a time: %v", f.Name, f.Modified)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err) // the sum is wrong
		}
	}
	if want := "api/a.yaml -rw-r--r--\nmanifest.json -rw-r--r--\nserver/linux/tenon -rwxr-xr-x\n"; modes != want {
		t.Errorf("%s", modes)
	}
}

func TestNamesInBundles(t *testing.T) {
	for _, name := range []string{"", "../a", "/a", "a/../b", "a//b", "manifest.json"} {
		if err := Write(io.Discard, manifest(t), []File{{Name: name}}); err == nil {
			t.Errorf("a bundle holds %q", name)
		}
	}
}

func TestStart(t *testing.T) {
	m := manifest(t)
	if m.Server.EntryPoint != "server/linux/tenon" || m.Server.Config.Command != "${__dirname}/server/linux/tenon" || m.Server.Config.Overrides["win32"].Command != "${__dirname}/server/windows/tenon.exe" ||
		strings.Join(m.Compatibility.Platforms, " ") != "linux win32" {
		t.Errorf("%+v", m)
	}
	for _, bad := range [][]Platform{nil, {{"plan9", "x"}}, {{"linux", "x"}, {"linux", "y"}}} {
		if err := new(Manifest).Start(bad, nil); err == nil {
			t.Errorf("%v", bad)
		}
	}
}

// A question that need not be answered has an empty answer: hosts hand over the
// reference as it is otherwise.
func TestQuestions(t *testing.T) {
	m := manifest(t)
	secrets := []Secret{SecretOf("API Key", "a key", true), SecretOf("ünï", "another", false)}
	if err := m.Ask(secrets); err != nil {
		t.Fatal(err)
	}
	text, err := m.text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"TENON_API_KEY": "${user_config.api_key}"`, `"TENON_N": "${user_config.n}"`, `"manifest_version": "0.3"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	var read struct {
		UserConfig map[string]map[string]any `json:"user_config"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	key, other := read.UserConfig["api_key"], read.UserConfig["n"]
	if key["sensitive"] != true || key["required"] != true || key["default"] != nil || other["required"] != false || other["default"] != "" {
		t.Errorf("%v, %v", key, other)
	}
	if err := m.Ask([]Secret{SecretOf("api-key", "once more", true)}); err == nil {
		t.Error("one question asks for two credentials")
	}
}

func TestReleases(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "v2": "2.0.0", " 1.0 ": "1.0.0", "2024-01-01": "2024.0.0-01-01", "1.02.3-rc.1+b": "1.2.3-rc.1+b", "latest": "1.0.0", "": "1.0.0", "1.2.3.4": "1.0.0",
	} {
		if got := Release(version); got != want {
			t.Errorf("%q: %q, not %q", version, got, want)
		}
	}
}

func TestEntries(t *testing.T) {
	good := Listing{ID: "io.github.me/shop", URL: "https://github.com/me/shop/releases/download/v1/shop.mcpb", Sum: strings.Repeat("a", 64)}
	m := manifest(t)
	m.Description = strings.Repeat("Много слов. ", 50)
	text, err := m.Entry(&good, []Secret{SecretOf("key", "a key", true)})
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Description string
		Packages    []struct {
			FileSha256           string
			Transport            struct{ Type string }
			EnvironmentVariables []struct {
				Name                 string
				IsSecret, IsRequired bool
			}
		}
	}
	if err := json.Unmarshal(text, &read); err != nil || len(read.Packages) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	p := read.Packages[0]
	if len(read.Description) > 100 || !utf8.ValidString(read.Description) || p.FileSha256 != good.Sum || p.Transport.Type != "stdio" || len(p.EnvironmentVariables) != 1 || !p.EnvironmentVariables[0].IsSecret {
		t.Errorf("%s", text)
	}
	for _, bad := range []Listing{
		{ID: "shop", URL: good.URL},
		{ID: "me/shop", URL: good.URL},
		{ID: "io.github.me/a/b", URL: good.URL},
		{ID: "io.github.me./shop", URL: good.URL},
		{ID: good.ID, URL: "http://github.com/me/shop.mcpb"},
		{ID: good.ID, URL: "https://u:p@github.com/me/shop.mcpb"},
		{ID: good.ID, URL: "https://github.com.evil.test/me/shop.mcpb"},
		{ID: good.ID, URL: "https://github.com/me/shop.zip"},
	} {
		if _, err := m.Entry(&bad, nil); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
