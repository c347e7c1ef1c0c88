package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
)

func TestContentOfItsOwn(t *testing.T) {
	book := tenon.Contract{Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(bookSchema)}}}
	said := []tenon.Content{{Text: []byte("as the source says")}}
	tests := []struct {
		name       string
		contract   tenon.ContractProvider
		policy     tenon.Policy
		resp       tenon.Response
		content    string // texts, joined by |
		structured string
		isError    bool
		verdict    tenon.Verdict
	}{
		{
			"no value, nothing declared", nil, "",
			tenon.Response{Content: said},
			"as the source says", "", false, tenon.Unchecked,
		},
		{
			"a value that fits", book, "",
			tenon.Response{Content: said, Body: []byte(`{"title":"Emma"}`)},
			"as the source says", `{"title":"Emma"}`, false, tenon.Fits,
		},
		{
			"a value that does not fit: the content stays, the value goes", book, "",
			tenon.Response{Content: said, Body: []byte(`{"stock":1}`)},
			"Error executing tool get_book: The response of get_book violates its schema|as the source says", "", true, tenon.Violated,
		},
		{
			"a contract that is not kept at all", book, "",
			tenon.Response{Content: said},
			"Error executing tool get_book: The response of get_book violates its schema|as the source says", "", true, tenon.Undeclared,
		},
		{
			"under warn it is delivered all the same", book, tenon.Warn,
			tenon.Response{Content: said, Body: []byte(`{"stock":1}`)},
			"as the source says|This answer breaks its published schema", `{"stock":1}`, false, tenon.Violated,
		},
		{
			"an error says nothing that was declared", book, "",
			tenon.Response{Content: said, Body: []byte(`{"stock":1}`), Failed: true, Execution: tenon.Execution{Unsafe: tenon.Responded}},
			"This call was executed and must not be repeated as it is.|as the source says", "", true, tenon.Unchecked,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.resp.Meta = []byte(`{"tenon/contract":{"verdict":"theirs"},"their/own":1}`)
			res := call(t, one(tenon.Tool{Contract: tt.contract, Policy: tt.policy}, answer(tt.resp)), "")
			var texts []string
			for _, b := range res.Content {
				text, _, _ := strings.Cut(string(b.Text), ":")
				if rest, found := strings.CutPrefix(string(b.Text), "Error executing tool get_book: "); found {
					cause, _, _ := strings.Cut(rest, ":")
					text = "Error executing tool get_book: " + cause
				}
				texts = append(texts, text)
			}
			if diff := cmp.Diff(tt.content, strings.Join(texts, "|")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.structured, string(res.Structured)); diff != "" {
				t.Error(diff)
			}
			if res.IsError != tt.isError {
				t.Errorf("isError is %t", res.IsError)
			}
			if got := verdictOf(t, res).Verdict; got != string(tt.verdict) {
				t.Errorf("the verdict is %q", got)
			}
			if !strings.HasPrefix(string(res.Meta), `{"their/own":1,"tenon/contract":{`) {
				t.Errorf("meta: %s", res.Meta)
			}
		})
	}
}

func TestASchemaIsPublishedToTheLetter(t *testing.T) {
	const odd = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"next":{"$ref":"#"},"n":{"$ref":"#/$defs/unused~1name"}},"$defs":{"unused/name":{},"other":{"type":"null"}},"x-own":[1]}`
	contract := tenon.Contract{Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(odd)}}}
	g := one(tenon.Tool{Contract: contract, RawSchemas: true}, answer(tenon.Response{}))
	if _, got := g.Catalog().Tools()[0].Schemas(); string(got) != odd {
		t.Errorf("got  %s\nwant %s", got, odd)
	}
}

// A schema that is no JSON costs what it says, not the list of tools that it
// would stand in.
func TestASchemaThatIsNoJSON(t *testing.T) {
	for _, doc := range []string{`{"type":object}`, `{"type":"object",}`, `{"a":[}`, `{"x":1 "$defs":{"a":{}}}`, `{"type":"object","$defs":{"a":{},}}`} {
		for _, form := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			contract := tenon.Contract{Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(doc)}}}
			for _, verbatim := range []bool{false, true} {
				g := one(tenon.Tool{Contract: contract, RawSchemas: verbatim, Envelope: form}, answer(tenon.Response{}))
				e := g.Catalog().Tools()[0]
				if !json.Valid(e.Definition()) || len(e.Diagnostics()) == 0 {
					t.Errorf("%s: %s, %v", doc, e.Definition(), e.Diagnostics())
				}
			}
		}
	}
}
