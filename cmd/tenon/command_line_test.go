package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/app"
)

// checked runs check and returns its exit code and what it says.
func checked(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var out strings.Builder
	e := env{in: strings.NewReader(""), out: io.Discard, err: &out, getenv: func(string) (string, bool) { return "", false }}
	code = run(t.Context(), e, append([]string{"check"}, args...))
	return code, out.String()
}

// TestBadValues gives every flag and config key that is a number, a size, a time,
// a switch or one of some words a value that is none: the answer says which flag,
// what came, and what it takes, in no words of libraries.
func TestBadValues(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.json")
	write(t, file, shopWith("a"))
	serve, tested := serveCommand(env{}), 0
	serve.LocalFlags().VisitAll(func(f *pflag.Flag) {
		kind, words := f.Value.Type(), valuesOf(serve, f.Name)
		if kind == "stringArray" || kind == "string" && words == nil || f.Name == "mcp-header" {
			return
		}
		tested++
		config := filepath.Join(dir, f.Name+".yaml")
		write(t, config, fmt.Sprintf("sources: {shop: %s}\n%s: many\n", file, f.Name))
		for _, given := range []struct {
			args []string
			name string
		}{
			{[]string{"--" + f.Name + "=many", file}, "--" + f.Name + " "},
			{[]string{"--config", config}, f.Name + ".yaml:2: " + f.Name},
		} {
			if setting, _ := app.Find(f.Name); setting.Single() && given.args[0] == "--config" {
				continue
			}
			code, said := checked(t, given.args...)
			takes := strings.Contains(said, " such as ") || strings.Contains(said, "true or false") || words != nil && strings.Contains(said, "one of "+strings.Join(words, ", "))
			if code != exitUsage || !strings.Contains(said, given.name) || !strings.Contains(said, `"many"`) || !takes {
				t.Errorf("check %s ends with %d and says %s", given.args[0], code, said)
			}
			for _, word := range []string{"strconv", "invalid syntax", "time:", "parsing"} {
				if strings.Contains(said, word) {
					t.Errorf("check %s says %q: %s", given.args[0], word, said)
				}
			}
		}
	})
	if tested < 40 {
		t.Errorf("only %d flags were tested", tested)
	}
}

// Numbers and times that can be read and mean nothing are refused by the name of
// the one flag that has them.
func TestValuesOutOfRange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	write(t, file, shopWith("a"))
	negative := []string{"task-after", "flush-interval", "list-tokens-warn", "max-input-schema", "max-output-schema", "audit-max-bytes", "audit-keep"} // these say so in the help
	values := map[string][]string{
		"int": {"-1", "99999999999999999999"}, "int64": {"-1", "99999999999999999999"}, "float64": {"-0.5", "NaN", "Inf"}, "duration": {"-5s", "9999999999h"},
	}
	serveCommand(env{}).LocalFlags().VisitAll(func(f *pflag.Flag) {
		for i, value := range values[f.Value.Type()] {
			if i == 0 && slices.Contains(negative, f.Name) {
				continue
			}
			code, said := checked(t, "--"+f.Name+"="+value, file)
			if code != exitUsage || !strings.Contains(said, "--"+f.Name+" is ") || !strings.Contains(said, value) {
				t.Errorf("--%s %s ends with %d and says %s", f.Name, value, code, said)
			}
		}
	})
	for _, flag := range []string{"policy", "envelope", "confirm", "fields", "max-result-bytes"} { // for one tool
		if code, said := checked(t, "--"+flag+"=a=many", file); code != exitUsage || !strings.Contains(said, "--"+flag) || !strings.Contains(said, `"many"`) {
			t.Errorf("--%s a=many ends with %d and says %s", flag, code, said)
		}
	}
	if said := slices.Collect(strings.Lines(fmt.Sprint(checked(t, "--policy", "=warn", file))))[0]; !strings.Contains(said, `--policy: "" is no pattern for tools`) {
		t.Errorf("a pattern without a name: %s", said)
	}
}

func TestSecretsAreNotOnTheCommandLine(t *testing.T) {
	for _, tt := range []struct {
		flag, value string
		refused     bool
	}{
		{"header", "Authorization: Bearer sesame", true},
		{"header", "X-Custom: Bearer sesame", true},
		{"header", "X-Api-Key: sesame", true},
		{"header", "X-Key: sesame", true},
		{"header", "Cookie: sid=sesame", true},
		{"header", "Authorization: Bearer ${TOKEN}", false},
		{"header", "X-Monkey: sesame", false},
		{"header", "Accept-Language: de", false},
		{"azure-key", "sesame", true},
		{"azure-key", "${KEY}", false},
		{"worker-env", "DB_PASSWORD=sesame", true},
		{"worker-env", "DB_PASSWORD", false},
		{"base-url", "https://me:sesame@api.example", true},
		{"base-url", "https://api.example", false},
		{"param-const", "auth_token=Bearer sesame", true},
		{"param-const", "key=name", false},
	} {
		t.Run(tt.flag+" "+tt.value, func(t *testing.T) {
			cmd := &cobra.Command{}
			var one string
			var many []string
			if tt.flag == "azure-key" || tt.flag == "base-url" {
				cmd.Flags().StringVar(&one, tt.flag, "", "")
			} else {
				cmd.Flags().StringArrayVar(&many, tt.flag, nil, "")
			}
			if err := cmd.Flags().Set(tt.flag, tt.value); err != nil {
				t.Fatal(err)
			}
			err := noSecrets(cmd.Flags())
			if (err != nil) != tt.refused || err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %v", err)
			}
		})
	}
}
