package main

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/app"
)

// noEnv is a process without an environment.
func noEnv() env { return env{getenv: func(string) (string, bool) { return "", false }} }

// sample is a value for a flag: as the config has it and as the command line.
func sample(f *pflag.Flag, k app.Setting) (yaml string, line []string) {
	if f.Name == "max-result-bytes" || f.Name == "jq" {
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
	byName := map[string]app.Setting{}
	for _, k := range app.Settings() {
		byName[k.Name] = k
	}
	seen := 0
	serveCommand(noEnv()).LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == configFlag {
			return
		}
		seen++
		k, ok := byName[f.Name]
		if !ok {
			t.Errorf("--%s has no key", f.Name)
			return
		}
		value, line := sample(f, k)
		if f.Name == "client-cert" {
			value, line = `"x=/y"`, []string{"x=/y"}
		}
		if f.Name == "store" {
			value, line = `"redis://a"`, []string{"redis://a"}
		}
		if f.Name == "for" {
			value, line = "gemini", []string{"gemini"}
		}
		if f.Name == "name-budget" {
			value, line = "40", []string{"40"}
		}
		if f.Name == "limit" {
			value, line = `{"everybody": "rate 1/m"}`, []string{"everybody=rate 1/m"}
		}
		if f.Name == "allow" || f.Name == "deny" || f.Name == "require-scope" {
			value, line = `{"scope:a": ["tag:b", "method:PUT"]}`, []string{"scope:a=tag:b", "scope:a=method:PUT"}
		}
		by := flagsOf(t, "", commandLine(f.Name, line)...).Lookup(f.Name)
		text := "sources: {one: /spec}\n" + f.Name + ": " + value
		if k.Single() {
			by = flagsOf(t, "", "--"+f.Name, "x="+line[0]).Lookup(f.Name)
			text = "sources: {one: /spec}\ntools: {x: {" + f.Name + ": " + value + "}}"
		}
		if got := flagsOf(t, text).Lookup(f.Name); shown(got) != shown(by) {
			t.Errorf("%s at the top of the config is %s, on the command line %s", f.Name, shown(got), shown(by))
		}
	})
	if seen != len(byName) || seen < 40 {
		t.Errorf("%d flags and %d keys", seen, len(byName))
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
	if c, ok := f.Value.(*app.PerTool); ok {
		text := c.All
		for _, s := range c.Tools {
			text += " " + s.Pattern + "=" + s.Value
		}
		return text
	}
	return f.Value.String()
}

// planOf plans a config under a command line.
func planOf(t *testing.T, text string, args ...string) (*cobra.Command, []app.Source) {
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
	s.file = file
	if err := s.plan(cmd, cmd.Flags().Args()); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return cmd, s.config.Sources
}

func flagsOf(t *testing.T, text string, args ...string) *pflag.FlagSet {
	t.Helper()
	cmd, _ := planOf(t, text, args...)
	return cmd.Flags()
}
