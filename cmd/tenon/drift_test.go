package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/evidence"
)

// writeShop writes a shop whose ledger has a violation and an undeclared status, and
// two baselines.
func writeShop(t *testing.T) {
	t.Helper()
	write(t, "shop.json", `{"openapi":"3.1.0","info":{"title":"shop","version":"1"},"servers":[{"url":"https://shop.example"}],"paths":{
"/books/{id}":{"get":{"operationId":"getBook","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Book"}}}}}}},
"/books":{"get":{"operationId":"listBooks","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Book"}}}}}}}}},
"components":{"schemas":{"Book":{"type":"object","properties":{
"price":{"type":"number"}}}}}}`)
	write(t, "ledger.ndjson", shopLedger(t))
	for name, text := range map[string]string{
		"known.yaml":   "known:\n  - id: " + idOf(t, "type") + "\n    reason: prices are texts until v2\n    until: 2999-01-01\n  - id: " + idOf(t, "status") + "\n    reason: a joke\n",
		"expired.yaml": "known:\n  - {id: " + idOf(t, "type") + ", reason: gone, until: 2001-01-01}\n  - {id: " + idOf(t, "status") + ", reason: a joke}\n",
	} {
		write(t, name, text)
	}
}

// driftOf runs drift on the shop.
func driftOf(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeShop(t)
	var stdout strings.Builder
	e := env{in: strings.NewReader(""), out: &stdout, err: io.Discard, getenv: func(string) (string, bool) { return "", false }}
	code = run(t.Context(), e, append([]string{"drift", "--evidence", "ledger.ndjson", "shop.json"}, args...))
	return stdout.String(), code
}

// shopLedger is a ledger of the shop.
func shopLedger(t *testing.T) string {
	t.Helper()
	d := drift{sources: unasked(onDemand(newSources(0))), now: time.Now}
	d.dry = true
	d.config.AddSpec("shop.json")
	w, err := d.start(t.Context(), env{err: io.Discard, getenv: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	text := `{"tenon":"evidence","version":1}` + "\n"
	for _, x := range describedOf(w) {
		key := `{"writer":"0123456789abcdef","schema":"` + evidence.Digest(x.Responses) + `","origin":"https://shop.example","operation":"` + x.Name + `","status":"200","mediaType":"application/json",`
		text += key + `"calls":9,"fits":6,"violated":3,"first":"2026-01-02T03:04:05Z","last":"2026-01-03T03:04:05Z"}` + "\n" +
			key + `"pointer":"/$defs/Book/properties/price","keyword":"type","kind":"string","calls":3,"first":"2026-01-02T03:04:05Z","last":"2026-01-03T03:04:05Z"}` + "\n"
		if x.Name == "getBook" {
			key = strings.Replace(key, `"status":"200"`, `"status":"418"`, 1)
			text += key + `"calls":1,"violated":1}` + "\n" + key + `"pointer":"","keyword":"status","calls":1}` + "\n"
		}
	}
	return text
}

// idOf is the id of the drift of a keyword.
func idOf(t *testing.T, keyword string) string {
	t.Helper()
	var stdout strings.Builder
	e := env{in: strings.NewReader(""), out: &stdout, err: io.Discard, getenv: func(string) (string, bool) { return "", false }}
	run(t.Context(), e, []string{"drift", "--json", "--evidence", "ledger.ndjson", "shop.json"})
	var report driftJSON
	if err := json.Unmarshal([]byte(stdout.String()), &report); err != nil {
		t.Fatal(err)
	}
	for _, i := range report.Issues {
		if i.Rule == keyword {
			return i.ID
		}
	}
	t.Fatalf("%s: no drift of %s", stdout.String(), keyword)
	return ""
}

// One cause is one line, and exit 1 says that something is not known.
func TestDrift(t *testing.T) {
	out, code := driftOf(t)
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{
		"getBook and 1 more  Book/properties/price", "number    string      6 of 18", "2026-01-02",
		"418 application/json   200       status 418  1 of 1", "2 places differ, 0 of them known; 19 responses", "called: 2 of 2 operations; came: 2 of 2 declared responses",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestDriftBaseline(t *testing.T) {
	out, code := driftOf(t, "--baseline", "known.yaml")
	if code != exitOK || !strings.Contains(out, "(known: prices are texts until v2)") || !strings.Contains(out, "2 of them known") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code := driftOf(t, "--baseline", "expired.yaml"); code != exitFailed || !strings.Contains(out, "(known until 2001-01-01)") || !strings.Contains(out, "1 of them known") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestBadBaseline(t *testing.T) {
	for text, want := range map[string]string{
		"known: [{reason: x}]":                            "entry 1: it has no id",
		"known: [{id: a}]":                                "entry 1: a has no reason",
		"known: [{id: a, reason: b, until: soon}]":        `which is not a day such as 2027-01-31`,
		"known: [{id: a, reason: b}, {id: a, reason: c}]": "entry 2: the id a is there twice",
		"know: []":               `unknown field "know"`,
		"known: [null]":          "entry 1: it has no id",
		"known: {":               "--baseline bad.yaml",
		strings.Repeat(" ", 2e6): "more than",
	} {
		t.Run("", func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "bad.yaml", text)
			if _, err := readBaseline("bad.yaml", time.Now()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: %v, want %s", text, err, want)
			}
		})
	}
}

// FuzzBaseline: what is read has an id and a reason, is known until its day has ended, and
// is the same when it is written and read again.
func FuzzBaseline(f *testing.F) {
	f.Add("known:\n  - id: 3f2a9c01de\n    reason: prices are texts until v2\n    until: 2027-01-31\n")
	f.Add("known: [{id: a, reason: b}, {id: a, reason: c}, null]")
	f.Fuzz(func(t *testing.T, text string) {
		now := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)
		known, err := parseBaseline([]byte(text), now)
		if err != nil {
			return
		}
		var all []*knownDrift
		for id, k := range known {
			until, err := time.Parse(time.DateOnly, k.Until)
			if k.ID != id || k.ID == "" || k.Reason == "" || k.Until != "" && err != nil || k.expired != (k.Until != "" && until.Year() < 2026 || until.Year() == 2026 && until.YearDay() < 365) {
				t.Fatalf("%q: %+v", text, k)
			}
			all = append(all, k)
		}
		written, err := json.Marshal(map[string]any{"known": all})
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseBaseline(written, now)
		if err != nil || len(again) != len(known) {
			t.Fatalf("%q: %v, %d of %d", written, err, len(again), len(known))
		}
	})
}

// What drift prints as SARIF is SARIF by its own schema, which a module of the linter's
// has.
func TestSARIF(t *testing.T) {
	schemaFile := sarifSchema(t)
	out, code := driftOf(t, "--sarif", "--baseline", "expired.yaml")
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if n := strings.Count(out, `"startLine": 5`); n != 1 { // two operations share the definition
		t.Errorf("the line of the definition is there %d times: %s", n, out)
	}
	for _, text := range []string{out, emptySARIF(t)} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		s, err := c.Compile(schemaFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value); err != nil {
			t.Error(err)
		}
		value.(map[string]any)["version"] = "9" //nolint:errcheck,forcetypeassert // it is an object
		if s.Validate(value) == nil {
			t.Error("the schema accepts everything")
		}
	}
}

func emptySARIF(t *testing.T) string {
	t.Helper()
	write(t, "empty.ndjson", "")
	var stdout strings.Builder
	e := env{in: strings.NewReader(""), out: &stdout, err: io.Discard, getenv: func(string) (string, bool) { return "", false }}
	if code := run(t.Context(), e, []string{"drift", "--sarif", "--evidence", "empty.ndjson", "shop.json"}); code != exitOK {
		t.Errorf("exit %d", code)
	}
	return stdout.String()
}

// sarifSchema finds the schema of SARIF among what the linter needs.
func sarifSchema(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-modfile=../../.ci/tools/go.mod", "-f", "{{.Dir}}", "github.com/securego/gosec/v2")
	list.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	dir, err := list.Output()
	name := filepath.Join(strings.TrimSpace(string(dir)), "report", "sarif", "testdata", "sarif-schema-2.1.0.json")
	if _, missing := os.Stat(name); err != nil || missing != nil {
		t.Skip("the schema of SARIF is in the module github.com/securego/gosec/v2 of the linter, which is not here: 'make lint' fetches it")
	}
	return name
}
