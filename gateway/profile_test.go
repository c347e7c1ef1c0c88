package gateway_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/search"
)

// echo is a tool that returns its arguments.
func echo(name, input string) tenon.Tool {
	yes := true
	return tenon.Tool{
		Name: name, Description: "Echoes.", Annotations: tenon.Annotations{ReadOnly: &yes}, Envelope: tenon.Native, Policy: tenon.Enforce,
		Contract: tenon.Contract{
			Input:     []byte(input),
			Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"object","properties":{"id":{"type":["integer","null"]},"tags":{"type":"array","items":{"type":"string"}}}}`)}},
		},
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: 200, MediaType: "application/json", Body: c.Args}, nil
		},
	}
}

func profiled(t *testing.T, p *gateway.Profile, tools ...tenon.Tool) *gateway.Catalog {
	t.Helper()
	return gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{}).Adapted(p)
}

func called(t *testing.T, c *gateway.Catalog, tool, args string) *tenon.Result {
	t.Helper()
	res, err := gateway.New(c, gateway.Options{}).Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestStrictArgumentsAreReadBack: every argument is sent, those that are not meant as
// null, objects of any form as text.
func TestStrictArgumentsAreReadBack(t *testing.T) {
	strict := &gateway.Profile{Name: "strict", Input: gateway.SchemaRules{NoOneOf: true, Closed: true, AllRequired: true}}
	c := profiled(t, strict, echo("echo", `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":["string","null"]},"free":{"type":"object"},
		"deep":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]},
		"list":{"type":"array","items":{"oneOf":[{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}}},{"type":"string"}]}}},"required":["id"]}`))
	input, output := c.Find("echo").Schemas()
	want := `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":["string","null"]},"free":{"type":["string","null"],"description":"A JSON object as text."},` +
		`"deep":{"type":["object","null"],"properties":{"a":{"type":["string","null"]},"b":{"type":"string"}},"required":["a","b"],"additionalProperties":false},` +
		`"list":{"type":["array","null"],"items":{"anyOf":[{"type":"object","properties":{"x":{"type":["integer","null"]},"y":{"type":["integer","null"]}},"additionalProperties":false,"required":["x","y"]},{"type":"string"}]}}},` +
		`"required":["id","note","free","deep","list"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(input)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	if output == nil {
		t.Error("no output schema")
	}
	for args, want := range map[string]string{
		`{"id":1,"note":null,"free":null,"deep":null,"list":null}`:                                                        `{"id":1,"note":null}`,
		`{"id":1,"note":"n","free":"{\"k\":2}","deep":{"a":null,"b":"B"},"list":[{"x":null,"y":3},"s",{"x":1,"y":null}]}`: `{"id":1,"note":"n","free":{"k":2},"deep":{"b":"B"},"list":[{"y":3},"s",{"x":1}]}`,
		`{"id":1}`: `{"id":1}`,
	} {
		if res := called(t, c, "echo", args); string(res.Value) != want {
			t.Errorf("%s was read as %s %s, want %s", args, res.Value, res.Message, want)
		}
	}
	if res := called(t, c, "echo", `{"id":null,"note":null,"free":null,"deep":null,"list":null}`); res.Code != tenon.CodeValidation {
		t.Errorf("a required argument that is null: %s %s", res.Code, res.Value)
	}
	noted := false
	for _, d := range c.Find("echo").Diagnostics() {
		noted = noted || strings.Contains(d.Message, "for strict: the input schema has an object of any form at /properties/free")
	}
	if !noted {
		t.Errorf("nothing is said of what is sent as text: %v", c.Find("echo").Diagnostics())
	}
}

// TestTextAlone: the output schema and structured content go together, and the
// description says what a result is.
func TestTextAlone(t *testing.T) {
	for _, form := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		tool := echo("echo", `{"type":"object"}`)
		tool.Envelope = form
		tool.MaxResult = 200
		c := profiled(t, &gateway.Profile{Name: "text", TextOnly: true, Returns: true}, tool)
		var d struct {
			Description  string
			OutputSchema json.RawMessage
		}
		if err := json.Unmarshal(c.Find("echo").Definition(), &d); err != nil {
			t.Fatal(err)
		}
		want := `Returns: {id?: int|null, tags?: [string]}` + "\n\nEchoes."
		if form != tenon.Native {
			want = `Returns: {data: {id?: int|null, tags?: [string]}}` + "\n\nEchoes."
		}
		if d.Description != want || d.OutputSchema != nil {
			t.Errorf("%s: described as %q, with the output schema %s", form, d.Description, d.OutputSchema)
		}
		for _, args := range []string{`{"id":1}`, `{"id":"wrong"}`, `{"tags":["` + strings.Repeat("long", 40) + `","` + strings.Repeat("long", 40) + `"]}`} {
			res := called(t, c, "echo", args)
			if res.Structured != nil || len(res.Content) == 0 || len(res.Content[0].Text) == 0 {
				t.Errorf("%s: %s has structured content %s beside %d blocks", form, args, res.Structured, len(res.Content))
			}
		}
	}
}

// TestAListIsOneText: texts of single items, as other clients get them, leave out null.
func TestAListIsOneText(t *testing.T) {
	tool := echo("list", `{"type":"object"}`)
	tool.Contract = tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"array","items":{"type":["string","null"]}}`)}}}
	tool.Handler = func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`["a",null,"b"]`)}, nil
	}
	res := called(t, profiled(t, &gateway.Profile{Name: "text", TextOnly: true}, tool), "list", `{}`)
	if len(res.Content) != 1 || string(res.Content[0].Text) != `["a",null,"b"]` {
		t.Errorf("%d texts, the first %s", len(res.Content), res.Content[0].Text)
	}
}

// TestNamesWithinABudget: names that collide when they are shortened stay different,
// short ones keep theirs, and rules, limits and logs know the tools as before.
func TestNamesWithinABudget(t *testing.T) {
	long := "list_all_the_books_of_a_shop_that_"
	c := profiled(t, &gateway.Profile{Name: "short", LongestName: 20, LetterFirst: true},
		echo(long+"one", `{"type":"object"}`), echo(long+"two", `{"type":"object"}`), echo("short", `{"type":"object"}`), echo("1st", `{"type":"object"}`))
	seen := map[string]bool{}
	for _, tool := range c.Tools() {
		name := tool.Name()
		if len(name) > 20 || seen[name] || name[0] == '1' {
			t.Errorf("%q is too long, begins with a digit or is there twice", name)
		}
		seen[name] = true
		if res := called(t, c, name, `{"id":1}`); string(res.Value) != `{"id":1}` {
			t.Errorf("%s returned %s %s", name, res.Value, res.Message)
		}
	}
	if !seen["short"] || !seen["_1st"] {
		t.Errorf("names are %v", seen)
	}
	first := c.Tools()[0]
	if first.Entry().Name != long+"one" || first.Unadapted().Name() != long+"one" {
		t.Errorf("rules see it as %q, limits as %q", first.Entry().Name, first.Unadapted().Name())
	}
	told := &watcher{}
	g := gateway.New(c, gateway.Options{Observers: []gateway.Observer{told}})
	if _, err := g.Call(t.Context(), &tenon.Call{Tool: first.Name(), Args: []byte(`{}`)}); err != nil || told.tool != long+"one" {
		t.Errorf("observers are told of %q: %v", told.tool, err)
	}
}

type watcher struct{ tool string }

func (w *watcher) ObserveCall(_ context.Context, r *gateway.CallRecord) { w.tool = r.Tool.Name() }

// TestFixedToolsStay: what an author published is not rewritten for any client.
func TestFixedToolsStay(t *testing.T) {
	tool := echo("a_tool_whose_author_fixed_it", `{"type":"object","properties":{"a[b]":{"type":["string","null"]},"m":{"type":"object"}}}`)
	tool.Fixed = true
	plain := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	everything := gateway.SchemaRules{Inline: true, SplitTypes: true, TextEnums: true, NoOneOf: true, NoRootCombinators: true, Closed: true, AllRequired: true, NullOptional: true}
	c := plain.Adapted(&gateway.Profile{Name: "all", TextOnly: true, Returns: true, Input: everything, Output: everything, PropertyNames: regexp.MustCompile(`^[a-z]+$`)})
	if diff := cmp.Diff(string(plain.Tools()[0].Definition()), string(c.Tools()[0].Definition())); diff != "" {
		t.Errorf("rewritten (-want +got):\n%s", diff)
	}
	if res := called(t, c, c.Tools()[0].Name(), `{"a[b]":null}`); string(res.Structured) != `{"a[b]":null}` {
		t.Errorf("returned %s %s", res.Structured, res.Message)
	}
}

// TestArgumentsHaveNamesThatMatch: names that a client refuses are published under
// others, and both are read.
func TestArgumentsHaveNamesThatMatch(t *testing.T) {
	c := profiled(t, &gateway.Profile{Name: "names", PropertyNames: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)},
		echo("echo", `{"type":"object","properties":{"filter[x]":{"type":"string"},"filter_x":{"type":"string"},"`+strings.Repeat("a", 70)+`":{"type":"string"}}}`))
	input, _ := c.Find("echo").Schemas()
	for _, name := range []string{`"filter_x":`, `"filter_x_2":`, `"` + strings.Repeat("a", 64) + `":`} {
		if !strings.Contains(string(input), name) {
			t.Errorf("%s is not in %s", name, input)
		}
	}
	for args, want := range map[string]string{
		`{"filter_x_2":"1","filter_x":"2"}`:         `{"filter[x]":"1","filter_x":"2"}`,
		`{"filter[x]":"1"}`:                         `{"filter[x]":"1"}`,
		`{"` + strings.Repeat("a", 64) + `":"one"}`: `{"` + strings.Repeat("a", 70) + `":"one"}`,
	} {
		if res := called(t, c, "echo", args); string(res.Value) != want {
			t.Errorf("%s was read as %s %s", args, res.Value, res.Message)
		}
	}
}

// TestSearchIsAdapted: the tools that find and call others are for the client, too.
func TestSearchIsAdapted(t *testing.T) {
	p := &gateway.Profile{Name: "strict", TextOnly: true, Input: gateway.SchemaRules{Closed: true, AllRequired: true, NoOneOf: true}}
	c := search.Wrap(profiled(t, p, echo("echo", `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}`))).Adapted(p)
	for _, tool := range c.Tools() {
		input, output := tool.Schemas()
		if !strings.Contains(string(input), `"additionalProperties":false`) || output != nil {
			t.Errorf("%s publishes %s and %s", tool.Name(), input, output)
		}
	}
	if res := called(t, c, "call_tool", `{"tool":"echo","arguments":"{\"id\":1,\"note\":null}"}`); string(res.Value) != `{"id":1}` || res.Structured != nil {
		t.Errorf("returned %s %s, structured %s", res.Value, res.Message, res.Structured)
	}
}
