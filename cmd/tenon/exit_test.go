package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestExitCodes holds the table of docs/errors.md against the binary, for every
// subcommand that reads descriptions.
func TestExitCodes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tenon := filepath.Join(dir, "tenon") // the test binary is the command by this name
	if err := os.Symlink(self, tenon); err != nil {
		t.Skip("no links here:", err)
	}
	for name, text := range map[string]string{
		"ok.json": `{"openapi":"3.1.0","info":{"title":"Ok","version":"1","license":{"name":"MIT","identifier":"MIT"}},"servers":[{"url":"http://127.0.0.1:1"}],"paths":{"/a":{"get":{"operationId":"readA",` +
			`"summary":"Reads a","responses":{"200":{"description":"a","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`,
		"zero.json":            `{"openapi":"3.1.0","info":{"title":"Zero","version":"1"},"paths":{}}`,
		"broken.json":          `{"openapi":`,
		"other.json":           `{"hello":1}`,
		"broken.mjs":           `export const main = {`,
		"schemas/ok.mjs":       `export const main = { namespace: 'shop', name: 'Food', description: 'Food', version: '4.0.0', root: 'https://shop.example', tools: { listFood: { method: 'GET', path: '/food', description: 'Lists food', parameters: [] } } }`,
		"app/host.json":        `{"version":"2.0"}`,
		"broken-app/host.json": `{`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const gone = "http://127.0.0.1:1/openapi.json"
	// ok, bad flag, no description, missing file, no JSON, another document, no
	// tools, nobody at the URL, a selector that matches nothing; -1: it does not
	// apply.
	type codes [9]int
	cases := map[string]codes{
		"tools":    {0, 2, 2, 3, 3, 3, 0, 3, 2},
		"inspect":  {0, 2, 2, 3, 3, 3, 0, 3, 2},
		"docs":     {0, 2, 2, 3, 3, 3, 0, 3, 2},
		"check":    {0, 2, 2, 3, 3, 3, 1, 3, 2},
		"validate": {0, 2, 2, 3, 3, 3, 0, 3, -1},
		"lint":     {0, 2, 2, 3, 3, 3, 0, 3, -1},
		"filter":   {0, 2, 2, 3, 3, 3, 0, 3, 2},
		"serve":    {0, 2, 2, 3, 3, 3, 0, 3, 2},
		"shell":    {0, 2, 2, 3, 3, 3, 0, 3, 2},
		"call":     {1, 2, 2, 3, 3, 3, 2, 3, 2}, // nobody answers the call
		"flowmcp check": {0, 2, 2, 3, 1, // a file that does not load is what it reports
			-1, -1, -1, -1},
		"flowmcp list":    {0, 2, 2, 3, 3, -1, -1, -1, 2},
		"flowmcp schemas": {0, 2, 2, 3, 3, -1, -1, -1, -1},
		"flowmcp hash":    {0, 2, 2, 3, 3, -1, -1, -1, -1},
		"functions check": {-1, 2, 2, 3, 3, -1, -1, -1, -1},
		"functions list":  {-1, 2, 2, 3, 3, -1, -1, -1, -1},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := [9]string{"ok.json", "--nonsense ok.json", "", "missing.json", "broken.json", "other.json", "zero.json", gone, "--include none ok.json"}
			switch group, _, _ := strings.Cut(name, " "); group {
			case "flowmcp":
				given = [9]string{"schemas/ok.mjs", "--nonsense schemas/ok.mjs", "", "missing.mjs", "broken.mjs", "", "", "", "--include none schemas/ok.mjs"}
			case "functions":
				given = [9]string{"", "--nonsense app", "", "missing", "broken-app"}
			}
			for i, code := range want {
				if code < 0 {
					continue
				}
				args := append(strings.Fields(name), strings.Fields(given[i])...)
				switch {
				case given[i] == "":
				case name == "call":
					args = append(args, "readA")
				case name == "lint":
					args = append(args, "--fail-on", "error")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, tenon, args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				got := 0
				if failed, ok := errors.AsType[*exec.ExitError](err); ok {
					got = failed.ExitCode()
				} else if err != nil {
					t.Fatal(err)
				}
				if got != code {
					t.Errorf("tenon %s ends with %d, want %d:\n%.400s", strings.Join(args, " "), got, code, out)
				}
				if got != 0 && len(out) == 0 {
					t.Errorf("tenon %s fails without a word", strings.Join(args, " "))
				}
			}
		})
	}
}
