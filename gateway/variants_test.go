package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

// The axes of the matrix. numberSchema is declared for every body of JSON.
const numberSchema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`

var (
	declaredStatuses = []string{"200", "2XX", "default", "201"}
	// Which media types that come are covered by a declared one.
	covered = map[string][]string{
		"application/json":         {"application/json", "application/json; charset=utf-8", "nothing said"},
		"application/problem+json": {"application/problem+json"},
		"*/*":                      {"application/json", "application/json; charset=utf-8", "application/problem+json", "text/plain", "image/png", "nothing said"},
		"text/plain":               {"text/plain"},
		"image/*":                  {"image/png"},
		"":                         {},
	}
	comeMedias   = []string{"application/json", "application/json; charset=utf-8", "application/problem+json", "text/plain", "image/png", "nothing said"}
	comeBodies   = map[string]string{"nothing": "", "a fit": `{"n":1}`, "a violation": `{"n":"x"}`, "a repairable violation": `{"n":"1"}`, "no JSON": `{"n":`}
	allPolices   = []tenon.Policy{tenon.Enforce, tenon.Repair, tenon.Warn, tenon.Off}
	allEnvelopes = []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP}
)

// variantCase is one cell of the matrix.
type variantCase struct {
	status, declared, came, body string
	policy                       tenon.Policy
	env                          tenon.Envelope
}

// isJSON and the others say what stands in the answer, by the rules as the
// documentation has them and not as the code has them.
func (c variantCase) isJSON() bool { return c.came != "text/plain" && c.came != "image/png" }

func (c variantCase) known() bool {
	if c.status == "201" {
		return false
	}
	if c.body == "nothing" {
		return c.declared == ""
	}
	return slices.Contains(covered[c.declared], c.came)
}

func (c variantCase) verdict() string {
	switch {
	case c.isJSON() && c.body == "no JSON":
		return "violated"
	case !c.known():
		return "undeclared"
	case c.isJSON() && c.body == "a repairable violation" && c.policy == tenon.Repair:
		return "repaired"
	case c.isJSON() && strings.HasSuffix(c.body, "violation"), !c.isJSON() && c.declared == "*/*":
		return "violated" // what stands for a text or a picture is no object with n
	}
	return "fits"
}

func (c variantCase) isError() bool {
	broken := c.verdict() == "violated" || c.verdict() == "undeclared"
	return broken && (c.policy == tenon.Enforce || c.policy == tenon.Repair)
}

// data is what a success carries, as JSON; for a picture only its beginning.
func (c variantCase) data() string {
	body := comeBodies[c.body]
	text, _ := json.Marshal(body)
	switch {
	case c.body == "nothing":
		return "null"
	case c.came == "image/png" && c.env == tenon.FlowMCP:
		return `"ey` // base64 of {"
	case c.came == "image/png":
		return `{"mimeType":"image/png","bytes":`
	case c.verdict() == "repaired":
		return `{"n":1}`
	case !c.isJSON() || c.body == "no JSON":
		return string(text)
	}
	return body
}

func (c variantCase) call(t *testing.T) (*tenon.Result, []byte) {
	contract := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: c.status, MediaType: c.declared}}}
	if strings.HasSuffix(c.declared, "json") || c.declared == "*/*" {
		contract.Responses[0].Schema = []byte(numberSchema)
	}
	resp := tenon.Response{Status: 200, Body: []byte(comeBodies[c.body])}
	if c.came != "nothing said" {
		resp.MediaType = c.came
	}
	g := one(tenon.Tool{Contract: contract, Policy: c.policy, Envelope: c.env}, answer(resp))
	_, output := g.Catalog().Find("get_book").Schemas()
	return call(t, g, `{}`), output
}

// TestVariants holds every combination of what is declared, what comes, policy
// and envelope against the rules; and every structured content against the schema
// that its tool publishes.
func TestVariants(t *testing.T) {
	cases := 0
	compiled := map[string]*schema.Schema{}
	eachVariant(func(c variantCase) {
		cases++
		res, output := c.call(t)
		switch {
		case res.IsError != c.isError():
			t.Errorf("%+v: isError = %v", c, res.IsError)
		case !res.IsError && c.env == tenon.Native && !strings.Contains(string(res.Value), c.data()),
			!res.IsError && c.env != tenon.Native && !strings.Contains(string(res.Structured), `"data":`+c.data()):
			t.Errorf("%+v: no data %s in %s, %s", c, c.data(), res.Structured, res.Value)
		case res.IsError && c.policy == tenon.Enforce && len(res.Content) != 1,
			res.IsError && c.policy == tenon.Repair && len(res.Content) != 2:
			t.Errorf("%+v: the failure has %d blocks", c, len(res.Content))
		}
		if c.policy == tenon.Off {
			if v := verdictOf(t, res); output != nil || v.Verdict != "unchecked" && v.Verdict != "violated" || v.Executed != "yes" || v.Retry != "safe" {
				t.Errorf("%+v: off publishes %s and says %s", c, output, res.Meta)
			}
			return
		}
		if v := verdictOf(t, res); v.Verdict != c.verdict() || v.Status != 200 || (v.Verdict == "fits") != (v.Violations == nil) {
			t.Errorf("%+v: %+v, want %s", c, v, c.verdict())
		}
		fitsPublished(t, compiled, output, res.Structured, c)
	})
	t.Logf("%d cases", cases)
}

func eachVariant(f func(variantCase)) {
	for _, status := range declaredStatuses {
		for declared := range covered {
			for _, came := range comeMedias {
				for body := range comeBodies {
					for _, p := range allPolices {
						for _, s := range allEnvelopes {
							f(variantCase{status, declared, came, body, p, s})
						}
					}
				}
			}
		}
	}
}

// fitsPublished fails where structured content does not fit what is published.
func fitsPublished(t *testing.T, compiled map[string]*schema.Schema, output, structured []byte, what any) {
	t.Helper()
	if structured == nil {
		return
	}
	s := compiled[string(output)]
	if s == nil {
		var err error
		if s, err = schema.Compile(output, schema.Options{}); err != nil {
			t.Fatalf("%+v: %v: %s", what, err, output)
		}
		compiled[string(output)] = s
	}
	if diagnostics := s.Validate(structured); len(diagnostics) > 0 {
		t.Errorf("%+v: %s does not fit %s: %v", what, structured, output, diagnostics)
	}
}

// TestRepairsAreListed reads what _meta says of them.
func TestRepairsAreListed(t *testing.T) {
	contract := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(
		`{"type":"object","properties":{"n":{"type":"integer"},"l":{"type":"array"},"o":{"type":"string"}},"required":["n","l"],"additionalProperties":false}`,
	)}}}
	g := one(tenon.Tool{Contract: contract, Policy: tenon.Repair}, answer(jsonResponse(200, `{"x":[1],"n":"7","o":null,"l":null}`)))
	res := call(t, g, `{}`)
	if got, want := string(res.Structured), `{"n":7,"l":[]}`; got != want {
		t.Errorf("delivered %s, want %s", got, want)
	}
	const want = `"repairs":[{"path":"/x","kind":"drop-property","old":"[1]","new":"nothing"},{"path":"/n","kind":"parse-scalar","old":"\"7\"","new":"7"},` +
		`{"path":"/o","kind":"drop-null","old":"null","new":"nothing"},{"path":"/l","kind":"empty-null","old":"null","new":"[]"}]`
	if !strings.Contains(string(res.Meta), want) {
		t.Errorf("_meta is\n%s, want\n%s", res.Meta, want)
	}
}

// TestHalfSurrogates: half of a pair becomes U+FFFD where the policy allows a
// change, whatever the schema says; else it is a violation.
func TestHalfSurrogates(t *testing.T) {
	object := &tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(
		`{"type":"object","properties":{"v":{"type":"string","maxLength":5},"n":{"type":"integer"}}}`,
	)}}}
	for _, c := range []struct {
		name     string
		contract *tenon.Contract
		policy   tenon.Policy
		body     string
		value    string // empty: an error or a text
		meta     []string
	}{
		{"repaired", object, tenon.Repair, `{"v":"cut \ud83d"}`, `{"v":"cut \ufffd"}`, []string{`"verdict":"repaired"`, `{"path":"/v","kind":"replace-surrogate","old":"\\ud83d","new":"\\ufffd"}`}},
		{"a whole pair", object, tenon.Repair, `{"v":"\ud83d\ude00"}`, `{"v":"\ud83d\ude00"}`, []string{`"verdict":"fits"`}},
		{"beside another repair", object, tenon.Repair, `{"v":"\udc00","n":"7"}`, `{"v":"\ufffd","n":7}`, []string{`"replace-surrogate"`, `"parse-scalar"`}},
		{"in a name", object, tenon.Repair, `{"\ud800":1}`, `{"\ufffd":1}`, []string{`"verdict":"repaired"`}},
		{"nothing declared", nil, tenon.Repair, `{"v":"\ud800"}`, `{"v":"\ufffd"}`, []string{`"replace-surrogate"`}},
		{"two names that become one", object, tenon.Repair, `{"\ud800":1,"\ud801":2}`, "", []string{`"verdict":"violated"`}},
		{"what is broken otherwise", object, tenon.Repair, `{"v":"\ud800`, "", []string{`"verdict":"violated"`}},
		{"enforce", object, tenon.Enforce, `{"v":"\ud800"}`, "", []string{`"verdict":"violated"`, `half of a surrogate pair`}},
		{"warn", object, tenon.Warn, `{"v":"\ud800"}`, "", []string{`"verdict":"violated"`, `half of a surrogate pair`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := tenon.Tool{Policy: c.policy}
			if c.contract != nil {
				tool.Contract = *c.contract
			}
			res := call(t, one(tool, answer(jsonResponse(200, c.body))), `{}`)
			if c.value != "" && (res.IsError || string(res.Structured) != c.value && string(res.Structured) != `{"result":`+c.value+`}`) {
				t.Errorf("delivered %s, want %s", res.Structured, c.value)
			}
			if c.value == "" && c.policy != tenon.Warn && !res.IsError {
				t.Errorf("delivered %s", res.Structured)
			}
			for _, want := range c.meta {
				if !strings.Contains(string(res.Meta), want) {
					t.Errorf("_meta is %s, want %s", res.Meta, want)
				}
			}
		})
	}
}

// TestManyRepairsAreCounted bounds the list.
func TestManyRepairsAreCounted(t *testing.T) {
	contract := tenon.Contract{Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(`{"type":"array","items":{"type":"integer"}}`)}}}
	body := "[" + strings.Repeat(`"1",`, 24) + `"1"]`
	g := one(tenon.Tool{Contract: contract, Policy: tenon.Repair}, answer(tenon.Response{MediaType: "application/json", Body: []byte(body)}))
	meta := string(call(t, g, `{}`).Meta)
	if got := strings.Count(meta, `"kind":"parse-scalar"`); got != 20 || !strings.Contains(meta, `"moreRepairs":5`) {
		t.Errorf("%d repairs are listed in %s", got, meta)
	}
}

// TestUnrepairableIsText has the data beside the error, and says so in no
// other channel.
func TestUnrepairableIsText(t *testing.T) {
	for _, s := range allEnvelopes {
		g := one(tenon.Tool{Contract: bookContract(), Policy: tenon.Repair, Envelope: s}, answer(jsonResponse(200, `{"stock":"many"}`)))
		res := call(t, g, `{"id":1}`)
		if !res.IsError || len(res.Content) != 2 || string(res.Content[1].Text) != `{"stock":"many"}` || strings.Contains(string(res.Structured), "many\"}") {
			t.Errorf("%s: %s", s, fmt.Sprint(res))
		}
	}
}
