package flowmcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// marked has a tool whose values are marks that name nothing.
const marked = `export const main = { namespace: 'air', name: 'Air', description: 'Air', version: '4.0.0', root: 'https://air.example',
  requiredServerParams: [ 'AIR_KEY' ], tools: { city: { method: 'GET', path: '/feed/:city', description: 'The air of a city', parameters: [
    { position: { key: 'city', value: '{{CITY}}', location: 'insert' }, z: { primitive: 'string()', options: [ 'min(2)' ] } },
    { position: { key: 'token', value: '{{AIR_KEY}}', location: 'query' }, z: { primitive: 'string()', options: [] } },
    { position: { key: 'days', value: '{{DAYS}}', location: 'query' }, z: { primitive: 'number()', options: [ 'max(9)' ] } },
    { position: { key: 'unit', value: '{{UNIT}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } },
    { position: { key: 'q', value: 'lat:{{LAT}} lon:{{LON}} {{LOST}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } },
    { position: { key: 'hidden', value: '{{HIDDEN}}', location: 'query' }, z: { primitive: 'string()', options: [] } },
  ], tests: [ { _description: 'one', CITY: 'ulm', days: 3, LAT: '1', LON: '2' } ] } } }`

// TestCallerMarks takes marks for arguments that the cases give.
func TestCallerMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		callerMarks  bool
		input, query string
	}{
		"with": {
			true, `{"type":"object","properties":{"CITY":{"type":"string","minLength":2},"days":{"type":"number","maximum":9},` +
				`"unit":{"type":"string"},"LAT":{"type":"string"},"LON":{"type":"string"}},"required":["CITY","days"],"additionalProperties":false}`,
			"https://air.example/feed/ulm?token=secret&days=3&q=lat%3A1+lon%3A2+%7B%7BLOST%7D%7D&hidden=",
		},
		"without": {false, `{"type":"object","properties":{}}`, "https://air.example/feed/?token=secret&days=&unit=&q=lat%3A+lon%3A%7B%7BLON%7D%7D+%7B%7BLOST%7D%7D&hidden="},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			features, err := flowmcp.New(write(t, "Air.mjs", marked), flowmcp.Options{
				ImplicitParameters: tt.callerMarks, Client: &http.Client{Transport: rec}, Env: func(string) (string, bool) { return "secret", true },
			}).Load(t.Context())
			if err != nil || len(features.Tools) != 1 {
				t.Fatal(features.Diagnostics, err)
			}
			contract, err := features.Tools[0].Contract.Contract()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.input, string(contract.Input)); diff != "" {
				t.Error(diff)
			}
			if _, err := features.Tools[0].Handler(t.Context(), &tenon.Call{Args: json.RawMessage(`{"CITY":"ulm","days":3,"LAT":"1","LON":"2"}`)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.query, rec.last.URL); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCallerMarksAreReported by their own code, and by the letter they stay
// errors.
func TestCallerMarksAreReported(t *testing.T) {
	for name, tt := range map[string]struct {
		options   flowmcp.Options
		asked     int
		nameless  int
		lostValue flowmcp.Severity
	}{
		"with":          {flowmcp.Options{ImplicitParameters: true}, 5, 2, flowmcp.Warning},
		"without":       {flowmcp.Options{}, 0, 7, flowmcp.Warning},
		"by the letter": {flowmcp.Options{ImplicitParameters: true, Strict: true}, 0, 7, flowmcp.Fatal},
	} {
		t.Run(name, func(t *testing.T) {
			asked, nameless := 0, 0
			for _, f := range check(t, marked, tt.options).Findings {
				switch {
				case f.Code == "VAL091":
					asked++
				case f.Code == "VAL087" && f.Severity == tt.lostValue:
					nameless++
				case f.Code == "VAL087":
					t.Error(f)
				}
				if strings.Contains(f.Message, "AIR_KEY") && f.Code != "VAL086" {
					t.Error(f)
				}
			}
			if asked != tt.asked || nameless != tt.nameless {
				t.Errorf("%d arguments and %d marks that name nothing, want %d and %d", asked, nameless, tt.asked, tt.nameless)
			}
		})
	}
}
