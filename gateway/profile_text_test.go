package gateway_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// TestTextOnlyKeepsTheText in every envelope: a profile of text alone lists no output
// schema and has no structured content, and the rest of a result is that of others.
func TestTextOnlyKeepsTheText(t *testing.T) {
	for _, form := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		for name, body := range map[string]string{"object": `{"id":1}`, "list": `[1,2]`, "broken": `{"id":"x"}`} {
			for _, fixed := range []bool{false, true} {
				whole := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{textTool(form, body, fixed)}}}}, gateway.BuildOptions{})
				plain := whole.Adapted(&gateway.Profile{TextOnly: true})
				want, got := callGet(t, whole), callGet(t, plain)
				_, schema := plain.Find("get").Schemas()
				if listed := schema != nil; listed != fixed || (got.Structured != nil) != (fixed && want.Structured != nil) {
					t.Errorf("%s, %s, fixed %v: an output schema is listed: %v; structured content is %s", form, name, fixed, listed, got.Structured)
				}
				if form == tenon.Native && name == "list" && !fixed { // one text, see TestAListIsOneText
					want.Content = []tenon.Content{{Text: []byte(body)}}
				}
				if diff := cmp.Diff(want.Content, got.Content); diff != "" {
					t.Errorf("%s, %s: the text differs:\n%s", form, name, diff)
				}
				if diff := cmp.Diff(string(want.Meta), string(got.Meta)); diff != "" {
					t.Errorf("%s, %s: the verdict differs:\n%s", form, name, diff)
				}
			}
		}
	}
}

func textTool(form tenon.Envelope, body string, fixed bool) tenon.Tool {
	schema := `{"anyOf":[{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},{"type":"array"}]}`
	return tenon.Tool{
		Name: "get", Envelope: form, Policy: tenon.Warn, Fixed: fixed,
		Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(schema)}}},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(body)}, nil
		},
	}
}

func callGet(t *testing.T, c *gateway.Catalog) *tenon.Result {
	t.Helper()
	r, err := gateway.New(c, gateway.Options{}).Call(t.Context(), &tenon.Call{Tool: "get", Args: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
