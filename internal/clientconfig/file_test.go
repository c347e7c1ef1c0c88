package clientconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// textOf is what a file holds; of one that is not there, "absent".
func textOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func add(t *testing.T, c *Client, file string, s *Server) {
	t.Helper()
	e, err := c.PlanAdd(file, s)
	if err == nil {
		err = e.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, c *Client, file, name string) {
	t.Helper()
	e, err := c.PlanRemove(file, name)
	if err == nil {
		err = e.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever a file was, it is that again when the server is removed: absent, empty,
// with an empty object.
func TestRemovingUndoes(t *testing.T) {
	for _, client := range []string{"cursor", "codex"} {
		for _, text := range []string{"absent", "", " \n", "{}", "{\"mcpServers\":{ }, \"a\": 1}", "# c\n"} {
			if json := strings.HasPrefix(text, "{"); json == (client == "codex") && strings.TrimSpace(text) != "" && text != "absent" {
				continue
			}
			c, file := Find(client), filepath.Join(t.TempDir(), "sub", "file")
			if text != "absent" {
				write(t, file, text)
			}
			add(t, c, file, server())
			if text != "absent" && textOf(t, file+backupSuffix) != text {
				t.Errorf("%s %q: the backup is %q", client, text, textOf(t, file+backupSuffix))
			}
			changed := *server()
			changed.Args = append(changed.Args, "more")
			add(t, c, file, &changed)
			servers, err := c.Installed(file)
			if err != nil || len(servers) != 1 || servers[0].Args[3] != "more" {
				t.Errorf("%v, %v", servers, err)
			}
			remove(t, c, file, "shop")
			if got := textOf(t, file); got != text {
				t.Errorf("%s: %q is now %q", client, text, got)
			}
			if left := textOf(t, file+backupSuffix); left != "absent" {
				t.Errorf("%s %q: the backup stays: %q", client, text, left)
			}
		}
	}
}

// What somebody else wrote meanwhile stays, before the edit and before it is undone.
func TestOthersWriteMeanwhile(t *testing.T) {
	c, file := Find("cursor"), filepath.Join(t.TempDir(), "file")
	write(t, file, `{"a": 1}`)
	e, err := c.PlanAdd(file, server())
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, `{"a": 2}`)
	if err := e.Write(); err != nil || !strings.HasPrefix(textOf(t, file), `{"a": 2, "mcpServers"`) {
		t.Errorf("%v: %s", err, textOf(t, file))
	}
	write(t, file, strings.Replace(textOf(t, file), "2", "3", 1))
	remove(t, c, file, "shop")
	if got := textOf(t, file); got != `{"a": 3}` {
		t.Errorf("%s", got)
	}
	e, err = c.PlanAdd(file, server())
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, `{"a": `)
	if err := e.Write(); err == nil || textOf(t, file) != `{"a": ` {
		t.Errorf("%v: %s", err, textOf(t, file))
	}
}

// Links lead where they led, and modes stay.
func TestFilesThatAreNoPlainFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need privileges")
	}
	dir := t.TempDir()
	c, file, target := Find("cursor"), filepath.Join(dir, "home", "mcp.json"), filepath.Join(dir, "dotfiles", "mcp.json")
	write(t, target, "{}")
	write(t, filepath.Join(dir, "home", "other"), "")
	if err := os.Symlink(filepath.Join("..", "dotfiles", "mcp.json"), file); err != nil {
		t.Fatal(err)
	}
	add(t, c, file, server())
	if to, err := os.Readlink(file); err != nil || to != filepath.Join("..", "dotfiles", "mcp.json") {
		t.Errorf("the link is %q, %v", to, err)
	}
	info, err := os.Lstat(target)
	if err != nil || info.Mode() != 0o640 || !strings.Contains(textOf(t, target), "/opt/tenon") {
		t.Errorf("%v, %v", info, err)
	}
	if backup, err := os.Lstat(target + backupSuffix); err != nil || backup.Mode() != 0o640 {
		t.Errorf("%v, %v", backup, err)
	}
	remove(t, c, file, "shop")
	if textOf(t, target) != "{}" {
		t.Error(textOf(t, target))
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: "is a link to something that is not there", filepath.Join(dir, "home"): "is not a regular file"} {
		if _, err := c.PlanAdd(name, server()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.PlanAdd("/dev/null", server()); err == nil {
		t.Error("a device is edited")
	}
	if os.Geteuid() == 0 { // only root can give files away
		write(t, file+"2", "{}")
		if err := os.Chown(file+"2", 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := c.PlanAdd(file+"2", server()); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("%v", err)
		}
	}
}

// A broken file is named with the place, and stays.
func TestBrokenFileStays(t *testing.T) {
	c, file := Find("cursor"), filepath.Join(t.TempDir(), "file")
	write(t, file, "{\n  \"key\": s3cret }")
	_, err := c.PlanAdd(file, server())
	if err == nil || !strings.HasPrefix(err.Error(), file+":2:10: ") || !strings.HasSuffix(err.Error(), "; nothing was changed") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(file + backupSuffix); err == nil || textOf(t, file) != "{\n  \"key\": s3cret }" {
		t.Error("it is changed")
	}
}

// A difference shows what comes and goes, and of other people's lines only the ends.
func TestDifference(t *testing.T) {
	c, file := Find("cursor"), filepath.Join(t.TempDir(), "file")
	for text, want := range map[string]string{
		"{\n  \"token\": \"s3cret\"\n}\n":                                      "line 2:\n-  …\n+  …,\n+  \"mcpServers\": {\n+    \"shop\": {\n",
		`{"mcpServers":{"a":{"env":{"KEY":"s3cret"}}},"token":"s3cret","z":1}`: "line 1:\n-……\n+…, \"shop\": {\n",
	} {
		write(t, file, text)
		e, err := c.PlanAdd(file, server())
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Difference(); !strings.HasPrefix(got, file+", "+want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s", got)
		}
	}
}

func TestPlaces(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	linux := System{OS: "linux", Getenv: env("HOME", "/h"), Dir: "/p"}
	for _, tt := range []struct {
		client string
		scope  Scope
		system System
		want   string
	}{
		{"claude-desktop", User, linux, "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", User, System{OS: "linux", Getenv: env("HOME", "/h", "XDG_CONFIG_HOME", "/x")}, "/x/Claude/claude_desktop_config.json"},
		{"claude-desktop", User, System{OS: "darwin", Getenv: env("HOME", "/h", "XDG_CONFIG_HOME", "/x")}, "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", User, System{OS: "windows", Getenv: env("USERPROFILE", "/u", "APPDATA", "/u/r")}, "/u/r/Claude/claude_desktop_config.json"},
		{"claude-desktop", Project, linux, ""},
		{"claude-code", User, linux, "/h/.claude.json"},
		{"claude-code", User, System{OS: "linux", Getenv: env("HOME", "/h", "CLAUDE_CONFIG_DIR", "/c")}, "/c/.claude.json"},
		{"claude-code", Project, linux, "/p/.mcp.json"},
		{"cursor", User, System{OS: "windows", Getenv: env("USERPROFILE", "/u", "HOME", "/msys")}, "/u/.cursor/mcp.json"},
		{"cursor", Project, linux, "/p/.cursor/mcp.json"},
		{"vscode", User, System{OS: "darwin", Getenv: env("HOME", "/h")}, "/h/Library/Application Support/Code/User/mcp.json"},
		{"vscode", Project, linux, "/p/.vscode/mcp.json"},
		{"codex", User, linux, "/h/.codex/config.toml"},
		{"codex", User, System{OS: "linux", Getenv: env("CODEX_HOME", "/c")}, "/c/config.toml"},
		{"gemini-cli", User, linux, "/h/.gemini/settings.json"},
		{"gemini-cli", User, System{OS: "linux", Getenv: env()}, ""},
	} {
		got, err := Find(tt.client).File(tt.scope, tt.system)
		if filepath.ToSlash(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s %s %s: %q, %v", tt.client, tt.scope, tt.system.OS, got, err)
		}
	}
}

// A program that may be gone tomorrow is not configured.
func TestCommands(t *testing.T) {
	linux, windows := System{OS: "linux"}, System{OS: "windows"}
	for _, tt := range []struct {
		self   string
		system System
		want   string // empty: refused
	}{
		{"/usr/local/bin/tenon", linux, "/usr/local/bin/tenon"},
		{"/home/u/tmp/tenon", linux, "/home/u/tmp/tenon"},
		{"/home/u/.cache/go-build/ab/tenon", linux, ""},
		{"/scratch/go-build1234/b001/exe/tenon", linux, ""},
		{"/tmp/x/tenon", linux, ""},
		{"/tmp-of-user/tenon", linux, ""},
		{"/private/var/folders/aa/T/tenon", System{OS: "darwin"}, ""},
		{"/home/u/.npm/_npx/1f2e/node_modules/@x/linux-x64/bin/tenon", linux, "npx -y tenon-mcp"},
		{"/home/u/.npm/_npx/1f2e/node_modules/@x/win32-x64/bin/tenon.exe", windows, "cmd /c npx -y tenon-mcp"},
		{"/home/u/.cache/uv/archive-v0/Zz/bin/tenon", linux, "uvx tenon-mcp"},
		{"/home/u/lib/node_modules/tenon/node_modules/@x/linux-x64/bin/tenon", linux, "/home/u/lib/node_modules/tenon/node_modules/@x/linux-x64/bin/tenon"},
	} {
		got, err := Command(tt.self, "/tmp-of-user", tt.system)
		if strings.Join(got, " ") != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v", tt.self, got, err)
		}
	}
}
