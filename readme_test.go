package tenon_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeProgramIsTheExample keeps the program in README.md true: all of
// its lines are in the example that is built and tested.
func TestReadmeProgramIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/weather/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	block, _, found := strings.Cut(rest, "```")
	if !found || len(block) < 500 {
		t.Fatal("README.md has no Go program")
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(program)) {
		known[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		with := strings.TrimSuffix(line, ",") + ".With(reads),"
		if !known[line] && !known[with] {
			t.Errorf("examples/weather/main.go has no line %q", line)
		}
	}
}
