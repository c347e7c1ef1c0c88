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

func named(source string, tools ...string) gateway.Named {
	n := gateway.Named{Name: source}
	for _, name := range tools {
		n.Offer.Tools = append(n.Offer.Tools, tenon.Tool{Name: name, Handler: answer(tenon.Reply{})})
	}
	return n
}

func TestNamesAreLegalAndUnique(t *testing.T) {
	long := strings.Repeat("x", 80)
	tests := map[string]struct {
		offers []gateway.Named
		prefix gateway.Prefix
		want   []string
	}{
		"one source keeps its names":              {[]gateway.Named{named("a", "list", "get")}, "", []string{"list", "get"}},
		"all tools that collide get their prefix": {[]gateway.Named{named("a", "list", "x"), named("b", "list", "y")}, "", []string{"a_list", "x", "b_list", "y"}},
		"always":                                      {[]gateway.Named{named("a", "list")}, gateway.PrefixAlways, []string{"a_list"}},
		"never: the second gets a number":             {[]gateway.Named{named("a", "list"), named("b", "list")}, gateway.PrefixNever, []string{"list", "list_2"}},
		"twice in one source":                         {[]gateway.Named{named("a", "list", "list", "list")}, "", []string{"list", "list_2", "list_3"}},
		"illegal characters":                          {[]gateway.Named{named("a", "pets.list/all é")}, "", []string{"pets_list_all__"}},
		"names that become the same":                  {[]gateway.Named{named("a", "a.b", "a/b")}, "", []string{"a_b", "a_b_2"}},
		"an empty name":                               {[]gateway.Named{named("a", "")}, "", []string{"tool"}},
		"a long name keeps its start and gets a hash": {[]gateway.Named{named("a", long)}, "", []string{tenon.LegalName(long)}},
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
	c := gateway.Build([]gateway.Named{{Offer: tenon.Offer{Tools: []tenon.Tool{{Name: "a"}}}}}, gateway.BuildOptions{})
	if len(c.Tools()) != 0 || len(c.Faults()) != 1 {
		t.Errorf("tools %d, faults %v", len(c.Tools()), c.Faults())
	}
}

// TestPublishedSchemas pins what each shape and policy publishes.
func TestPublishedSchemas(t *testing.T) {
	const branches = `{"type":"object","properties":{"OutputFormat":{"enum":["structured","unstructured"]},"OutputType":{"type":"string"},` +
		`"type":{"enum":["api_response","error"]},"data":%s,"metadata":{"type":"object","properties":{"status_code":{"type":"integer"},"headers":{"type":"object","additionalProperties":{"type":"string"}}}},` +
		`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"details":{"type":"object"},"suggestions":{"type":"array","items":{"type":"string"}}}}%s},` +
		`"required":["OutputFormat","OutputType","type"],"anyOf":[{"properties":{"type":{"const":"api_response"}},"required":["data","metadata"]},` +
		`{"properties":{"type":{"const":"error"}},"required":["error"]}]%s}`
	const parts = `,"partial":{"type":"boolean"},"resume_token":{"type":"string"}`
	const other = `{"type":["object","array","string","integer","number","boolean","null"],"items":{"type":["object","array","string","integer","number","boolean","null"]}}`
	object := tenon.Variant{Status: "200", Media: "application/json", Schema: []byte(bookSchema)}
	list := tenon.Variant{Status: "200", Media: "application/json", Schema: []byte(`{"type":"array","items":{"$ref":"#/$defs/Book"},"$defs":{"Book":` + bookSchema + `}}`)}
	tests := map[string]struct {
		policy  tenon.Policy
		shape   tenon.Shape
		answers []tenon.Variant
		want    string
	}{
		"native object":                  {tenon.Enforce, tenon.Native, []tenon.Variant{object}, bookSchema},
		"native object as advice":        {tenon.Warn, tenon.Native, []tenon.Variant{object}, `{"type":"object","properties":{"title":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/AnyValue"}]},"stock":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/AnyValue"}]}},"additionalProperties":true,"anyOf":[{"required":["title"]},{}],"$defs":{"AnyValue":` + other + `}}`},
		"native list stands in result":   {tenon.Enforce, tenon.Native, []tenon.Variant{list}, `{"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/$defs/Book"}}},"required":["result"],"$defs":{"Book":` + bookSchema + `}}`},
		"off publishes nothing":          {tenon.Off, tenon.Native, []tenon.Variant{object}, ""},
		"nothing declared, native":       {tenon.Enforce, tenon.Native, nil, ""},
		"nothing declared, openapi-mcp":  {tenon.Enforce, tenon.OpenAPIMCP, nil, fmt.Sprintf(branches, `{}`, parts, "")},
		"openapi-mcp":                    {tenon.Enforce, tenon.OpenAPIMCP, []tenon.Variant{object}, fmt.Sprintf(branches, bookSchema, "", "")},
		"openapi-mcp as advice":          {tenon.Warn, tenon.OpenAPIMCP, []tenon.Variant{object}, fmt.Sprintf(branches, `{"anyOf":[`+bookSchema+`,`+other+`]}`, "", "")},
		"definitions move to the root":   {tenon.Enforce, tenon.OpenAPIMCP, []tenon.Variant{list}, fmt.Sprintf(branches, `{"type":"array","items":{"$ref":"#/$defs/Book"}}`, parts, `,"$defs":{"Book":`+bookSchema+`}`)},
		"an empty answer joins as null":  {tenon.Enforce, tenon.OpenAPIMCP, []tenon.Variant{object, {Status: "204"}}, fmt.Sprintf(branches, `{"anyOf":[`+bookSchema+`,{"type":"null"}]}`, "", "")},
		"errors do not join":             {tenon.Enforce, tenon.OpenAPIMCP, []tenon.Variant{object, {Status: "404", Media: "application/json"}}, fmt.Sprintf(branches, bookSchema, "", "")},
		"default counts without a 2xx":   {tenon.Enforce, tenon.OpenAPIMCP, []tenon.Variant{{Status: "default", Media: "text/plain"}}, fmt.Sprintf(branches, `{"type":"string"}`, "", "")},
		"default is no success beside 2": {tenon.Enforce, tenon.OpenAPIMCP, []tenon.Variant{object, {Status: "default", Media: "text/plain"}}, fmt.Sprintf(branches, bookSchema, "", "")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := tenon.Tool{Name: "x", Policy: tt.policy, Shape: tt.shape, Promise: tenon.Contract{Answers: tt.answers}, Handler: answer(tenon.Reply{})}
			c := gateway.Build([]gateway.Named{{Offer: tenon.Offer{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
			_, output := c.Tools()[0].Schemas()
			if diff := cmp.Diff(tt.want, string(output)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if faults := c.Tools()[0].Faults(); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

func TestDefinitionIsWhatToolsListSends(t *testing.T) {
	yes, no := true, false
	tool := tenon.Tool{
		Name: "get", Title: "Get a <book>", Description: "line 1\n\"line\" 2", Meta: []byte(`{"a":1}`),
		Hints:   tenon.Hints{ReadOnly: &yes, Destructive: &no},
		Promise: tenon.Contract{Input: []byte(`{"type":"object","properties":{"id":true}}`)}, Handler: answer(tenon.Reply{}),
	}
	c := gateway.Build([]gateway.Named{{Offer: tenon.Offer{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	got := string(c.Tools()[0].Definition())
	want := `{"name":"get","title":"Get a <book>","description":"line 1\n\"line\" 2","inputSchema":{"type":"object","properties":{"id":{}}},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false},"_meta":{"a":1}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !json.Valid([]byte(got)) {
		t.Error("the definition is no JSON")
	}
	if len(c.Tools()[0].Faults()) != 1 {
		t.Errorf("the boolean schema was replaced without a report: %v", c.Tools()[0].Faults())
	}
}
