package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

// TestDemo plays the whole demo and compares what it prints with the golden
// file.
func TestDemo(t *testing.T) {
	var out, errs strings.Builder
	code := run(t.Context(), env{in: strings.NewReader(""), out: &out, err: &errs, getenv: os.LookupEnv}, []string{"demo", "--once"})
	if code != 0 {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	golden := filepath.Join("testdata", "demo.golden")
	got := masked(out.String())
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) || len(want) == 0 {
		t.Errorf("the demo prints something else than %s (UPDATE_GOLDEN=1 rewrites it):\n%s", golden, got)
	}
}

// TestExpectationsCanFail gives each check of the demo a result that is not
// what it wants: a demo that cannot fail would show nothing.
func TestExpectationsCanFail(t *testing.T) {
	fits, violated := toolResult{Result: &tenon.Result{}}, toolResult{Result: &tenon.Result{}}
	fits.Structured = []byte(`{"data":{"id":1}}`)
	fits.meta.Contract.Verdict, fits.meta.Contract.Executed, fits.meta.Contract.Retry = "fits", "no", "safe"
	violated.IsError = true
	violated.Structured = []byte(`{"error":{"code":"contract_violation"}}`)
	violated.meta.Contract.Verdict = "violated"
	checks := map[string]struct {
		check func(toolResult) error
		wrong toolResult
	}{
		"a violation is no fit":           {expect(false, "fits", "data"), violated},
		"a fit has its data":              {expect(false, "fits", "rows"), fits},
		"a result without an image":       {expectImage, fits},
		"a fit is no violation":           {expectViolation(false), fits},
		"a violation that names no place": {expectViolation(true), violated},
		"another code":                    {expectCode("not_found"), violated},
		"a success has no error":          {expectCode("not_found"), fits},
		"nothing was executed":            {expectExecuted("yes", "unsafe"), fits},
		"an empty result fits in nothing": {expect(false, "fits", "data"), toolResult{Result: &tenon.Result{}}},
	}
	for name, c := range checks {
		if err := c.check(c.wrong); err == nil {
			t.Errorf("%s: the check is content", name)
		}
	}
}
