package tenon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsOfStrangers builds the program in README.md and those in examples
// the way somebody does who copies one file into a module of their own, and
// asks each for its tools.
func TestProgramsOfStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	block, _, found := strings.Cut(rest, "```")
	if !found || !strings.HasPrefix(block, "package main\n") {
		t.Fatal("README.md has no whole Go program")
	}
	t.Run("README.md", func(t *testing.T) {
		dir := stranger(t)
		write(t, filepath.Join(dir, "main.go"), []byte(block))
		program := built(t, dir)
		ask(t, program, `"tools/list"`, `"name":"get_weather"`)
		ask(t, program, `"tools/call","params":{"name":"get_weather","arguments":{"city":"London"}}`, `"structuredContent":{"temperature":16.2,`)
		ask(t, program, `"tools/call","params":{"name":"get_weather","arguments":{"city":"Rome"}}`, `there is no station in Rome; try London`)
	})
	for name, tool := range map[string]string{"weather": "get_forecast", "fuel": "fill", "functionapp": ""} {
		t.Run(name, func(t *testing.T) {
			dir := stranger(t)
			sources, err := filepath.Glob(filepath.Join("examples", name, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, source := range sources {
				if strings.HasSuffix(source, "_test.go") {
					continue
				}
				text, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, filepath.Base(source)), text)
			}
			program := built(t, dir)
			if tool != "" {
				ask(t, program, `"tools/list"`, `"name":"`+tool+`"`)
				return
			}
			run(t, exec.CommandContext(t.Context(), program, "emit", filepath.Join(dir, "app")))
			if _, err := os.Stat(filepath.Join(dir, "app", "host.json")); err != nil {
				t.Error(err)
			}
		})
	}
	if examples, err := os.ReadDir("examples"); err != nil || len(examples) != 3 {
		t.Errorf("examples has %d programs, not all of them are tried: %v", len(examples), err)
	}
}

// stranger makes a module that uses this one, as go mod tidy would leave it.
func stranger(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	_, needs, _ := strings.Cut(string(ours), "\n") // what stands after its name
	write(t, filepath.Join(dir, "go.mod"), []byte("module x\n"+needs+"\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+here+"\n"))
	write(t, filepath.Join(dir, "go.sum"), sums)
	return dir
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func built(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(dir, "program")
	c := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", program, ".")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	run(t, c)
	return program
}

func run(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

// ask sends one request to a server on stdio.
func ask(t *testing.T, program, method, want string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program)
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":` + method + "}\n")
	if out := run(t, c); !strings.Contains(out, want) {
		t.Errorf("%s: want %s in\n%s", method, want, out)
	}
}
