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
		`doc.json:3: the pattern "(?>a)\"b" cannot be run: values are not checked against it`,
		`doc.json:8: the pattern "(?>c)" cannot be run: values are not checked against it`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("got %q\nwant %q", told, want)
	}
}
