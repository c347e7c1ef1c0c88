package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/config"
)

// TestDocsOfTheConfig compares docs/config.md with the flags; UPDATE_GOLDEN=1
// writes it.
func TestDocsOfTheConfig(t *testing.T) {
	intro, err := os.ReadFile(filepath.Join("testdata", "config_intro.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := string(intro) + FileReference()
	file := filepath.Join("..", "docs", "config.md")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/config.md is not of these flags; UPDATE_GOLDEN=1 writes it (-want +got):\n%s", diff)
	}
}

// TestTheExampleOfTheConfigIsRead keeps the page's example true.
func TestTheExampleOfTheConfigIsRead(t *testing.T) {
	intro, err := os.ReadFile(filepath.Join("testdata", "config_intro.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(intro), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	c, err := config.Parse("tenon.yaml", "", []byte(example), keys())
	if err != nil || len(c.Sources) != 2 || len(c.Sources[1].Tools) != 2 {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestWhatCountsBeforeWhat(t *testing.T) {
	const text = `
timeout: 1s
base-url: https://top.test
allow-private-host: [top.test]
policy: enforce
tools: {"*/z": {policy: off}}
sources:
  a:
    spec: https://a.test/api.json
    timeout: 2s
    allow-private-host: [a.test, b.test]
    policy: warn
    auth: {key: env:A, other: env:B}
    header: {X-A: a}
    tools: {x: {policy: repair}}
  b: ./b.json
`
	file := filepath.Join(t.TempDir(), "tenon.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set := NewConfig()
	set.Defaults.BaseURL, set.Defaults.Auth = "https://line.test", []string{"a/key=env:LINE"}
	set.Defaults.Policy.Tools = []ToolValue{{Pattern: "a/x", Value: "off"}}
	set.AddSpec("c=c.json")
	if err := set.AddFile(file, func(name string) bool { return name == "base-url" || name == "auth" || name == "policy" }); err != nil {
		t.Fatal(err)
	}
	plan := set.Sources
	if len(plan) != 3 {
		t.Fatalf("%d sources", len(plan))
	}
	a, b, c := plan[0].Options, plan[1].Options, plan[2].Options
	if plan[0].Spec != "https://a.test/api.json" || filepath.Base(plan[1].Spec) != "b.json" || !filepath.IsAbs(plan[1].Spec) || plan[2].Spec != "c.json" {
		t.Errorf("places: %s, %s, %s", plan[0].Spec, plan[1].Spec, plan[2].Spec)
	}
	got := map[string]any{
		"time": []string{a.Timeout.String(), b.Timeout.String(), c.Timeout.String()}, "url": []string{a.BaseURL, b.BaseURL, c.BaseURL},
		"hosts": [][]string{a.AllowPrivateHost, b.AllowPrivateHost}, "auth": [][]string{a.Auth, b.Auth}, "header": [][]string{a.Header, b.Header},
		"policy": []string{a.Policy.All, b.Policy.All, c.Policy.All},
		"tools":  []string{valueOf(a.Policy, "a", &tenon.Tool{Name: "x"}), valueOf(a.Policy, "a", &tenon.Tool{Name: "a_z"}), valueOf(b.Policy, "b", &tenon.Tool{Name: "x"}), valueOf(b.Policy, "b", &tenon.Tool{Name: "z"})},
	}
	want := map[string]any{
		"time": []string{"2s", "1s", "1s"}, "url": []string{"https://line.test", "https://line.test", "https://line.test"},
		"hosts": [][]string{{"a.test", "b.test"}, {"top.test"}}, "auth": [][]string{{"a/key=env:LINE", "a/other=env:B"}, {"a/key=env:LINE"}},
		"header": [][]string{{"X-A: a"}, nil}, "policy": []string{"warn", "enforce", "enforce"}, "tools": []string{"off", "off", "", "off"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFilesOfAConfigLieBesideIt: what a key names as a file or folder is looked
// for in the folder of the config, and not where tenon runs.
func TestFilesOfAConfigLieBesideIt(t *testing.T) {
	names := regexp.MustCompile(`^(file|directory|PEM file) |file or URL|\(\.mjs\)|@FILE|as FILE|file:PATH, |=FILE`)
	found := 0
	for _, k := range keys() {
		if !names.MatchString(k.Doc) {
			continue
		}
		if found++; k.Rebase == nil {
			t.Errorf("%s (%s) is looked for where tenon runs", k.Name, k.Doc)
		}
	}
	if found < 12 {
		t.Errorf("only %d keys name files", found)
	}
}

// valueOf is the value for a tool.
func valueOf(p PerTool, source string, t *tenon.Tool) string {
	c := newChoice(p)
	return c.of(source, t)
}
