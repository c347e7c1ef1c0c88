package config_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/config"
	"github.com/tenon-mcp/tenon/internal/yaml"
	"github.com/tenon-mcp/tenon/schema"
)

func keys() []config.Key {
	return []config.Key{
		{Name: "http", Kind: config.Text, Places: config.Whole},
		{Name: "timeout", Kind: config.Duration, Places: config.Whole | config.Source},
		{Name: "policy", Kind: config.Word, Places: config.Whole | config.Source | config.Tool, Values: []string{"warn", "enforce"}},
		{Name: "bytes", Kind: config.Number, Places: config.Source},
		{Name: "rate", Kind: config.Decimal, Places: config.Whole},
		{Name: "read-only", Kind: config.Switch, Places: config.Source},
		{Name: "only", Kind: config.List, Places: config.Whole | config.Source},
		{Name: "jq", Kind: config.Word, Places: config.Tool},
		{Name: "overlay", Kind: config.List, Places: config.Source, Rebase: config.Beside},
		{Name: "header", Kind: config.List, Places: config.Whole | config.Source, Pair: ": ", Check: func(v string) error {
			if strings.Contains(v, "s3cret") {
				return errors.New("it is a secret")
			}
			return nil
		}},
	}
}

func TestParse(t *testing.T) {
	const text = `# a remark
http: ":8080"
policy: enforce
header: {A: b, C: "d"}
tools: {"*": {jq: .}}
sources:
  one: api.json
  two:
    spec: https://example.com/api.json
    timeout: 5s
    bytes: -1
    read-only: true
    only: tag:a
    overlay: [o.yaml, /abs.yaml]
    tools:
      x*: {policy: warn, jq: 5}
`
	got, err := config.Parse("t.yaml", "/etc/tenon", []byte(text), keys())
	if err != nil {
		t.Fatal(err)
	}
	want := &config.File{
		Settings: []config.Setting{{"http", []string{":8080"}, 2}, {"policy", []string{"enforce"}, 3}, {"header", []string{"A: b", "C: d"}, 4}},
		Tools:    []config.Pattern{{"*", []config.Setting{{"jq", []string{"."}, 5}}, 5}},
		Sources: []config.Described{
			{Name: "one", Spec: "/etc/tenon/api.json", Line: 7},
			{Name: "two", Spec: "https://example.com/api.json", Line: 8, Settings: []config.Setting{
				{"timeout", []string{"5s"}, 10},
				{"bytes", []string{"-1"}, 11},
				{"read-only", []string{"true"}, 12},
				{"only", []string{"tag:a"}, 13},
				{"overlay", []string{"/etc/tenon/o.yaml", "/abs.yaml"}, 14},
			}, Tools: []config.Pattern{{"x*", []config.Setting{{"policy", []string{"warn"}, 16}, {"jq", []string{"5"}, 16}}, 16}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatIsWrongIsToldWithItsLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a key that is misspelt", "\nhtpp: x", `t.yaml:2: there is no key "htpp"; did you mean "http"?`},
		{"a key that is nothing like another", "wonderful: x", `t.yaml:1: there is no key "wonderful"`},
		{"a key in the wrong place", "sources:\n  a:\n    spec: x\n    http: y", `t.yaml:4: "http" does not belong here but at the top of the file`},
		{"a key of a source at the top", "bytes: 5", `t.yaml:1: "bytes" does not belong here but in a source`},
		{"sources in a source", "sources: {a: {spec: x, sources: {}}}", `t.yaml:1: "sources" does not belong here but at the top of the file`},
		{"a key twice", "http: a\nhttp: b", `t.yaml:2: duplicate key "http": the previous value is lost`},
		{"a number for a text", "http: 8080", `t.yaml:1: http is a text (put it in quotes)`},
		{"a time without a unit", "timeout: 20", `t.yaml:1: timeout is a time such as 500ms, 30s or 5m, not "20"`},
		{"another word", "policy: strict", `t.yaml:1: policy is one of warn, enforce, not "strict"`},
		{"a fraction", "sources: {a: {spec: x, bytes: 1.5}}", `t.yaml:1: bytes is a whole number such as 10, not "1.5"`},
		{"a word for a number", "rate: many", `t.yaml:1: rate is a number such as 0.5 or 10, not "many"`},
		{"yes for true", "sources: {a: {spec: x, read-only: yes}}", `t.yaml:1: read-only is true or false, not "yes"`},
		{"a list of numbers", "only:\n- a\n- 5", `t.yaml:3: only has texts in it (put them in quotes)`},
		{"an object for a list", "only: {a: b}", `t.yaml:1: only is a text or a list of texts`},
		{"a number for a list", "header: 5", `t.yaml:1: header is a text or a list of texts, or an object of them`},
		{"a value that is refused", "header:\n  B: c\n  A: s3cret", `t.yaml:3: header: it is a secret`},
		{"a source without a spec", "sources:\n  a: {timeout: 5s}", `t.yaml:2: source a has no spec: the file, folder or URL that describes it`},
		{"an empty spec", "sources: {a: ''}", `t.yaml:1: the spec of a is a text: a file, a folder or a URL`},
		{"a source that is nothing", "sources:\n  a:", "t.yaml:2: source a is an object: lines of key: value\nt.yaml:2: source a has no spec: the file, folder or URL that describes it"},
		{"sources in a list", "sources: [a]", `t.yaml:1: sources is an object: a line of NAME: SPEC for each source, or NAME: and its keys`},
		{"a name with a slash", "sources: {a/b: x}", `t.yaml:1: "a/b" is no name for a source: use letters, digits, _ and -`},
		{"tools in a list", "tools: []", `t.yaml:1: tools is an object: names or patterns, and under each its keys`},
		{"a pattern with an equals sign", "tools: {a=b: {jq: .}}", `t.yaml:1: "a=b" is no pattern for tools: use names with * and ?`},
		{"a list", "[]", `t.yaml:1: a config is an object: lines of key: value`},
		{"no YAML", "a: [", `t.yaml:2: did not find expected node content, while parsing a flow node`},
		{"two faults", "http: 5\nhttpp: 1", "t.yaml:1: http is a text (put it in quotes)\nt.yaml:2: there is no key \"httpp\"; did you mean \"http\"?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := config.Parse("t.yaml", "", []byte(tt.text), keys())
			if err == nil {
				t.Fatalf("it was read: %+v", f)
			}
			if got := err.Error(); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// FuzzParse holds that a config which is read fits the JSON Schema of configs,
// and that everything which comes of it is a key in a place of its own.
func FuzzParse(f *testing.F) {
	f.Add([]byte("http: \":8080\"\nsources: {a: {spec: x, timeout: 5s, tools: {x: {jq: .}}}}"))
	f.Add([]byte("header: {A: b}\nonly: [a]\ntools: {x: {policy: warn}}"))
	f.Add([]byte("sources: {a: b, c: {spec: d, bytes: 9, read-only: false, timeout: -1.5h3m}}"))
	all := keys()
	s, err := schema.Compile(config.Schema(all), schema.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Parse("t.yaml", "/etc", text, all)
		if err != nil {
			if p, ok := errors.AsType[*config.FileError](err); !ok || len(p.List) == 0 || p.List[0].Line < 1 {
				t.Fatalf("no problem: %v", err)
			}
			return
		}
		read, err := yaml.ToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if violations := s.Validate(read.JSON); len(violations) > 0 {
			t.Errorf("%s is read and does not fit the schema: %v", text, violations)
		}
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1
		check := func(settings []config.Setting, at config.Place) {
			for _, s := range settings {
				known := slices.ContainsFunc(all, func(k config.Key) bool { return k.Name == s.Key && k.Places&at != 0 })
				if !known || s.Values == nil || s.Line < 1 || s.Line > lines {
					t.Errorf("%+v of %q", s, text)
				}
			}
		}
		check(c.Settings, config.Whole)
		for _, source := range c.Sources {
			check(source.Settings, config.Source)
		}
	})
}
