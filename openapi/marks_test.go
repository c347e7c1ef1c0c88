package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// Whatever a document says of its operations, it never makes a call less
// careful than the method does, unless the operator trusts it.
func TestMarksNeverLowerTheGuard(t *testing.T) {
	yes := true
	marks := []string{
		`"x-mcp-safe":true`, `"x-mcp-safe":false`, `"x-mcp-destructive":true`, `"x-mcp-destructive":false`,
		`"x-mcp-idempotent":true`, `"x-mcp-idempotent":false`, `"x-mcp-open-world":true`, `"x-mcp-open-world":false`,
	}
	operation := func(method, name, marks string) tenon.Features {
		return load(t, fmt.Sprintf(`{"openapi":"3.0.0","servers":[{"url":"https://api.test"}],"paths":{"/things":{%q:{"operationId":%q%s}}}}`, method, name, marks), openapi.Options{})
	}
	for _, method := range []string{"get", "post", "put", "patch", "delete"} {
		for _, name := range []string{"things", "deleteThings"} {
			plain := operation(method, name, "").Tools[0]
			for set := range 1 << len(marks) {
				text := ""
				for i, mark := range marks {
					if set&(1<<i) != 0 && (i%2 == 0 || set&(1<<(i-1)) == 0) { // not both values of one
						text += "," + mark
					}
				}
				offer := operation(method, name, text)
				tool := offer.Tools[0]
				if tool.Confirmation.Action == "" && plain.Confirmation.Action != "" || lower(plain.Annotations, tool.Annotations) {
					t.Fatalf("%s %s with %s: consent %q, hints %s; without %q, %s", method, name, text, tool.Confirmation.Action, hints(tool.Annotations), plain.Confirmation.Action, hints(plain.Annotations))
				}
			}
		}
	}
	offer := operation("delete", "drop", `,"x-mcp-safe":true`)
	if len(offer.Diagnostics) != 1 || !strings.Contains(offer.Diagnostics[0].Message, "x-mcp-safe of DELETE /things") || !strings.Contains(offer.Diagnostics[0].Hint, "--trust-marks") {
		t.Errorf("told at start: %v", offer.Diagnostics)
	}
	if tool := operation("get", "destroyAll", `,"x-mcp-destructive":true`).Tools[0]; tool.Confirmation.Action == "" || tool.Annotations.ReadOnly != nil {
		t.Errorf("a GET that destroys needs consent: %+v", tool)
	}
	doc := `{"openapi":"3.0.0","servers":[{"url":"https://api.test"}],"paths":{"/things":{"post":{"operationId":"find","x-mcp-safe":true}}}}`
	for _, c := range []struct {
		o    openapi.Options
		want int
	}{
		{openapi.Options{Selection: openapi.Selection{ReadOnly: true}}, 0},
		{openapi.Options{Selection: openapi.Selection{ReadOnly: true}, TrustMarks: true}, 1},
		{openapi.Options{Selection: openapi.Selection{ReadOnly: true}, Overrides: []openapi.OperationOverride{{Operations: "find", Safe: &yes}}}, 1},
	} {
		if offer := load(t, doc, c.o); len(offer.Tools) != c.want {
			t.Errorf("%+v: %d tools, want %d", c.o, len(offer.Tools), c.want)
		}
	}
}

// lower tells whether annotations claim more than those of the method.
func lower(method, marked tenon.Annotations) bool {
	is := func(b *bool, value bool) bool { return b != nil && *b == value }
	return is(marked.ReadOnly, true) && !is(method.ReadOnly, true) ||
		is(marked.Destructive, false) && !is(method.Destructive, false) && !is(method.ReadOnly, true) ||
		is(marked.Idempotent, true) && !is(method.Idempotent, true) || is(marked.OpenWorld, false)
}
