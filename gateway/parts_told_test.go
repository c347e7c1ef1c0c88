package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// TestEachPartSaysWhatTheCallDid: the verdict with what led to it, what was
// executed, status and headers are those of the call, in each of its parts.
func TestEachPartSaysWhatTheCallDid(t *testing.T) {
	const list = `{"type":"object","properties":{"page":{"type":"integer"},"note":{"type":"string"},"items":{"type":"array"}},"required":["page"]}`
	items := `"items":[` + strings.Repeat(`{"id":1},`, 200) + `{}]`
	for name, tt := range map[string]struct {
		schema, body string
		policy       tenon.Policy
		sent         tenon.Execution
		says         string
	}{
		"violations": {list, `{"page":"x","note":7,` + items + `}`, tenon.Warn, tenon.Execution{}, `"violations":[{"path":"/page"`},
		"repairs":    {list, `{"page":"7","note":null,` + items + `}`, tenon.Repair, tenon.Execution{}, `"repairs":[{"path":"/page"`},
		"unchecked":  {strings.Replace(list, `{"type":"string"}`, `{"type":"string","pattern":"(?<=a+)*(?P>x)"}`, 1), `{"page":7,"note":"a",` + items + `}`, tenon.Enforce, tenon.Execution{}, `"unchecked":[{"path":"/note"`},
		"executed":   {list, `{"page":7,` + items + `}`, tenon.Enforce, tenon.Execution{Unsafe: tenon.Responded}, `"executed":"yes","retry":"unsafe"`},
	} {
		for _, form := range allEnvelopes {
			t.Run(name+", "+string(form), func(t *testing.T) {
				resp := jsonResponse(201, tt.body)
				resp.Execution, resp.Header = tt.sent, http.Header{"X-Request-Id": {"abc"}}
				g := one(tenon.Tool{Envelope: form, Policy: tt.policy, MaxResult: 1000, Contract: tenon.Contract{Responses: []tenon.ResponseSchema{
					{Status: "201", MediaType: "application/json", Schema: []byte(tt.schema)},
				}}}, answer(resp))
				var first string
				for args, number := `{}`, 1; ; number++ {
					res := call(t, g, args)
					var meta struct {
						Contract json.RawMessage `json:"tenon/contract"`
					}
					if err := json.Unmarshal(res.Meta, &meta); err != nil || res.IsError {
						t.Fatalf("%v: %s", err, res.Content[0].Text)
					}
					if first == "" {
						first = string(meta.Contract)
					}
					verdict := map[string]string{"violations": "violated", "repairs": "repaired", "unchecked": "unchecked", "executed": "fits"}[name]
					if string(meta.Contract) != first || !strings.Contains(first, `"verdict":"`+verdict+`"`) || !strings.Contains(first, tt.says) || !strings.Contains(first, `"status":201`) {
						t.Errorf("part %d says %s, the first %s, want %s", number, meta.Contract, first, tt.says)
					}
					if !strings.Contains(string(res.Meta)+string(res.Structured), `"abc"`) {
						t.Errorf("part %d does not tell the headers: %s", number, res.Meta)
					}
					p := partialOf(t, res)
					if p.ResumeToken == "" {
						if number < 3 {
							t.Errorf("there are %d parts", number)
						}
						break
					}
					args = `{"resume_token":"` + p.ResumeToken + `"}`
				}
			})
		}
	}
}

// TestOtherArgumentsBesideAToken are refused of a stream, too; those of the
// first call, and none, are not.
func TestOtherArgumentsBesideAToken(t *testing.T) {
	var items []string
	for range 60 {
		items = append(items, `{"n":1}`)
	}
	tool := tenon.Tool{MaxResult: 100, Fields: true, Contract: tenon.Contract{
		Input:     []byte(`{"type":"object","properties":{"page":{"type":"integer"}}}`),
		Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/x-ndjson", Schema: []byte(`{"type":"array","items":{"type":"object","properties":{"n":{},"m":{}}}}`)}},
	}}
	g := one(tool, answer(tenon.Response{Status: 200, MediaType: "application/x-ndjson", Items: partsOf(items...).seq()}))
	res := call(t, g, `{"page":7,"fields":["[].n"]}`)
	token := `"resume_token":"` + partialOf(t, res).ResumeToken + `"`
	for args, refused := range map[string]bool{
		`{"page":8,"fields":["[].n"],` + token + `}`:   true,
		`{"fields":["[].n"],` + token + `}`:            true,
		`{"page":7,` + token + `}`:                     true,
		`{"page":7,"fields":["[].m"],` + token + `}`:   true,
		`{"page":"7","fields":["[].n"],` + token + `}`: false,
		`{` + token + `}`:                              false,
	} {
		res := call(t, g, args)
		if got := res.IsError && res.Code == tenon.CodeValidation && strings.Contains(res.Message, "first call"); got != refused || !refused && partialOf(t, res).Part != 2 {
			t.Errorf("%s: refused %v: %s", args, got, res.Content[0].Text)
		}
	}
}

// TestATokenLivesTenMinutes, as it says.
func TestATokenLivesTenMinutes(t *testing.T) {
	catalog, _ := library(libraryBody(100, "n"), 1000, tenon.Native)
	g := gateway.New(catalog, gateway.Options{})
	var meta struct {
		Partial struct{ Expires time.Time } `json:"tenon/partial"`
	}
	began := time.Now().Truncate(time.Second)
	res := get(t, g, "list", "ann", `{"page":7}`)
	if err := json.Unmarshal(res.Meta, &meta); err != nil || meta.Partial.Expires.Before(began.Add(10*time.Minute)) || meta.Partial.Expires.After(time.Now().Add(10*time.Minute)) {
		t.Errorf("%v %s", err, res.Meta)
	}
}
