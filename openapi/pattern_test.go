package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/openapi"
)

// Patterns that cannot be run are told when a document is read.
func TestPatternsThatCannotBeRunAreTold(t *testing.T) {
	const doc = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{
  "properties":{
    "a":{"type":"string","pattern":"(?>a)\"b"},
    "b":{"type":"string","pattern":"^(?=.*\\d)[\\w\\-]{1,4000}$"},
    "pattern":{"type":"string"}
  },
  "patternProperties":{
    "(?>c)":{"type":"null"}
  }}}}}}}}}}`
	var told []string
	for _, f := range load(t, doc, openapi.Options{}).Diagnostics {
		told = append(told, strings.TrimSpace(f.String()))
	}
	want := []string{
		`doc.json:3: the pattern "(?>a)\"b" is not supported: values are not validated against it`,
		`doc.json:8: the pattern "(?>c)" is not supported: values are not validated against it`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("got %q\nwant %q", told, want)
	}
}

// A quote in a pattern is escaped, and is not the end of its text.
func TestQuotesInPatterns(t *testing.T) {
	for pattern, unsupported := range map[string]bool{
		`^\"a\"$`: false, `\"`: false, `\\`: true, `\\\"`: false, `a\\\\`: false, `(?>a)\"b`: true, `\"(?>a)`: true, `\\\\\"(?>a)`: true,
	} {
		doc := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{
  "properties":{"a":{"type":"string","pattern":"` + pattern + `"}}}}}}}}}}}`
		told := false
		for _, f := range load(t, doc, openapi.Options{}).Diagnostics {
			told = told || strings.Contains(f.Message, "is not supported")
		}
		if told != unsupported {
			t.Errorf("%s: reported %v, want %v", pattern, told, unsupported)
		}
	}
}
