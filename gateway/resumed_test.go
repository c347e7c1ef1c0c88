package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/search"
)

// The arguments beside a token are those of the first call also where the
// first call's were coerced, or these are.
func TestAResumedCallIsComparedAfterCoercion(t *testing.T) {
	for first, again := range map[string]string{`{"page":7}`: `{"page":"7"`, `{"page":"7"}`: `{"page":7`, `{ "page" : "7" }`: `{"page":"7"`} {
		catalog, called := library(libraryBody(100, "n"), 1000, tenon.OpenAPIMCP)
		g := gateway.New(catalog, gateway.Options{})
		token := partialOf(t, get(t, g, "list", "ann", first)).ResumeToken
		if res := get(t, g, "list", "ann", again+`,"resume_token":"`+token+`"}`); res.IsError || partialOf(t, res).Part != 2 || *called != 1 {
			t.Errorf("%s, then %s: %s", first, again, res.Content[0].Text)
		}
		other := strings.Replace(again, "7", "8", 1)
		if res := get(t, g, "list", "ann", other+`,"resume_token":"`+token+`"}`); !res.IsError {
			t.Errorf("%s, then %s: %s", first, other, res.Content[0].Text)
		}
	}
}

// HTTP says that 204 and 205 have no body: a range that describes one does not
// describe theirs.
func TestNoContentUnderARange(t *testing.T) {
	for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		for _, status := range []int{204, 205, 200} {
			contract := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "2xx", MediaType: "application/json", Schema: []byte(`{"type":"object"}`)}}}
			g := one(tenon.Tool{Envelope: env, Contract: contract}, answer(tenon.Response{Status: status}))
			res := call(t, g, `{}`)
			if want := status == 200; res.IsError != want {
				t.Errorf("%s, %d: %s", env, status, res.Content[0].Text)
			}
			_, output := g.Catalog().Find("get_book").Schemas()
			if !res.IsError {
				keepsPublished(t, output, res)
			}
		}
	}
}

// A selection that callers ask for is made once; what is kept of them is bounded.
func TestSelectionsAreKept(t *testing.T) {
	reads := 0
	contract := countedContract{bookContract(), &reads}
	g := one(tenon.Tool{Envelope: tenon.OpenAPIMCP, Fields: true, Contract: contract}, answer(jsonResponse(200, `{"title":"Emma","stock":1}`)))
	for range 20 {
		if res := call(t, g, `{"id":1,"_fields":["title"]}`); string(res.Value) != `{"title":"Emma"}` {
			t.Fatalf("%s", res.Value)
		}
	}
	once := reads
	for i := range 200 {
		if res := call(t, g, fmt.Sprintf(`{"id":1,"_fields":["%s"]}`, strings.Repeat(" ", i)+"title")); i == 0 && res.IsError {
			t.Fatal(res.Message)
		}
	}
	if once > 3 {
		t.Errorf("the contract was read %d times for one selection", once)
	}
}

// countedContract counts how often it is read.
type countedContract struct {
	contract tenon.Contract
	reads    *int
}

func (c countedContract) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	return c.contract, nil
}

func (c countedContract) Contract() (tenon.Contract, error) {
	*c.reads++
	return c.contract, nil
}

// Which of two limits ends by a hair before the other does not change what is said.
func TestTwoLimitsThatEndTogether(t *testing.T) {
	said := map[string]bool{}
	for _, early := range []time.Duration{-time.Millisecond, 0, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			tool := tenon.Tool{Name: "wait", Handler: func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Minute+early)
				defer cancel()
				<-ctx.Done()
				time.Sleep(2 * time.Millisecond) // until both have ended
				return tenon.Response{}, &tenon.Error{Code: tenon.CodeTimeout, Message: "the source had no answer in time", Err: ctx.Err()}
			}}
			g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
			res := get(t, g, "wait", "", `{}`)
			said[res.Message] = true
			if res.Code != tenon.CodeTimeout {
				t.Errorf("%s: %s", res.Code, res.Message)
			}
		})
	}
	if len(said) != 1 || !said["the source had no answer in time"] {
		t.Errorf("said: %v", said)
	}
	synctest.Test(t, func(t *testing.T) { // who says nothing of time is told that it was over
		tool := tenon.Tool{Name: "wait", Handler: func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			<-ctx.Done()
			return tenon.Response{}, errors.New("broken pipe")
		}}
		g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
		if res := get(t, g, "wait", "", `{}`); res.Code != tenon.CodeTimeout || !strings.Contains(res.Message, "1m0s") {
			t.Errorf("%s: %s", res.Code, res.Message)
		}
	})
}

// What the words of a part name can be called, also through the three tools of
// the search.
func TestThePartsOfASearchedToolNameOneThatIsThere(t *testing.T) {
	for _, describe := range []gateway.Toggle{gateway.ToggleOn, gateway.ToggleOff} {
		for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			tools := []tenon.Tool{{Name: "list", Envelope: env, MaxResult: 400, Handler: answer(jsonResponse(200, libraryBody(40, "n")))}}
			inner := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{Describe: describe})
			g := gateway.New(search.Wrap(inner), gateway.Options{})
			res := get(t, g, "call_tool", "ann", `{"tool":"list","arguments":{}}`)
			token := partialOf(t, res).ResumeToken
			said := string(res.Content[len(res.Content)-1].Text)
			name, found := "next_part", env == tenon.OpenAPIMCP // whose words stand in the structure
			if !found {
				_, rest, _ := strings.Cut(said, "For the next one call ")
				name, _, found = strings.Cut(rest, " with ")
			}
			if !found || g.Catalog().Find(name) == nil {
				t.Fatalf("%s: %q names no tool", env, said)
			}
			if res = get(t, g, name, "ann", `{"resume_token":"`+token+`"}`); partialOf(t, res).Part != 2 {
				t.Errorf("%s: %s", env, res.Content[0].Text)
			}
			if res = get(t, g, name, "bob", `{"resume_token":"`+token+`"}`); !res.IsError {
				t.Errorf("%s: somebody else got a part: %s", env, res.Value)
			}
			if d := g.Catalog().Find("describe_tool"); (d != nil) != (describe == gateway.ToggleOn) {
				t.Errorf("describe_tool: %v", d)
			}
		}
	}
}
