//go:build amd64 || arm64

package engine_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/sandbox/engine"
)

// TestEngineIsTheOneThatWasVerified: a new version of the engine is a decision, not
// an update.
func TestEngineIsTheOneThatWasVerified(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range engine.VerifiedVersions() {
		found := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(path) + `\s+(\S+)`).FindSubmatch(text)
		if found == nil || string(found[1]) != want {
			t.Errorf(`go.mod has %s %s; this package reads and writes the memory of %s.
Before the constants in layout.go are changed:
 1. run UPDATE_GOLDEN=1 go test ./internal/sandbox/engine -run TestLayoutsAreThoseVerified, and read the difference of layouts.txt;
 2. read in the library's C how a string is laid out behind its header, where reference counts stand (JSMallocBlockHeader),
    how shapes are shared and counted, how a dense array keeps its count and its length, and what js_array_every does for map;
 3. run the tests of this package with -race, and go test -fuzz FuzzRead for a minute;
 4. run the tests of internal/sandbox, those of attacks too.`, path, found, want)
		}
	}
}

func TestLayoutsAreThoseVerified(t *testing.T) {
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("layouts.txt", []byte(strings.Join(engine.Layouts(), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := engine.LayoutError(); err != nil {
		t.Error(err)
	}
}

// TestChangedLayout: memory of another layout is never touched, and values are
// converted by text.
func TestChangedLayout(t *testing.T) {
	verified := strings.Join(engine.Layouts(), "\n") + "\n"
	if err := engine.CheckLayouts(verified); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a field that moved":               {"Fclass_id 18 uint16", "Fclass_id 20 uint16"},
		"a field with another name":        {"Fprop_count", "Fproperty_count"},
		"a field of another type":          {"Fref_count 4 int32", "Fref_count 4 uint32"},
		"a size":                           {"JSString 12;", "JSString 16;"},
		"a member of a union":              {"Fvalues uintptr", "Fvalues [0]uintptr"},
		"a private field of the wrapper":   {"VM.cContext 8 uintptr", "VM.cContext 8 *quickjs.context"},
		"the value inside of the wrapper":  {"Value 24; vm 0", "Value 24; machine 0"},
		"the thread":                       {"runtime.tls 8 *libc.TLS", "runtime.tls is not there"},
		"a type that was not there before": {"JSShape ", "JSForm "},
	} {
		t.Run(name, func(t *testing.T) {
			other := strings.Replace(verified, change[0], change[1], 1)
			if other == verified {
				t.Fatalf("there is no %q in\n%s", change[0], verified)
			}
			err := engine.CheckLayouts(other)
			if err == nil || !strings.Contains(err.Error(), "another layout than was verified") {
				t.Fatalf("the change is not noticed: %v", err)
			}
			e := engine.NewHarnessWith(err)
			defer e.Close()
			if e.EnableFastMap() {
				t.Error("map is replaced")
			}
			if _, _, taken, _ := e.Read([]byte(`[{"a":1}]`)); taken {
				t.Error("a text is read into the engine's memory")
			}
			if _, _, taken, _ := e.Write(`{a: 1}`); taken {
				t.Error("a value is written from the engine's memory")
			}
			if e.Refused() {
				t.Error("memory was refused")
			}
			if got, err := e.JSON(`[1, 2].map((v) => v + 1)`); err != nil || got != "[2,3]" {
				t.Errorf("without it the engine says %s, %v", got, err)
			}
		})
	}
}

func TestLayoutThatIsGone(t *testing.T) {
	verified := strings.Join(engine.Layouts(), "\n") + "\nJSForm 8; Fnext 0 uintptr\n"
	if err := engine.CheckLayouts(verified); err == nil || !strings.Contains(err.Error(), "JSForm is not there") {
		t.Errorf("a type that is not there: %v", err)
	}
}

func TestChangedVersion(t *testing.T) {
	for path, version := range engine.VerifiedVersions() {
		if err := engine.CheckVersions(map[string]string{path: version}); err != nil {
			t.Error(err)
		}
		for _, other := range []string{"v0.99.0", "../mine ", version + "-0.20260101000000-abcdefabcdef"} {
			if err := engine.CheckVersions(map[string]string{path: other}); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s %s is taken: %v", path, other, err)
			}
		}
	}
	if err := engine.CheckVersions(nil); err != nil {
		t.Errorf("a program that does not name its modules: %v", err)
	}
}
