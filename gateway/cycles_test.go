package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

// A recursive input schema is published without its cycle, and arguments are
// validated, and get their original names back, below where it was broken.
func TestRecursiveInput(t *testing.T) {
	const input = `{"type":"object","properties":{"f":{"$ref":"#/$defs/F"}},"$defs":{"F":{"type":"object","properties":{"_n":{"type":"integer"},"in":{"$ref":"#/$defs/F"}}}}}`
	const broken = `"in":{"type":"object","description":"As #/$defs/F describes, nested to any depth."}`
	for _, raw := range []bool{false, true} {
		var arrived string
		g := one(tenon.Tool{Contract: tenon.Contract{Input: []byte(input)}, RawSchemas: raw}, func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			arrived = string(c.Args)
			return jsonResponse(200, `{}`), nil
		})
		e := g.Catalog().Tools()[0]
		if got, _ := e.Schemas(); strings.Contains(string(got), broken) == raw {
			t.Errorf("raw %t: %s", raw, got)
		}
		if told := e.Diagnostics(); len(told) != 1 || !strings.Contains(told[0].Message, "is recursive") {
			t.Errorf("raw %t: %v", raw, told)
		}
		res, _ := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Args: []byte(`{"f":{"in":{"in":{"n":"x"}}}}`)})
		if !res.IsError || arrived != "" {
			t.Errorf("raw %t: a violation below the first round arrived: %s", raw, arrived)
		}
		_, _ = g.Call(t.Context(), &tenon.Call{Tool: "get_book", Args: []byte(`{"f":{"in":{"in":{"n":1}}}}`)})
		if want := `{"f":{"in":{"in":{"_n":1}}}}`; arrived != want {
			t.Errorf("raw %t: %s arrived, want %s", raw, arrived, want)
		}
	}
}
