package toolname_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/toolname"
)

// TestNamesAreLegalAndFree: whatever the names, those that are made of them are
// legal and different, and a legal one stays as it is.
func TestNamesAreLegalAndFree(t *testing.T) {
	for naming, legal := range map[toolname.Rule]*regexp.Regexp{
		{Longest: 16}: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,16}$`), {Longest: 40, Letter: true}: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,39}$`),
		{}: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), {Naming: toolname.Models}: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), {Naming: toolname.MCP}: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,128}$`),
	} {
		rapid.Check(t, func(t *rapid.T) {
			taken := map[string]bool{}
			for _, name := range rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c._]{0,3}|[a-z.-]{60,140}`))).Draw(t, "names") {
				made := naming.Legal(name)
				if legal.MatchString(name) && made != name {
					t.Fatalf("%q became %q", name, made)
				}
				free := naming.Free(made, func(n string) bool { return taken[n] })
				if !legal.MatchString(free) || taken[free] {
					t.Fatalf("%q became %q", name, free)
				}
				taken[free] = true
			}
		})
	}
}
