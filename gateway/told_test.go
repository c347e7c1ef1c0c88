package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

// TestTheModelIsTold: what a model would take for something else is said in the
// last text block, since it reads neither _meta nor statuses.
func TestTheModelIsTold(t *testing.T) {
	const schema = `{"type":"object","properties":{"count":{"type":"integer"},"items":{"type":"array"}}}`
	tests := map[string]struct {
		resp   tenon.Response
		says   string
		native bool // only where there is no envelope
	}{
		"a value that breaks its schema": {jsonResponse(200, `{"count":"12"}`), `This answer breaks its published schema: /count: expected integer, got "12".`, false},
		"the whole":                      {jsonResponse(200, `[1]`), "This answer breaks its published schema: expected object, got [1].", false},
		"a status that is not declared":  {jsonResponse(202, `{}`), "This answer breaks its published schema: expected 200, got 202.", false},
		"a page under a JSON type":       {jsonResponse(200, `<html>`), "This answer is not JSON, although its media type says so: ", false},
		"null":                           {jsonResponse(200, `null`), "The service answered 200 with null.", true},
		"no body":                        {tenon.Response{Status: http.StatusNoContent}, "The service answered 204 without a body.", true},
		"a value that fits":              {jsonResponse(200, `{"count":12}`), "", false},
	}
	for name, tt := range tests {
		for _, s := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				answers := []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(schema)}}
				if tt.native {
					answers = []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{}`)}, {Status: "204"}}
				}
				tool := tenon.Tool{Envelope: s, Policy: tenon.Warn, MaxResult: 200, Contract: tenon.Contract{Responses: answers}}
				res := call(t, one(tool, answer(tt.resp)), `{}`)
				var said []string
				for _, b := range res.Content {
					said = append(said, string(b.Text))
				}
				if want := tt.says; tt.native && s != tenon.Native || want == "" {
					if len(said) != 1 || strings.Contains(said[0], "This answer") {
						t.Errorf("said %q", said)
					}
				} else if !strings.Contains(strings.Join(said, "\n"), want) || strings.Contains(string(res.Structured), want) {
					t.Errorf("said %q, want %q", said, want)
				}
				if v := verdictOf(t, res); v.Executed != "yes" || v.Retry != "safe" {
					t.Errorf("executed %s, retry %s", v.Executed, v.Retry)
				}
			})
		}
	}
}

// A value fits only where all of its schema could be checked.
func TestAPatternThatCannotRunLeavesTheVerdictOpen(t *testing.T) {
	contract := tenon.Contract{Responses: []tenon.ResponseSchema{{
		Status: "200", MediaType: "application/json",
		Schema: []byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"(?>a)"},"n":{"type":"integer"}}}`),
	}}}
	for body, want := range map[string]string{`{"a":"x"}`: "unchecked", `{"n":1}`: "fits", `{"a":"x","n":"y"}`: "violated"} {
		res := call(t, one(tenon.Tool{Policy: tenon.Warn, Contract: contract}, answer(jsonResponse(200, body))), `{"id":1}`)
		if got := verdictOf(t, res).Verdict; got != want {
			t.Errorf("%s: the verdict is %q, want %q", body, got, want)
		}
	}
}
