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
		reply  tenon.Response
		says   string
		native bool // only where there is no envelope
	}{
		"a value that breaks its schema": {jsonReply(200, `{"count":"12"}`), `This answer breaks its published schema: /count: expected integer, got "12".`, false},
		"the whole":                      {jsonReply(200, `[1]`), "This answer breaks its published schema: expected object, got [1].", false},
		"a status that is not declared":  {jsonReply(202, `{}`), "This answer breaks its published schema: expected 200, got 202.", false},
		"a page under a JSON type":       {jsonReply(200, `<html>`), "This answer is not the JSON that its media type says: ", false},
		"null":                           {jsonReply(200, `null`), "The service answered 200 with null.", true},
		"no body":                        {tenon.Response{Status: http.StatusNoContent}, "The service answered 204 without a body.", true},
		"a value that fits":              {jsonReply(200, `{"count":12}`), "", false},
	}
	for name, tt := range tests {
		for _, s := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				answers := []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(schema)}}
				if tt.native {
					answers = []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{}`)}, {Status: "204"}}
				}
				tool := tenon.Tool{Envelope: s, Policy: tenon.Warn, MaxResult: 200, Contract: tenon.Contract{Responses: answers}}
				res := call(t, one(tool, answer(tt.reply)), `{}`)
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
