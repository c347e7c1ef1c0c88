package gateway_test

import (
	"encoding/json"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

var deliveredSchemas = []string{
	"", `{}`,
	`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`,
	`{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}`,
	`{"type":"array","items":{"type":"integer"}}`,
	`{"type":["string","null"]}`,
	`{"type":"null"}`,
}

var deliveredBodies = []string{``, `{"n":1}`, `{"n":"1"}`, `{"error":"e"}`, `[1,2]`, `["1"]`, `"text"`, `null`, `{"n":`, "1\n2\n", `{"mimeType":"a/b","bytes":1,"sha256":"","block":1}`}

func drawVariant(t *rapid.T) tenon.ResponseSchema {
	v := tenon.ResponseSchema{Status: rapid.SampledFrom([]string{"200", "200", "201", "204", "2XX", "default", "404", "3XX", "4XX", ""}).Draw(t, "declared status")}
	if v.Open = rapid.IntRange(0, 7).Draw(t, "open") == 0; v.Open {
		return v
	}
	v.MediaType = rapid.SampledFrom([]string{"", "application/json", "application/json", "application/problem+json", "*/*", "application/*", "text/plain", "text/*", "image/png", "image/*", "application/x-ndjson", "application/jsonl", "application/ndjson", "text/event-stream"}).Draw(t, "declared media")
	if v.MediaType != "" && !strings.HasPrefix(v.MediaType, "text/pl") && !strings.HasPrefix(v.MediaType, "image") {
		if s := rapid.SampledFrom(deliveredSchemas).Draw(t, "schema"); s != "" && v.MediaType != "text/*" {
			v.Schema = []byte(s)
		}
	}
	return v
}

func drawResponse(t *rapid.T) tenon.Response {
	r := tenon.Response{
		Status: rapid.SampledFrom([]int{200, 200, 201, 202, 204, 299, 0, 304, 404}).Draw(t, "status"),
		Body:   []byte(rapid.SampledFrom(deliveredBodies).Draw(t, "body")),
	}
	if len(r.Body) > 0 {
		r.MediaType = rapid.SampledFrom([]string{"", "application/json", "application/json; charset=utf-8", "application/problem+json", "text/plain", "text/json", "text/html", "image/png", "image/svg+xml", "application/pdf", "application/x-ndjson", "text/event-stream"}).Draw(t, "media")
	}
	if (strings.Contains(r.MediaType, "ndjson") || strings.Contains(r.MediaType, "event")) && rapid.Bool().Draw(t, "streamed") {
		r.Items, r.Body = partsOf("1", `{"n":1}`)[:rapid.IntRange(0, 2).Draw(t, "items")].seq(), nil
	}
	return r
}

type parts []string

func partsOf(items ...string) parts { return items }

func (p parts) seq() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, item := range p {
			if !yield([]byte(item), nil) {
				return
			}
		}
	}
}

// TestWhatIsDeliveredFitsWhatIsPublished draws what is declared, what comes,
// policy and envelope. Whatever is delivered fits the published schema: a client
// that checks it never throws. TENON_DELIVERED names a file to which the cases
// are written, for a foreign validator: see .ci/run.
func TestWhatIsDeliveredFitsWhatIsPublished(t *testing.T) {
	compiled := map[string]*schema.Schema{}
	values := map[string][]string{}
	delivered := 0
	rapid.Check(t, func(t *rapid.T) {
		contract := tenon.Contract{Responses: rapid.SliceOfN(rapid.Custom(drawVariant), 0, 4).Draw(t, "answers")}
		contract.Wrapper = rapid.SampledFrom([]string{"", "", "", "outer"}).Draw(t, "wrapper")
		tool := tenon.Tool{
			Contract: contract,
			Policy:   rapid.SampledFrom([]tenon.Policy{tenon.Enforce, tenon.Repair, tenon.Warn}).Draw(t, "policy"),
			Envelope: rapid.SampledFrom(allEnvelopes).Draw(t, "envelope"),
		}
		if rapid.IntRange(0, 4).Draw(t, "selected") == 0 {
			tool.Projection.Select = []string{"n"}
		}
		g := one(tool, answer(drawResponse(t)))
		e := g.Catalog().Find("get_book")
		if e == nil {
			t.Skip("there is no n to select")
		}
		_, output := e.Schemas()
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book"})
		if err != nil {
			t.Fatal(err)
		}
		if res.Structured == nil || output == nil {
			if output != nil && !res.IsError {
				t.Fatalf("nothing stands for the published %s", output)
			}
			return
		}
		if !res.IsError {
			delivered++
		}
		s := compiled[string(output)]
		if s == nil {
			if s, err = schema.Compile(output, schema.Options{}); err != nil {
				t.Fatal(err)
			}
			compiled[string(output)] = s
		}
		if diagnostics := s.Validate(res.Structured); len(diagnostics) > 0 {
			t.Fatalf("%s does not fit %s: %v", res.Structured, output, diagnostics)
		}
		if got := string(res.Structured); !slices.Contains(values[string(output)], got) {
			values[string(output)] = append(values[string(output)], got)
		}
	})
	t.Logf("%d answers were delivered, under %d schemas", delivered, len(compiled))
	writeDelivered(t, values)
}

func writeDelivered(t *testing.T, values map[string][]string) {
	file := os.Getenv("TENON_DELIVERED")
	if file == "" {
		return
	}
	var b []byte
	for output, list := range values {
		b = append(b, `{"schema":`+output+`,"values":[`+strings.Join(list, ",")+"]}\n"...)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSuccessesAreHeldAgainstWhatIsPublished has the cases in which default and
// the declared errors have a say, or have none.
func TestSuccessesAreHeldAgainstWhatIsPublished(t *testing.T) {
	number, text := []byte(deliveredSchemas[2]), []byte(deliveredSchemas[3])
	jsonOf := func(status string, s []byte) tenon.ResponseSchema {
		return tenon.ResponseSchema{Status: status, MediaType: "application/json", Schema: s}
	}
	tests := []struct {
		name    string
		answers []tenon.ResponseSchema
		status  int
		body    string
		verdict string
		says    string
	}{
		{"default beside a 2xx is for errors", []tenon.ResponseSchema{jsonOf("200", number), jsonOf("default", text)}, 202, `{"n":"1"}`, "undeclared", "expected 200, got 202"},
		{"also where the body would fit", []tenon.ResponseSchema{jsonOf("200", number), jsonOf("default", text)}, 202, `{"n":1}`, "undeclared", "expected 200, got 202"},
		{"default alone is for all", []tenon.ResponseSchema{jsonOf("default", number)}, 202, `{"n":1}`, "fits", ""},
		{"default beside errors is for successes too", []tenon.ResponseSchema{jsonOf("404", text), jsonOf("default", number)}, 200, `{"n":1}`, "fits", ""},
		{"an error is held against default", []tenon.ResponseSchema{jsonOf("200", number), jsonOf("default", text)}, 404, `{"n":"1"}`, "fits", ""},
		{"only errors are declared", []tenon.ResponseSchema{{Status: "405"}}, 200, `{"n":1}`, "unchecked", ""},
		{"only errors are declared, and nothing comes", []tenon.ResponseSchema{{Status: "405"}}, 204, ``, "unchecked", ""},
		{"nothing is said of the body", []tenon.ResponseSchema{{Status: "200", Open: true}}, 200, `{"n":1}`, "unchecked", ""},
		{"nothing is said of the body, and none comes", []tenon.ResponseSchema{{Status: "200", Open: true}}, 200, ``, "fits", ""},
		{"no body is declared", []tenon.ResponseSchema{{Status: "200"}}, 200, `{"n":1}`, "undeclared", "expected no body, got application/json"},
	}
	for _, tt := range tests {
		for _, p := range []tenon.Policy{tenon.Enforce, tenon.Warn} {
			t.Run(tt.name+", "+string(p), func(t *testing.T) {
				g := one(tenon.Tool{Contract: tenon.Contract{Responses: tt.answers}, Policy: p, Envelope: tenon.OpenAPIMCP}, answer(jsonResponse(tt.status, tt.body)))
				res := call(t, g, `{}`)
				if v := verdictOf(t, res); v.Verdict != tt.verdict {
					t.Errorf("verdict %s, want %s", v.Verdict, tt.verdict)
				}
				if want := tt.status > 299 || tt.verdict == "undeclared" && p == tenon.Enforce; res.IsError != want {
					t.Errorf("isError %v: %s", res.IsError, res.Structured)
				}
				if p == tenon.Enforce && !json.Valid(res.Structured) || p == tenon.Enforce && tt.says != "" && !strings.Contains(string(res.Structured), tt.says) {
					t.Errorf("%s does not say %s", res.Structured, strconv.Quote(tt.says))
				}
			})
		}
	}
}
