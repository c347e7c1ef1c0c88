package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/search"
)

const book = `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`

// bookshop offers a few tools whose upstream answers with body.
func bookshop(envelope tenon.Envelope, policy tenon.Policy, status int, body string) tenon.Features {
	answers := []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(book)}}
	respond := func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Status: status, MediaType: "application/json", Body: []byte(body), Header: http.Header{}}, nil
	}
	input := []byte(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`)
	return tenon.Features{Tools: []tenon.Tool{
		{Name: "getBook", Title: "Get a book", Group: "books", Envelope: envelope, Policy: policy, Contract: tenon.Contract{Input: input, Responses: answers}, Handler: respond},
		{
			Name: "burnBook", Title: "Burn a book", Envelope: envelope, Policy: policy, Contract: tenon.Contract{Input: input, Responses: answers}, Handler: respond,
			Confirmation: tenon.ConfirmRule{Mode: tenon.ConfirmArg, Action: tenon.DeleteResource, Effect: "burns it"},
		},
		{Name: "listBooks", Title: "List books", Envelope: envelope, Policy: policy, Contract: tenon.Contract{Responses: answers}, Handler: respond, MaxResult: 100},
	}}
}

func catalog(o tenon.Features) *gateway.Catalog {
	return gateway.Build([]gateway.Mount{{Name: "shop", Features: o}}, gateway.BuildOptions{Describe: gateway.ToggleOn})
}

func call(t *testing.T, c *gateway.Catalog, tool, args string) *tenon.Result {
	t.Helper()
	res, err := gateway.New(c, gateway.Options{}).Call(context.Background(), &tenon.Call{Tool: tool, Args: []byte(args), Subject: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestCallToolIsTheCall holds an answer that came through call_tool against
// the same call made directly, and against what call_tool publishes.
func TestCallToolIsTheCall(t *testing.T) {
	for _, tt := range []struct{ name, tool, args, body string }{
		{"an answer that fits", "getBook", `{"id":1}`, `{"title":"Emma"}`},
		{"an answer that violates its schema", "getBook", `{"id":1}`, `{"title":7}`},
		{"an error of the upstream", "getBook", `{"id":1}`, ""},
		{"arguments that do not fit", "getBook", `{"id":"x"}`, `{"title":"Emma"}`},
		{"arguments that can be healed", "getBook", `{"id":"1"}`, `{"title":"Emma"}`},
		{"consent is asked for", "burnBook", `{"id":1}`, `{"title":"Emma"}`},
		{"a tool without arguments", "listBooks", `{}`, `{"title":"Emma"}`},
	} {
		for _, envelope := range []tenon.Envelope{tenon.OpenAPIMCP, tenon.FlowMCP, tenon.Native} {
			for _, policy := range []tenon.Policy{tenon.Enforce, tenon.Repair, tenon.Warn, tenon.Off} {
				t.Run(tt.name+"/"+string(envelope)+"/"+string(policy), func(t *testing.T) {
					status := 200
					if tt.body == "" {
						status = 500
					}
					all := catalog(bookshop(envelope, policy, status, tt.body))
					want := call(t, all, tt.tool, tt.args)
					got := call(t, search.Wrap(all), "call_tool", `{"tool":"`+tt.tool+`","arguments":`+tt.args+`}`)
					checkPublished(t, search.Wrap(all), got, envelope)
					got.Meta = bytes.Replace(got.Meta, []byte(`"path":"/arguments/`), []byte(`"path":"/`), 1) // as they were sent
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("call_tool does not match %s (-direct +through):\n%s", tt.tool, diff)
					}
				})
			}
		}
	}
}

func checkPublished(t *testing.T, c *gateway.Catalog, res *tenon.Result, envelope tenon.Envelope) {
	t.Helper()
	_, output := c.Find("call_tool").Schemas()
	if envelope == tenon.Native {
		if output != nil {
			t.Errorf("call_tool publishes %s though every tool has a form of its own", output)
		}
		return
	}
	s, err := schema.Compile(output, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Structured == nil {
		return
	}
	if v := s.Validate(res.Structured); len(v) > 0 {
		t.Errorf("the answer %s breaks what call_tool publishes: %v", res.Structured, v)
	}
}

func TestAgreedAndResumedThroughCallTool(t *testing.T) {
	long := `{"title":"Emma","pages":[` + strings.TrimSuffix(strings.Repeat(`"0123456789",`, 9), ",") + `]}`
	offer := bookshop(tenon.OpenAPIMCP, tenon.Warn, 200, long)
	g := gateway.New(search.Wrap(catalog(offer)), gateway.Options{})
	ask := func(tool, args string) *tenon.Result {
		res, err := g.Call(context.Background(), &tenon.Call{Tool: tool, Args: []byte(args), Subject: "owner"})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := ask("call_tool", `{"tool":"burnBook","arguments":{"id":1}}`); res.Confirmation == nil {
		t.Errorf("consent was not asked for: %s", res.Structured)
	}
	if res := ask("call_tool", `{"tool":"burnBook","arguments":{"id":1,"confirmed":true}}`); res.IsError || res.Confirmation != nil {
		t.Errorf("the call was agreed to and is not made: %s", res.Structured)
	}
	first := ask("call_tool", `{"tool":"listBooks"}`)
	_, token, found := strings.Cut(string(first.Structured), `"resume_token":"`)
	if !found {
		t.Fatalf("the answer was not cut: %s", first.Structured)
	}
	token, _, _ = strings.Cut(token, `"`)
	for _, tool := range []string{"listBooks", "next_part"} {
		if res := ask("call_tool", `{"tool":"`+tool+`","arguments":{"resume_token":"`+token+`"}}`); res.IsError {
			t.Errorf("%s does not give the next part: %s", tool, res.Structured)
		}
	}
}

func TestSearchAndDescribe(t *testing.T) {
	over := search.Wrap(catalog(bookshop(tenon.OpenAPIMCP, tenon.Warn, 200, `{"title":"Emma"}`)))
	var names []string
	for _, e := range over.Tools() {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"search_tools", "describe_tool", "call_tool", "next_part"}, names); diff != "" {
		t.Errorf("the tools (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ name, tool, args, want string }{
		{"a tool is found by other words", "search_tools", `{"query":"what titles do you have, show all of them","limit":1}`, `"tool":"listBooks"`},
		{"with its arguments", "search_tools", `{"query":"burn a book","limit":1}`, `"required":["id"],"optional":["confirmed"]`},
		{"nothing is found", "search_tools", `{"query":"xyzzy"}`, `{"tools":[],"hint":"not found in any tool: \"xyzzy\"","topics":["books"],"of":3}`},
		{"a slip of the pen", "search_tools", `{"query":"list boosk"}`, `not found in any tool: \"boosk\" (did you mean book or books?)`},
		{"a name that no tool has is no slip", "search_tools", `{"query":"get a book for alice","limit":1}`, `"optional":[]}],"of":3}`},
		{"a tool that fits as well is told", "search_tools", `{"query":"book","limit":1}`, `"more":2,"of":3}`},
		{"a tool is described", "describe_tool", `{"tool":"getBook"}`, `declare function getBook(args: {`},
		{"a type that is not there", "describe_tool", `{"tool":"getBook","types":["Shelf"]}`, `getBook has no type Shelf`},
		{"a tool that is not there", "describe_tool", `{"tool":"getBok"}`, `unknown tool "getBok"; did you mean "getBook"? To find others, call search_tools with {"query":"get bok"}`},
		{"words that are no tool's", "describe_tool", `{"tool":"send_SMSToParent"}`, `unknown tool "send_SMSToParent"; to find one, call search_tools with {"query":"send smsto parent"}`},
		{"a name without words", "describe_tool", `{"tool":"?!"}`, `unknown tool "?!"; find one with search_tools`},
		{"a name without end", "describe_tool", `{"tool":"` + strings.Repeat("book ", 300) + `"}`, `…"; did you mean`},
		{"the tool that describes is not described", "describe_tool", `{"tool":"describe"}`, `unknown tool "describe"`},
		{"a tool that is not there is not called", "call_tool", `{"tool":"book_get"}`, `did you mean "getBook", `},
		{"a tool whose letters changed places is not called", "call_tool", `{"tool":"lsitBooks"}`, `did you mean "listBooks"? To find others, call search_tools with {"query":"lsit books"}`},
		{"the tool that describes is not called", "call_tool", `{"tool":"describe"}`, `unknown tool`},
		{"no tool is named", "call_tool", `{}`, `tool`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := call(t, over, tt.tool, tt.args)
			said := string(res.Structured)
			for _, b := range res.Content {
				said += string(b.Text)
			}
			if !strings.Contains(said, tt.want) {
				t.Errorf("got %s, want %s in it", said, tt.want)
			}
		})
	}
}

// TestAnyQuery: whatever is asked, the answer is a success that fits its
// schema, with no more tools than asked for.
func TestAnyQuery(t *testing.T) {
	g := gateway.New(search.Wrap(catalog(bookshop(tenon.Native, tenon.Enforce, 200, `{}`))), gateway.Options{})
	rapid.Check(t, func(t *rapid.T) {
		query := rapid.StringN(1, 200, 900).Draw(t, "query")
		args := append([]byte(`{"limit":2,"query":`), quoted(query)...)
		res, err := g.Call(context.Background(), &tenon.Call{Tool: "search_tools", Args: append(args, '}')})
		if err != nil || res.IsError {
			t.Fatalf("%v %v", err, res)
		}
		if n := strings.Count(string(res.Structured), `"required"`); n > 2 {
			t.Errorf("%d tools, asked for 2", n)
		}
	})
}

func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}
