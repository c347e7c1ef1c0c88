package app

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSettingsOfKinds: a name that no setting has, or whose field cannot be told
// from its default, would make fitting refuse nothing.
func TestSettingsOfKinds(t *testing.T) {
	for _, k := range kinds() {
		for _, name := range k.settings {
			s, known := Find(name)
			if !known || !s.OfSources() {
				t.Errorf("%s: %s is no setting of sources", k.what, name)
				continue
			}
			o := &SourceOptions{}
			field := s.source(o)
			if s.def != nil || isSet(field) {
				t.Errorf("%s: %s is set by default", k.what, name)
			}
			switch p := field.(type) {
			case *string:
				*p = "x"
			case *bool:
				*p = true
			case *int:
				*p = 1
			case *[]string:
				*p = []string{"x"}
			}
			if !isSet(field) {
				t.Errorf("%s: nobody can tell whether %s is set", k.what, name)
			}
		}
	}
}

func TestKindOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app/host.json":        "{}",
		"app/worker/index.mjs": "", // a function app can be of JavaScript
		"files/deep/one.mjs":   "",
		"documents/one.yaml":   "openapi: 3.1.0",
		"documents/other.json": "{}",
		"empty/note.txt":       "",
		"one.mjs":              "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for spec, want := range map[string]string{
		"app": "a function app", "files": "a FlowMCP schema file", "one.mjs": "a FlowMCP schema file", "missing.mjs": "a FlowMCP schema file",
		"documents": "an OpenAPI document", "documents/one.yaml": "an OpenAPI document", "empty": "an OpenAPI document", "missing": "an OpenAPI document",
	} {
		if got := kindOf(filepath.Join(dir, spec)).what; got != want {
			t.Errorf("%s is %s, not %s", spec, got, want)
		}
	}
	all, err := recognized([]Source{{Name: "x", Spec: filepath.Join(dir, "documents")}, {Name: "app", Spec: filepath.Join(dir, "app")}})
	if err != nil || len(all) != 2 || all[0].Name != "one" || all[1].Name != "app" || all[0].alone {
		t.Errorf("%v, %v", all, err)
	}
}
