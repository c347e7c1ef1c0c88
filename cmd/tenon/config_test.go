package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/config"
)

// noEnv is a process without an environment.
func noEnv() env { return env{getenv: func(string) (string, bool) { return "", false }} }

// TestDocsOfTheConfig compares docs/config.md with the flags; UPDATE_GOLDEN=1
// writes it.
func TestDocsOfTheConfig(t *testing.T) {
	intro, err := os.ReadFile(filepath.Join("testdata", "config_intro.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := string(intro) + config.Markdown(configKeys(serveCommand(noEnv())))
	file := filepath.Join("..", "..", "docs", "config.md")
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
	c, err := config.Parse("tenon.yaml", "", []byte(example), configKeys(serveCommand(noEnv())))
	if err != nil || len(c.Sources) != 2 || len(c.Sources[1].Tools) != 2 {
		t.Errorf("%v: %+v", err, c)
	}
}

// sample is a value for a flag: as the config has it and as the command line.
func sample(f *pflag.Flag, k config.Key) (yaml string, line []string) {
	if k.Check != nil && k.Kind == config.Word {
		return "7", []string{"7"}
	}
	for _, word := range k.Values {
		if word != f.DefValue {
			return word, []string{word}
		}
	}
	switch f.Value.Type() {
	case "bool":
		other := "true"
		if f.DefValue == other {
			other = "false"
		}
		return other, []string{other}
	case "int", "int64":
		return "7", []string{"7"}
	case "duration":
		return "7s", []string{"7s"}
	case "stringArray":
		return `["/x: ${A}", "/y"]`, []string{"/x: ${A}", "/y"}
	case "float64":
		return "0.5", []string{"0.5"}
	case "string":
		return `"/v${A}"`, []string{"/v${A}"}
	}
	return `"/v"`, []string{"/v"}
}

// TestEveryFlagHasItsPlaceInTheConfig sets each flag of serve by a config and
// by a command line, at the top and in a source, and finds the same.
func TestEveryFlagHasItsPlaceInTheConfig(t *testing.T) {
	keys := map[string]config.Key{}
	for _, k := range configKeys(serveCommand(noEnv())) {
		keys[k.Name] = k
	}
	seen := 0
	serveCommand(noEnv()).LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == configFlag {
			return
		}
		seen++
		k, ok := keys[f.Name]
		if !ok {
			t.Errorf("--%s has no key", f.Name)
			return
		}
		value, line := sample(f, k)
		if f.Name == "client-cert" {
			value, line = `"x=/y"`, []string{"x=/y"}
		}
		by := flagsOf(t, "", commandLine(f.Name, line)...).Lookup(f.Name)
		text := "sources: {one: /spec}\n" + f.Name + ": " + value
		if k.Places == config.Tool {
			by = flagsOf(t, "", "--"+f.Name, "x="+line[0]).Lookup(f.Name)
			text = "sources: {one: /spec}\ntools: {x: {" + f.Name + ": " + value + "}}"
		}
		if got := flagsOf(t, text).Lookup(f.Name); shown(got) != shown(by) {
			t.Errorf("%s at the top of the config is %s, on the command line %s", f.Name, shown(got), shown(by))
		}
	})
	if seen != len(keys) || seen < 40 {
		t.Errorf("%d flags and %d keys", seen, len(keys))
	}
}

func commandLine(name string, values []string) []string {
	var args []string
	for _, v := range values {
		args = append(args, "--"+name+"="+v)
	}
	return args
}

// shown is a flag's value, the patterns of a choice among it.
func shown(f *pflag.Flag) string {
	if c, ok := f.Value.(*choice); ok {
		text := c.general
		for _, s := range c.some {
			text += " " + s.pattern + "=" + s.value
		}
		return text
	}
	return f.Value.String()
}

// planOf plans a config under a command line.
func planOf(t *testing.T, text string, args ...string) (*cobra.Command, []planned) {
	t.Helper()
	file := ""
	if text != "" {
		file = filepath.Join(t.TempDir(), "tenon.yaml")
		write(t, file, text)
	}
	var s serving
	cmd := &cobra.Command{Use: "serve"}
	s.register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	plan, err := s.sources.plan(cmd, file, cmd.Flags().Args())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return cmd, plan
}

func flagsOf(t *testing.T, text string, args ...string) *pflag.FlagSet {
	t.Helper()
	cmd, _ := planOf(t, text, args...)
	return cmd.Flags()
}

func TestWhatCountsBeforeWhat(t *testing.T) {
	const text = `
timeout: 1s
base-url: https://top.test
allow-host: [top.test]
policy: enforce
tools: {"*/z": {policy: off}}
sources:
  a:
    spec: https://a.test/api.json
    timeout: 2s
    allow-host: [a.test, b.test]
    policy: warn
    auth: {key: env:A, other: env:B}
    header: {X-A: a}
    tools: {x: {policy: repair}}
  b: ./b.json
`
	_, plan := planOf(t, text, "--base-url", "https://line.test", "--auth", "a/key=env:LINE", "--policy", "a/x=off", "c=c.json")
	if len(plan) != 3 {
		t.Fatalf("%d sources", len(plan))
	}
	a, b, c := plan[0].flags, plan[1].flags, plan[2].flags
	if plan[0].where != "https://a.test/api.json" || filepath.Base(plan[1].where) != "b.json" || !filepath.IsAbs(plan[1].where) || plan[2].where != "c.json" {
		t.Errorf("places: %s, %s, %s", plan[0].where, plan[1].where, plan[2].where)
	}
	got := map[string]any{
		"time": []string{a.timeout.String(), b.timeout.String(), c.timeout.String()}, "url": []string{a.baseURL, b.baseURL, c.baseURL},
		"hosts": [][]string{a.allowHosts, b.allowHosts}, "auth": [][]string{a.auth.from, b.auth.from}, "header": [][]string{a.headers, b.headers},
		"policy": []string{a.policy.general, b.policy.general, c.policy.general},
		"tools":  []string{a.policy.of("a", &tenon.Tool{Name: "x"}), a.policy.of("a", &tenon.Tool{Name: "a_z"}), b.policy.of("b", &tenon.Tool{Name: "x"}), b.policy.of("b", &tenon.Tool{Name: "z"})},
	}
	want := map[string]any{
		"time": []string{"2s", "1s", "1s"}, "url": []string{"https://line.test", "https://line.test", "https://line.test"},
		"hosts": [][]string{{"a.test", "b.test"}, {"top.test"}}, "auth": [][]string{{"a/key=env:LINE", "a/other=env:B"}, {"a/key=env:LINE"}},
		"header": [][]string{{"X-A: a"}, {}}, "policy": []string{"warn", "enforce", "enforce"}, "tools": []string{"off", "off", "", "off"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFilesOfAConfigLieBesideIt: what a key names as a file or folder is looked
// for in the folder of the config, and not where tenon runs.
func TestFilesOfAConfigLieBesideIt(t *testing.T) {
	names := regexp.MustCompile(`^(file|folder)s? |file or URL|\(\.mjs\)|@FILE|as FILE|file:PATH, |=FILE`)
	found := 0
	for _, k := range configKeys(serveCommand(noEnv())) {
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
