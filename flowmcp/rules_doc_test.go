package flowmcp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRulesAreDocumented compares the codes that this package and those below it write with
// those that docs/flowmcp-rules.md explains, in both directions.
func TestRulesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/flowmcp-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	explained, written := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]{2,3}\\d{3})`").FindAllSubmatch(text, -1) {
		explained[string(m[1])] = true
	}
	files, err := filepath.Glob("*.[gj][os]")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Glob("internal/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	catalogs, err := filepath.Glob("library/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(append(files, rules...), catalogs...)
	code := regexp.MustCompile(`["'` + "`" + `]((?:VAL|NAM|PRL|OUT|LST|RES|TST|SEC|CHK|PRM|PH|SKL|AGT|SEL|CAT|ID)\d{3})\b`)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllSubmatch(source, -1) {
			written[string(m[1])] = true
		}
	}
	for c := range written {
		if !explained[c] {
			t.Errorf("docs/flowmcp-rules.md does not explain %s", c)
		}
	}
	for c := range explained {
		if !written[c] {
			t.Errorf("docs/flowmcp-rules.md explains %s, which nothing writes", c)
		}
	}
}
