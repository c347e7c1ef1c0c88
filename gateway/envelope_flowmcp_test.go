package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

// TestFlowMCPEnvelope compares the envelope with its page, and with the schema
// that the same tool publishes.
func TestFlowMCPEnvelope(t *testing.T) {
	image := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "2XX", MediaType: "image/png"}}}
	png := tenon.Response{Status: 200, MediaType: "image/png", Body: []byte("\x89PNG")}
	for _, c := range []struct {
		name     string
		contract tenon.ContractProvider
		policy   tenon.Policy
		resp     tenon.Response
		args     string
		want     string
	}{
		{"a success", bookContract(), tenon.Warn, jsonResponse(200, `{"title":"Emma"}`), `{"id":1}`, `{"status":true,"messages":[],"data":{"title":"Emma"}}`},
		{"a mismatch under warn is delivered", bookContract(), tenon.Warn, jsonResponse(200, `[1]`), `{"id":1}`, `{"status":true,"messages":[],"data":[1]}`},
		{
			"a mismatch under enforce is not", bookContract(), tenon.Enforce, jsonResponse(200, `{"title":1}`), `{"id":1}`,
			`{"status":false,"messages":["E005 get_book: The response of get_book violates its schema: title: expected string, got 1"],"data":null}`,
		},
		{"an HTTP status", bookContract(), tenon.Warn, jsonResponse(404, `{"title":"gone"}`), `{"id":1}`, `{"status":false,"messages":["E001 get_book: HTTP 404 Not Found: gone"],"data":null}`},
		{"bad arguments", bookContract(), tenon.Warn, jsonResponse(200, `{}`), `{}`, `{"status":false,"messages":["E002 get_book: Invalid arguments: id: required field missing"],"data":null}`},
		{"an undescribed answer", tenon.Contract{}, tenon.Warn, jsonResponse(200, `"x"`), `{}`, `{"status":true,"messages":[],"data":"x"}`},
		{"a picture is base64", image, tenon.Enforce, png, `{}`, `{"status":true,"messages":[],"data":"iVBORw=="}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := one(tenon.Tool{Contract: c.contract, Policy: c.policy, Envelope: tenon.FlowMCP}, answer(c.resp))
			res := call(t, g, c.args)
			if diff := cmp.Diff(c.want, string(res.Structured)); diff != "" {
				t.Errorf("structured content (-want +got):\n%s", diff)
			}
			if string(res.Content[0].Text) != string(res.Structured) {
				t.Errorf("the text copy is %s", res.Content[0].Text)
			}
			_, output := g.Catalog().Find("get_book").Schemas()
			published, err := schema.Compile(output, schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diagnostics := published.Validate(res.Structured); len(diagnostics) > 0 {
				t.Errorf("the result does not fit %s: %v", output, diagnostics)
			}
		})
	}
}

// TestFlowMCPNumbers: an error that no status is behind has the number of its code,
// with three digits, and one that its author chose the last number.
func TestFlowMCPNumbers(t *testing.T) {
	own := tenon.CodeInfo{Code: "out_of_stock", Number: 99}
	atStart := tenon.CodeInfo{Code: tenon.CodeUsage, Number: 99} // no tool's
	for _, c := range append(tenon.Codes(), own, atStart) {
		g := one(tenon.Tool{Envelope: tenon.FlowMCP}, func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{}, tenon.Errorf(c.Code, "no copies")
		})
		want := fmt.Sprintf(`{"status":false,"messages":["E%03d get_book: no copies"],"data":null}`, c.Number)
		if got := string(call(t, g, `{}`).Structured); got != want {
			t.Errorf("%s: %s, not %s", c.Code, got, want)
		}
	}
}

// TestFlowMCPPicture has the bytes once as a string and once as a block.
func TestFlowMCPPicture(t *testing.T) {
	g := one(tenon.Tool{Envelope: tenon.FlowMCP}, answer(tenon.Response{Status: 200, MediaType: "image/png", Body: []byte("\x89PNG")}))
	res := call(t, g, `{}`)
	if len(res.Content) != 2 || res.Content[1].Type != tenon.ImageContent || string(res.Content[1].Data) != "\x89PNG" {
		t.Errorf("content is %+v", res.Content)
	}
}

// TestFlowMCPPublishes compares the published schema with the design's words.
func TestFlowMCPPublishes(t *testing.T) {
	const envelope = `{"type":"object","properties":{"status":{"type":"boolean"},"messages":{"type":"array","items":{"type":"string"}},"data":%},"required":["status","messages","data"]}`
	text := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "2XX", MediaType: "text/plain"}}}
	for _, c := range []struct {
		name     string
		contract tenon.ContractProvider
		policy   tenon.Policy
		data     string
	}{
		{"nothing declared", nil, tenon.Warn, `{}`},
		{"advice", text, tenon.Warn, `{"anyOf":[{"type":"string"},{"type":["object","array","string","integer","number","boolean","null"],"items":{"type":["object","array","string","integer","number","boolean","null"]}}]}`},
		{"enforced", text, tenon.Enforce, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
	} {
		g := one(tenon.Tool{Contract: c.contract, Policy: c.policy, Envelope: tenon.FlowMCP}, answer(tenon.Response{}))
		_, output := g.Catalog().Find("get_book").Schemas()
		before, after, _ := strings.Cut(envelope, "%")
		if want := before + c.data + after; string(output) != want || !json.Valid(output) {
			t.Errorf("%s: published\n%s, want\n%s", c.name, output, want)
		}
	}
}
