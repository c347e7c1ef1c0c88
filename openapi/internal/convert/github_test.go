package convert

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// github is GitHub's description, which TENON_OPENAPI_GITHUB names.
func github(tb testing.TB) []byte {
	tb.Helper()
	name := os.Getenv("TENON_OPENAPI_GITHUB")
	if name == "" {
		tb.Skip("NOT TESTED against GitHub's description: TENON_OPENAPI_GITHUB names no file")
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// everyComponent converts all component schemas in both directions.
func everyComponent(d *Converter) (all []Fragment) {
	for _, schemas := range []document.Value{d.Root.Get("components").Get("schemas"), d.Root.Get("definitions")} {
		for key := range schemas.Each() {
			for _, dir := range []Direction{Input, Output} {
				all = append(all, d.definition(schemas.Get(key), dir).fragment())
			}
		}
	}
	return all
}

func TestEveryComponentOfGitHubCompiles(t *testing.T) {
	raw := github(t)
	start := time.Now()
	d, err := parseConverter("github.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	parsed := time.Since(start)
	all := everyComponent(d)
	t.Logf("parsed in %v, %d schemas converted in %v", parsed, len(all), time.Since(start)-parsed)
	if len(all) < 1000 {
		t.Errorf("only %d schemas", len(all))
	}
	for _, f := range d.Diagnostics() {
		t.Log(f)
	}
	for _, f := range all {
		if err := compiles(Assemble(f.Body, f.Deps)); err != nil {
			t.Errorf("%.200s: %v", f.Body, err)
		}
	}
}

// compiles reports whether another implementation takes a schema.
func compiles(schema []byte) error {
	if err := rawjson.Check(schema); err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return err
	}
	_, err = c.Compile("mem:///schema.json")
	return err
}

func BenchmarkParseGitHub(b *testing.B) {
	raw := github(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseConverter("github.json", raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConvertGitHub(b *testing.B) {
	raw := github(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		d, err := parseConverter("github.json", raw)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		everyComponent(d)
	}
}

func BenchmarkAssembleGitHub(b *testing.B) {
	d, err := parseConverter("github.json", github(b))
	if err != nil {
		b.Fatal(err)
	}
	all := everyComponent(d)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range all {
			b.SetBytes(int64(len(Assemble(f.Body, f.Deps))))
		}
	}
}
