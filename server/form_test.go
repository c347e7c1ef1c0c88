package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

const ageForm = `{"type":"object","properties":{"age":{"type":"integer","minimum":0},"mail":{"type":"string","format":"email"}},"required":["age"]}`

// census asks for an age and says what came.
func census(came *[]string) tenon.Tool {
	return tool("census", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		a, err := c.RequestInput(ctx, tenon.FormRequest("age", "How old?", []byte(ageForm)))
		if err != nil {
			return tenon.Response{}, err
		}
		*came = append(*came, a[0].Action+string(a[0].Body))
		return tenon.Response{Content: []tenon.Content{{Text: []byte("counted")}}}, nil
	})
}

// misfits are contents of the form that it does not admit.
func misfits() map[string]string {
	return map[string]string{
		"a text for a number":         `{"age":"forty"}`,
		"a field that is missing":     `{}`,
		"a number below its bound":    `{"age":-1}`,
		"a text of the wrong format":  `{"age":1,"mail":"nobody"}`,
		"a fraction where none is":    `{"age":1.5}`,
		"null for a number":           `{"age":null}`,
		"no object, which is no form": `[1]`,
	}
}

func checkForm(t *testing.T) string {
	var came []string
	s := serve(server.Options{}, census(&came))
	ask := func(params string) string {
		return answer(s, post(withMeta("1", "tools/call", `"name":"census"`+params, forms, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: census")).Body.String()
	}
	for name, content := range misfits() {
		state := stateOf(ask(""))
		again := ask(`,"inputResponses":{"age":{"action":"accept","content":` + content + `}},"requestState":"` + state + `"`)
		if problem := missing(again, `"resultType":"input_required"`, `"inputRequests":{"age":`); problem != "" {
			return name + ": " + problem
		}
		if len(came) > 0 {
			return name + ": it reached the tool"
		}
		right := ask(`,"inputResponses":{"age":{"action":"accept","content":{"age":7}}},"requestState":"` + stateOf(again) + `"`)
		if problem := missing(right, "counted"); problem != "" {
			return name + ": then " + problem
		}
		came = nil
	}
	return ""
}

// Nobody is asked for ever: a client that always answers the same gets an error.
func TestWrongFormIsRefusedInTheEnd(t *testing.T) {
	var came []string
	s := serve(server.Options{}, census(&came))
	params, body := "", ""
	for range 10 {
		body = answer(s, post(withMeta("1", "tools/call", `"name":"census"`+params, forms, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: census")).Body.String()
		params = `,"inputResponses":{"age":{"action":"accept","content":{"age":"x"}}},"requestState":"` + stateOf(body) + `"`
		if stateOf(body) == "" {
			break
		}
	}
	if problem := missing(body, `"isError":true`, "does not fit", "age: expected"); problem != "" || len(came) > 0 {
		t.Error(problem, came)
	}
}

// Before 2026-07-28 the question is put again in the same call, and in the end
// the call fails with what is wrong.
func TestWrongFormIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		want    string
		reached bool
	}{
		"right at last":        {[]string{`{"age":"x"}`, `{}`, `{"age":7}`}, "counted", true},
		"wrong to the end":     {[]string{`{"age":"x"}`, `{}`, `{"age":-1}`}, "does not fit", false},
		"right from the start": {[]string{`{"age":0}`}, "counted", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var came []string
				p := converse(t.Context(), serve(server.Options{}, census(&came)))
				p.send(legacyBody("initialize", `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}`))
				p.send(strings.Replace(legacyBody("tools/call", `"name":"census"`), `"id":1`, `"id":2`, 1))
				synctest.Wait()
				p.out.take()
				for i, content := range c.answers {
					id := `"tenon-` + string(rune('1'+i)) + `"`
					p.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":` + content + `}}`)
					synctest.Wait()
				}
				if problem := missing(p.out.take(), c.want); problem != "" {
					t.Error(problem)
				}
				if (len(came) > 0) != c.reached {
					t.Errorf("the tool got %q", came)
				}
				p.close(t)
			})
		})
	}
}

// A person who says no has filled in nothing, and that is an answer.
func TestRefusalNeedsNoFields(t *testing.T) {
	var came []string
	s := serve(server.Options{}, census(&came))
	ask := func(params string) string {
		return answer(s, post(withMeta("1", "tools/call", `"name":"census"`+params, forms, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: census")).Body.String()
	}
	ask(`,"inputResponses":{"age":{"action":"decline"}},"requestState":"` + stateOf(ask("")) + `"`)
	if len(came) != 1 || came[0] != "decline" {
		t.Errorf("the tool got %q", came)
	}
}

func TestTaskIsFollowed(t *testing.T) {
	s := open(t, server.Options{TaskAfter: 1}, catalog(gated()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := s.do(ctx, http.MethodPost, withMeta("1", "tools/call", `"name":"gated"`, taskClient, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: gated").all()
	_, rest, _ := strings.Cut(begun, `"taskId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if id == "" {
		t.Fatal(begun)
	}
	listen := func(capabilities, ids string) *response {
		return s.do(ctx, http.MethodPost, withMeta(`"l"`, "subscriptions/listen", `"notifications":{"taskIds":`+ids+`}`, capabilities, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
	}
	if problem := missing(listen("{}", `["`+id+`"]`).all(), `"code":-32021`, `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`); problem != "" {
		t.Error(problem)
	}
	w := listen(taskClient, `["`+id+`","nobody","`+id+`"]`)
	if problem := missing(w.next(), "acknowledged", `"notifications":{"taskIds":["`+id+`"]}`); problem != "" {
		t.Error(problem)
	}
	if problem := missing(w.next(), `"method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"taskId":"`+id+`","status":"input_required"`, `"inputRequests":{"go":`); problem != "" {
		t.Error(problem)
	}
	s.do(ctx, http.MethodPost, withMeta("2", "tasks/update", `"taskId":"`+id+`","inputResponses":{"go":{"action":"accept","content":{}}}`, taskClient, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tasks/update", "Mcp-Name: "+id).all()
	last := ""
	for !strings.Contains(last, `"completed"`) {
		if last = w.next(); last == "" {
			t.Fatal("the stream ended before the task was told to have ended")
		}
	}
	if problem := missing(last, `"status":"completed"`, `"result":{"resultType":"complete"`, `"text":"went"`); problem != "" {
		t.Error(problem)
	}
	// Who comes late hears it too.
	late := listen(taskClient, `["`+id+`"]`)
	late.next()
	if problem := missing(late.next(), `"status":"completed"`, `"text":"went"`); problem != "" {
		t.Error(problem)
	}
}

// gated goes on once somebody lets it.
func gated() tenon.Tool {
	return tool("gated", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		for {
			_, err := c.RequestInput(ctx, tenon.FormRequest("go", "Go?", []byte(`{"type":"object"}`)))
			if _, needed := err.(*tenon.InputRequiredError); needed { //nolint:errorlint // the asker's own
				continue // it is no task yet
			}
			return tenon.Response{Content: []tenon.Content{{Text: []byte("went")}}}, err
		}
	})
}
