package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsOfThePages: what README.md and the pages for newcomers say to type names
// commands and flags that there are, with as many arguments as they take.
func TestCommandsOfThePages(t *testing.T) {
	for page, least := range map[string]int{"README.md": 18, "docs/install.md": 4, "docs/bundle.md": 4} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		commands := regexp.MustCompile("(?m)(?:^    |`)tenon +([a-z][^`\n]*)").FindAllStringSubmatch(joined, -1)
		commands = append(commands, regexp.MustCompile(`go run ./cmd/tenon ([^\n]*)`).FindAllStringSubmatch(joined, -1)...)
		if len(commands) < least {
			t.Errorf("%s has %d commands, not %d", page, len(commands), least)
		}
		for _, m := range commands {
			line, _, _ := strings.Cut(m[1], "  #")
			words := wordsOf(line)
			command, rest, err := rootCommand(noEnv()).Find(words)
			if err != nil {
				t.Errorf("%s: tenon %s: %v", page, line, err)
				continue
			}
			if len(words) == 1 {
				continue // a command that is named, not typed
			}
			if err := command.ParseFlags(rest); err != nil {
				t.Errorf("%s: tenon %s: %v", page, line, err)
			} else if err := command.ValidateArgs(command.Flags().Args()); err != nil {
				t.Errorf("%s: tenon %s: %v", page, line, err)
			}
		}
	}
}

// wordsOf splits a line at spaces outside of quotes.
func wordsOf(line string) (all []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}
