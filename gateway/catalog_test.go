package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

func named(source string, tools ...string) gateway.Mount {
	n := gateway.Mount{Name: source}
	for _, name := range tools {
		n.Features.Tools = append(n.Features.Tools, tenon.Tool{Name: name, Handler: answer(tenon.Response{})})
	}
	return n
}

func TestNamesAreLegalAndUnique(t *testing.T) {
	long := strings.Repeat("x", 80)
	tests := map[string]struct {
		offers []gateway.Mount
		prefix gateway.Prefix
		want   []string
	}{
		"one source keeps its names":              {[]gateway.Mount{named("a", "list", "get")}, "", []string{"list", "get"}},
		"all tools that collide get their prefix": {[]gateway.Mount{named("a", "list", "x"), named("b", "list", "y")}, "", []string{"a_list", "x", "b_list", "y"}},
		"always":                                      {[]gateway.Mount{named("a", "list")}, gateway.PrefixAlways, []string{"a_list"}},
		"never: the second gets a number":             {[]gateway.Mount{named("a", "list"), named("b", "list")}, gateway.PrefixNever, []string{"list", "list_2"}},
		"twice in one source":                         {[]gateway.Mount{named("a", "list", "list", "list")}, "", []string{"list", "list_2", "list_3"}},
		"illegal characters":                          {[]gateway.Mount{named("a", "pets.list/all é")}, "", []string{"pets_list_all__"}},
		"names that become the same":                  {[]gateway.Mount{named("a", "a.b", "a/b")}, "", []string{"a_b", "a_b_2"}},
		"an empty name":                               {[]gateway.Mount{named("a", "")}, "", []string{"tool"}},
		"a long name keeps its start and gets a hash": {[]gateway.Mount{named("a", long)}, "", []string{tenon.ToolName(long)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := gateway.Build(tt.offers, gateway.BuildOptions{Prefix: tt.prefix})
			var got []string
			for _, e := range c.Tools() {
				got = append(got, e.Name())
				if len(e.Name()) > 64 || c.Find(e.Name()) != e {
					t.Errorf("name %q", e.Name())
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolWithoutHandlerIsLeftOut(t *testing.T) {
	c := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{{Name: "a"}}}}}, gateway.BuildOptions{})
	if len(c.Tools()) != 0 || len(c.Diagnostics()) != 1 {
		t.Errorf("tools %d, diagnostics %v", len(c.Tools()), c.Diagnostics())
	}
}

// TestPublishedSchemas pins what each envelope and policy publishes.
func TestPublishedSchemas(t *testing.T) {
	const branches = `{"type":"object","properties":{"OutputFormat":{"enum":["structured","unstructured"]},"OutputType":{"type":"string"},` +
		`"type":{"enum":["api_response","error"]},"data":%s,"metadata":{"type":"object","properties":{"status_code":{"type":"integer"},"headers":{"type":"object","additionalProperties":{"type":"string"}}}},` +
		`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"details":{"type":"object"},"suggestions":{"type":"array","items":{"type":"string"}}}}%s},` +
		`"required":["OutputFormat","OutputType","type"],"anyOf":[{"properties":{"type":{"const":"api_response"}},"required":["data","metadata"]},` +
		`{"properties":{"type":{"const":"error"}},"required":["error"]}]%s}`
	const parts = `,"partial":{"type":"boolean"},"resume_token":{"type":"string"}`
	const other = `{"type":["object","array","string","integer","number","boolean","null"],"items":{"type":["object","array","string","integer","number","boolean","null"]}}`
	object := tenon.ResponseSchema{Status: "200", MediaType: "application/json", Schema: []byte(bookSchema)}
	list := tenon.ResponseSchema{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"array","items":{"$ref":"#/$defs/Book"},"$defs":{"Book":` + bookSchema + `}}`)}
	const books = `{"type":"array","items":{"$ref":"#/$defs/Book"},"contains":{"$ref":"#/$defs/Book"}}`
	pair := tenon.ResponseSchema{Status: "200", MediaType: "application/json", Schema: []byte(books[:len(books)-1] + `,"$defs":{"Book":` + bookSchema + `}}`)}
	tests := map[string]struct {
		policy  tenon.Policy
		env     tenon.Envelope
		answers []tenon.ResponseSchema
		want    string
	}{
		"native object":                  {tenon.Enforce, tenon.Native, []tenon.ResponseSchema{object}, bookSchema},
		"native object as advice":        {tenon.Warn, tenon.Native, []tenon.ResponseSchema{object}, `{"type":"object","properties":{"title":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/AnyValue"}]},"stock":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/AnyValue"}]}},"additionalProperties":true,"anyOf":[{"required":["title"]},{}],"$defs":{"AnyValue":` + other + `}}`},
		"native list stands in result":   {tenon.Enforce, tenon.Native, []tenon.ResponseSchema{list}, `{"type":"object","properties":{"result":{"type":"array","items":` + bookSchema + `}},"required":["result"]}`},
		"off publishes nothing":          {tenon.Off, tenon.Native, []tenon.ResponseSchema{object}, ""},
		"nothing declared, native":       {tenon.Enforce, tenon.Native, nil, ""},
		"nothing declared, openapi-mcp":  {tenon.Enforce, tenon.OpenAPIMCP, nil, fmt.Sprintf(branches, `{}`, parts, "")},
		"openapi-mcp":                    {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{object}, fmt.Sprintf(branches, bookSchema, "", "")},
		"openapi-mcp as advice":          {tenon.Warn, tenon.OpenAPIMCP, []tenon.ResponseSchema{object}, fmt.Sprintf(branches, `{"anyOf":[`+bookSchema+`,`+other+`]}`, "", "")},
		"definitions move to the root":   {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{pair}, fmt.Sprintf(branches, books, parts, `,"$defs":{"Book":`+bookSchema+`}`)},
		"unless they are used once":      {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{list}, fmt.Sprintf(branches, `{"type":"array","items":`+bookSchema+`}`, parts, "")},
		"an empty answer joins as null":  {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{object, {Status: "204"}}, fmt.Sprintf(branches, `{"anyOf":[`+bookSchema+`,{"type":"null"}]}`, "", "")},
		"errors do not join":             {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{object, {Status: "404", MediaType: "application/json"}}, fmt.Sprintf(branches, bookSchema, "", "")},
		"default counts without a 2xx":   {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{{Status: "default", MediaType: "text/plain"}}, fmt.Sprintf(branches, `{"type":"string"}`, "", "")},
		"default is no success beside 2": {tenon.Enforce, tenon.OpenAPIMCP, []tenon.ResponseSchema{object, {Status: "default", MediaType: "text/plain"}}, fmt.Sprintf(branches, bookSchema, "", "")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := tenon.Tool{Name: "x", Policy: tt.policy, Envelope: tt.env, Contract: tenon.Contract{Responses: tt.answers}, Handler: answer(tenon.Response{})}
			c := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
			_, output := c.Tools()[0].Schemas()
			if diff := cmp.Diff(tt.want, string(output)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diagnostics := c.Tools()[0].Diagnostics(); len(diagnostics) > 0 {
				t.Errorf("diagnostics: %v", diagnostics)
			}
		})
	}
}

func TestDefinitionIsWhatToolsListSends(t *testing.T) {
	yes, no := true, false
	tool := tenon.Tool{
		Name: "get", Title: "Get a <book>", Description: "line 1\n\"line\" 2", Meta: []byte(`{"a":1}`),
		Annotations: tenon.Annotations{ReadOnly: &yes, Destructive: &no},
		Contract:    tenon.Contract{Input: []byte(`{"type":"object","properties":{"id":true}}`)}, Handler: answer(tenon.Response{}),
	}
	c := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	got := string(c.Tools()[0].Definition())
	want := `{"name":"get","title":"Get a <book>","description":"line 1\n\"line\" 2","inputSchema":{"type":"object","properties":{"id":{}}},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false},"_meta":{"a":1}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !json.Valid([]byte(got)) {
		t.Error("the definition is no JSON")
	}
	if len(c.Tools()[0].Diagnostics()) != 1 {
		t.Errorf("the boolean schema was replaced without a report: %v", c.Tools()[0].Diagnostics())
	}
}
