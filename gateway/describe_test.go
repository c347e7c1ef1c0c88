package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
)

// described is a page of descriptions as a client reads it.
type described struct {
	Type  string `json:"type"`
	Tools []struct {
		Name, Description         string
		InputSchema, OutputSchema json.RawMessage
		Examples                  []struct {
			Input, Output json.RawMessage
			Generated     []string
		}
	}
	NextCursor string `json:"next_cursor"`
}

func describe(t *testing.T, g *gateway.Gateway, name, args string) (d described, bytes int) {
	t.Helper()
	res, err := g.Call(t.Context(), &tenon.Call{Tool: name, Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	if res.IsError {
		t.Fatalf("%s: %s", args, res.Content[0].Text)
	}
	if err := json.Unmarshal(res.Structured, &d); err != nil || d.Type != "api_docs" {
		t.Fatal(err, d.Type)
	}
	return d, len(res.Structured)
}

// checkExamples holds every example against the schemas beside it.
func checkExamples(t *testing.T, d described) (examples int) {
	t.Helper()
	for _, tool := range d.Tools {
		for _, e := range tool.Examples {
			examples++
			for doc, value := range map[string]json.RawMessage{string(tool.InputSchema): e.Input, string(tool.OutputSchema): e.Output} {
				s, err := schema.Compile([]byte(doc), schema.Options{})
				if err != nil {
					t.Fatalf("%s: %v: %s", tool.Name, err, doc)
				}
				if diagnostics := s.Validate(value); value != nil && len(diagnostics) > 0 {
					t.Errorf("%s: the example %s does not fit: %v", tool.Name, value, diagnostics)
				}
			}
		}
	}
	return examples
}

func TestDescribe(t *testing.T) {
	contract := bookContract()
	contract.Responses[0].Example = []byte("{\n\"title\": \"Emma\"}")
	listing := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"array","items":{"$ref":"#/$defs/B"},"$defs":{"B":` + bookSchema + `}}`), Example: []byte(`["no book"]`)}}}
	tools := []tenon.Tool{
		{Name: "get_book", Description: "Get one.", Envelope: tenon.OpenAPIMCP, Policy: tenon.Warn, Contract: contract, Handler: answer(tenon.Response{})},
		{Name: "list_books", Contract: listing, Handler: answer(tenon.Response{})},
		{Name: "anything", Handler: answer(tenon.Response{})},
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{}), gateway.Options{})
	all := g.Catalog().Tools()
	if last := all[len(all)-1]; len(all) != 5 || last.Name() != "describe" {
		t.Fatalf("%d tools, the last is %s", len(all), last.Name())
	}
	d, _ := describe(t, g, "describe", `{}`)
	if checkExamples(t, d) != 3 || d.NextCursor != "" {
		t.Errorf("got %+v", d)
	}
	book, list := d.Tools[0], d.Tools[1]
	if strings.Contains(string(book.OutputSchema), `{"anyOf":[{},`) || book.Description != "Get one." || len(d.Tools) != 3 {
		t.Errorf("the book is described as %s", book.OutputSchema)
	}
	if diff := cmp.Diff(`{"title":"Emma"}`, string(book.Examples[0].Output)); diff != "" || len(book.Examples[0].Generated) != 1 {
		t.Errorf("the description's example: %s, %v", diff, book.Examples[0].Generated)
	}
	if !strings.HasPrefix(string(list.OutputSchema), `{"type":"array"`) || len(list.Examples[0].Generated) != 2 {
		t.Errorf("the list is described as %s with %+v", list.OutputSchema, list.Examples)
	}
	if one, _ := describe(t, g, "describe", `{"tool":"list_books"}`); len(one.Tools) != 1 || one.Tools[0].Name != "list_books" {
		t.Errorf("one tool: %+v", one)
	}
	for args, want := range map[string]string{
		`{"tool":"BOOK"}`:   `there is no tool "BOOK"; did you mean "get_book", "list_books"? Call describe without arguments to see all tools`,
		`{"cursor":"none"}`: "start again",
		`{"tols":1}`:        "Leave out tols",
	} {
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "describe", Args: []byte(args)})
		if err != nil || !res.IsError || !strings.Contains(res.Message+" "+strings.Join(res.Suggestions, "; "), want) {
			t.Errorf("%s: %v, %s", args, err, res.Content[0].Text)
		}
		_, output := all[len(all)-1].Schemas()
		if fitsPublished(t, map[string]*schema.Schema{}, output, res.Structured, args); !strings.Contains(string(res.Structured), `"type":"error"`) {
			t.Errorf("%s: %s is not the structure of an error", args, res.Structured)
		}
	}
	if !strings.Contains(string(d.Tools[2].InputSchema), `"required":[]`) {
		t.Errorf("required is missing in %s", d.Tools[2].InputSchema)
	}
}

// TestDescribeStandsBack for a tool of that name, and where nothing needs it.
func TestDescribeStandsBack(t *testing.T) {
	build := func(b gateway.Toggle, s tenon.Envelope, names ...string) (got []string) {
		var tools []tenon.Tool
		for _, name := range names {
			tools = append(tools, tenon.Tool{Name: name, Envelope: s, MaxResult: -1, Handler: answer(tenon.Response{})})
		}
		for _, e := range gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{Describe: b}).Tools() {
			got = append(got, e.Name())
		}
		return got
	}
	for _, c := range []struct{ got, want []string }{
		{build("", tenon.Native, "a"), []string{"a"}},
		{build("", tenon.OpenAPIMCP, "a"), []string{"a", "describe"}},
		{build(gateway.ToggleOn, tenon.FlowMCP, "a"), []string{"a", "describe"}},
		{build(gateway.ToggleOff, tenon.OpenAPIMCP, "a"), []string{"a"}},
		{build("", tenon.OpenAPIMCP, "describe"), []string{"describe", "tenon_describe"}},
		{build("", tenon.OpenAPIMCP, "describe", "tenon_describe"), []string{"describe", "tenon_describe", "tenon_describe_2"}},
		{build("", tenon.OpenAPIMCP), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDescribePages reads a big catalog to its end.
func TestDescribePages(t *testing.T) {
	var tools []tenon.Tool
	for i := range 45 {
		tools = append(tools, tenon.Tool{Name: fmt.Sprintf("t%d", i), Envelope: tenon.OpenAPIMCP, Handler: answer(tenon.Response{})})
	}
	tools[30].Description = strings.Repeat("long ", 50_000)
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{}), gateway.Options{})
	var names []string
	pages := readPages(t, g, func(d described, _ int) {
		for _, tool := range d.Tools {
			names = append(names, tool.Name)
		}
	})
	if len(names) != 45 || pages != 4 {
		t.Errorf("%d pages with %d tools", pages, len(names))
	}
}

func readPages(t *testing.T, g *gateway.Gateway, page func(d described, bytes int)) (pages int) {
	for args := `{}`; args != ""; pages++ {
		d, bytes := describe(t, g, "describe", args)
		page(d, bytes)
		if args = ""; d.NextCursor != "" {
			args = `{"cursor":"` + d.NextCursor + `"}`
		}
	}
	return pages
}

// TestDescribeGitHub describes all of a real document.
func TestDescribeGitHub(t *testing.T) {
	document := gitHub(t)
	offer, err := openapi.Parse("github", document, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
	tools, examples, own := 0, 0, 0
	pages := readPages(t, g, func(d described, _ int) {
		tools += len(d.Tools)
		examples += checkExamples(t, d)
		for _, tool := range d.Tools {
			if len(tool.Examples) > 0 && len(tool.Examples[0].Generated) == 1 {
				own++
			}
		}
	})
	t.Logf("%d tools on %d pages, %d with an example, %d of them the document's own answer", tools, pages, examples, own)
	if tools != len(offer.Tools) || examples < tools*9/10 {
		t.Errorf("%d tools, %d examples", tools, examples)
	}
}

// gitHub is the document that TENON_OPENAPI_GITHUB names.
func gitHub(t *testing.T) []byte {
	name := os.Getenv("TENON_OPENAPI_GITHUB")
	if name == "" {
		t.Skip("NOT TESTED against GitHub's description: TENON_OPENAPI_GITHUB names no file")
	}
	document, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return document
}
