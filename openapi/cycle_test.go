package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// Long ways through a document take time that grows with their length, not with
// its square: these would take hours.
func TestLongWaysThroughADocument(t *testing.T) {
	const last = 30_000
	next := func(i int) string { return fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1) }
	for name, test := range map[string]struct {
		link func(i int) string
		end  string
		want string // in the definition
	}{
		"references":             {next, `{"type":"object","required":["end"]}`, `"required":["end"]`},
		"references in a circle": {next, `{"$ref":"#/components/schemas/S0"}`, `"type":"object"`},
		"unions in a circle": {
			func(i int) string { return `{"anyOf":[` + next(i) + `,{"type":"null"}]}` }, `{"$ref":"#/components/schemas/S0"}`, `"type":"object"`,
		},
		"members": {func(i int) string { return `{"properties":{"a":` + next(i) + `}}` }, `{}`, `"type":"object"`},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range last {
				fmt.Fprintf(&b, `"S%d":%s,`, i, test.link(i))
			}
			answer := `{"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}`
			doc := fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":%s}},"components":{"schemas":{%s"S%d":%s}}}`,
				answer, b.String(), last, test.end)
			c := gateway.Build([]gateway.Mount{{Name: "a", Features: load(t, doc, openapi.Options{})}}, gateway.BuildOptions{})
			if got := string(c.Tools()[0].Definition()); !strings.Contains(got, test.want) {
				t.Errorf("got %.2000s", got)
			}
			c.Tools()[0].Diagnostics() // compiles
		})
	}
}
