package gateway_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/jq"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/projection"
)

const (
	ordersSchema = `{"type":"object","properties":{"total":{"type":"integer"},"orders":{"type":"array","items":{"type":"object",` +
		`"properties":{"id":{"type":"integer"},"by":{"type":"object","properties":{"name":{"type":"string"},"card":{"type":"string"}},"required":["name","card"]}},` +
		`"required":["id","by"],"additionalProperties":false}}},"required":["total","orders"],"additionalProperties":false}`
	ordersBody = `{"total":2,"orders":[{"id":1,"by":{"name":"Ann","card":"4242"}},{"id":2,"by":{"name":"Bob","card":"4343"}}]}`
)

// ordersTool answers body, after t was changed by change.
func ordersTool(body string, called *int, change func(*tenon.Tool)) *gateway.Catalog {
	tool := tenon.Tool{
		Name: "orders", Policy: tenon.Enforce,
		Contract: tenon.Contract{
			Input:     []byte(`{"type":"object","properties":{},"additionalProperties":false}`),
			Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(ordersSchema)}, {Status: "204"}},
		},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			*called++
			return jsonResponse(200, body), nil
		},
	}
	change(&tool)
	return gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
}

func filter(t *testing.T, text string) tenon.Filter {
	t.Helper()
	f, err := jq.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestView(t *testing.T) {
	names := filter(t, `[.orders[].by.name]`)
	list := []byte(`{"type":"array","items":{"type":"string"}}`)
	tests := map[string]struct {
		view    tenon.Projection
		fields  string
		policy  tenon.Policy
		body    string
		want    string // the value; empty: an error
		verdict string
		says    string // what the published schema has
		never   string // and what it has not
	}{
		"selected parts":                          {view: tenon.Projection{Select: []string{"orders[].id"}}, want: `{"orders":[{"id":1},{"id":2}]}`, verdict: "fits", says: `"required":["id"]`, never: "card"},
		"a filter, its schema declared":           {view: tenon.Projection{Filter: names, Schema: list}, want: `["Ann","Bob"]`, verdict: "fits", says: `{"type":"array","items":{"type":"string"}}`, never: "card"},
		"a filter, its schema inferred":           {view: tenon.Projection{Filter: names}, want: `["Ann","Bob"]`, verdict: "fits", says: `"type":"string"`, never: "card"},
		"a filter that breaks its schema":         {view: tenon.Projection{Filter: filter(t, `.total`), Schema: list}, verdict: "violated", says: `"array"`},
		"the same under warn":                     {view: tenon.Projection{Filter: filter(t, `.total`), Schema: list}, policy: tenon.Warn, want: `2`, verdict: "violated", says: `"boolean","null"]`},
		"an inferred schema only reports":         {view: tenon.Projection{Filter: filter(t, `if .total > 1 then "many" else .total end`)}, want: `"many"`, verdict: "violated", says: `"boolean","null"]`},
		"a filter that fails":                     {view: tenon.Projection{Filter: filter(t, `.total.x`)}, verdict: "fits", says: `{}`},
		"selected, then filtered":                 {view: tenon.Projection{Select: []string{"orders.by.name"}, Filter: filter(t, `.orders[0]`)}, want: `{"by":{"name":"Ann"}}`, verdict: "fits", says: `"name"`, never: "card"},
		"a violation outside of what is selected": {view: tenon.Projection{Select: []string{"total"}}, body: `{"total":2,"orders":null}`, verdict: "violated", says: `"total"`, never: "orders"},
		"the same repaired":                       {view: tenon.Projection{Select: []string{"total"}}, policy: tenon.Repair, body: `{"total":"2","orders":null}`, want: `{"total":2}`, verdict: "repaired", says: `"total"`, never: "orders"},
		"asked for":                               {fields: `["orders.by.name"]`, want: `{"orders":[{"by":{"name":"Ann"}},{"by":{"name":"Bob"}}]}`, verdict: "fits", says: "card"},
		"asked for of what is shown":              {view: tenon.Projection{Filter: names, Schema: list}, fields: `["*"]`, want: `["Ann","Bob"]`, verdict: "fits"},
		"all is passed under off":                 {view: tenon.Projection{Select: []string{"total"}}, policy: tenon.Off, body: `{"total":"2"}`, want: `{"total":"2"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			called := 0
			if tt.body == "" {
				tt.body = ordersBody
			}
			c := ordersTool(tt.body, &called, func(tool *tenon.Tool) {
				tool.Projection, tool.Fields, tool.Envelope = tt.view, tt.fields != "", tenon.FlowMCP
				if tt.policy != "" {
					tool.Policy = tt.policy
				}
			})
			args := `{}`
			if tt.fields != "" {
				args = `{"fields":` + tt.fields + `}`
			}
			res := get(t, gateway.New(c, gateway.Options{}), "orders", "", args)
			if res.IsError != (tt.want == "") || string(res.Value) != tt.want {
				t.Fatalf("%s, not %s", res.Content[0].Text, tt.want)
			}
			if tt.policy != tenon.Off && verdictOf(t, res).Verdict != tt.verdict {
				t.Errorf("not %q: %s", tt.verdict, res.Meta)
			}
			_, output := c.Find("orders").Schemas()
			if !strings.Contains(string(output), tt.says) || tt.never != "" && strings.Contains(string(output), tt.never) {
				t.Errorf("published: %s", output)
			}
			keepsPublished(t, output, res)
		})
	}
}

func keepsPublished(t interface{ Errorf(string, ...any) }, output []byte, res *tenon.Result) {
	if output == nil || res.Structured == nil {
		return
	}
	s, err := schema.Compile(output, schema.Options{})
	if err != nil {
		t.Errorf("%v: %s", err, output)
		return
	}
	if v := s.Validate(res.Structured); len(v) > 0 {
		t.Errorf("%s breaks %s: %v", res.Structured, output, v)
	}
}

// TestFieldsAreCheckedFirst: nothing is sent for what the contract does not
// know.
func TestFieldsAreCheckedFirst(t *testing.T) {
	tests := map[string]struct{ fields, says string }{
		"a name that is not there": {`["orders[].weight"]`, "weight"},
		"one that looks like it":   {`["orders[].by.nam"]`, "orders.*.by.name"},
		"no list":                  {`"total"`, "a list of paths such as"},
		"a list of something else": {`[1]`, "1 is none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			called := 0
			c := ordersTool(ordersBody, &called, func(tool *tenon.Tool) { tool.Fields = true })
			res := get(t, gateway.New(c, gateway.Options{}), "orders", "", `{"fields":`+tt.fields+`}`)
			if called > 0 || !res.IsError || res.Code != tenon.CodeValidation || !strings.Contains(res.Message, tt.says) || verdictOf(t, res).Executed != "no" {
				t.Errorf("called %d times: %s", called, res.Content[0].Text)
			}
		})
	}
	t.Run("where it is not enabled it is an argument like others", func(t *testing.T) {
		called := 0
		c := ordersTool(ordersBody, &called, func(*tenon.Tool) {})
		if res := get(t, gateway.New(c, gateway.Options{}), "orders", "", `{"fields":["total"]}`); called > 0 || res.Code != tenon.CodeValidation {
			t.Errorf("%s", res.Content[0].Text)
		}
		if input, _ := c.Find("orders").Schemas(); strings.Contains(string(input), `"fields"`) {
			t.Errorf("published: %s", input)
		}
	})
}

// TestViewThatCannotBeHad: the tool is left out and the reason is told.
func TestViewThatCannotBeHad(t *testing.T) {
	tests := map[string]struct {
		view tenon.Projection
		says string
	}{
		"a path that is not known": {tenon.Projection{Select: []string{"order"}}, "there is orders"},
		"a path that is none":      {tenon.Projection{Select: []string{"a..b"}}, "a name is missing"},
		"a schema that is none":    {tenon.Projection{Filter: filter(t, "."), Schema: []byte(`{"type":5}`)}, "the schema of what is shown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := ordersTool(ordersBody, new(int), func(tool *tenon.Tool) { tool.Projection = tt.view })
			if f := c.Diagnostics(); c.Find("orders") != nil || len(f) != 1 || !strings.Contains(f[0].Message, tt.says) {
				t.Errorf("%v", f)
			}
		})
	}
}

// TestPartsOfWhatIsShown states: whatever is asked for, in every envelope and
// under every policy, fits what is published; parts of it make the whole of
// it; a token is good for the same question only.
func TestPartsOfWhatIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		called := 0
		fields := rapid.SampledFrom([]string{`["total"]`, `["orders.id"]`, `["orders[].by.name","total"]`, `["orders"]`, `["*"]`}).Draw(t, "fields")
		c := ordersTool(ordersBody, &called, func(tool *tenon.Tool) {
			tool.Fields = true
			tool.MaxResult = rapid.SampledFrom([]int{0, 250, 400}).Draw(t, "limit")
			tool.Envelope = rapid.SampledFrom([]tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP}).Draw(t, "envelope")
			tool.Policy = rapid.SampledFrom([]tenon.Policy{tenon.Enforce, tenon.Repair, tenon.Warn, tenon.Off}).Draw(t, "policy")
			if rapid.Bool().Draw(t, "selected") {
				tool.Projection.Select = []string{"total", "orders.id", "orders.by.name"}
			}
		})
		g := gateway.New(c, gateway.Options{})
		_, output := c.Find("orders").Schemas()
		res := get(t, g, "orders", "", `{"fields":`+fields+`}`)
		parts := []*tenon.Result{res}
		for {
			keepsPublished(t, output, res)
			p := partialOf(t, res)
			if p.ResumeToken == "" {
				break
			}
			if other := get(t, g, "orders", "", `{"fields":["total","orders"],"resume_token":"`+p.ResumeToken+`"}`); !other.IsError {
				t.Fatalf("other fields: %s", other.Structured)
			}
			res = get(t, g, "orders", "", `{"fields":`+fields+`,"resume_token":"`+p.ResumeToken+`"}`)
			parts = append(parts, res)
		}
		whole := joined(t, parts)
		p, err := projection.ParseProjection(strings.Split(strings.Trim(strings.ReplaceAll(fields, `"`, ""), "[]"), ",")...)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.AppendValue(nil, []byte(ordersBody))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range c.Find("orders").Tool().Projection.Select {
			if path == "total" {
				want = []byte(strings.NewReplacer(`,"card":"4242"`, "", `,"card":"4343"`, "").Replace(string(want)))
			}
		}
		if called != 1 || canonicalOf(t, whole) != canonicalOf(t, want) {
			t.Fatalf("%s, not %s; called %d times", whole, want, called)
		}
	})
}
