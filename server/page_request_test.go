package server_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

const urls = `{"elicitation":{"url":{}}}`

// page asks the user to open a page, and says what came when it is done.
func page(done <-chan struct{}) tenon.Tool {
	return tool("page", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		q := tenon.URLRequest("page", `Open "this"`, "https://mcp.example.com/p?a=1&b=2")
		q.ID, q.Done = "the-id", done
		a, err := c.RequestInput(ctx, q)
		if err != nil {
			return tenon.Response{}, err
		}
		said := a[0].Action
		select {
		case <-done:
			said += " done"
		default:
			said += " open"
		}
		return tenon.Response{Content: []tenon.Content{{Text: []byte(said)}}}, nil
	})
}

// A client that accepts a URL has only begun: the call waits until the page was used,
// and clients of 2025-11-25 are told (client/elicitation, "Completion Notifications").
func TestACallWaitsForThePage(t *testing.T) {
	for name, c := range map[string]struct {
		action string
		use    bool
		want   []string
		not    string
	}{
		"used":     {"accept", true, []string{`"method":"notifications/elicitation/complete","params":{"elicitationId":"the-id"}`, "accept done"}, "cancelled"},
		"not used": {"accept", false, []string{"accept open"}, "elicitation/complete"},
		"declined": {"decline", true, []string{"decline"}, "elicitation/complete"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				p := converse(t.Context(), serve(server.Options{}, page(done)))
				p.send(legacyBody("initialize", `"protocolVersion":"2025-11-25","capabilities":`+urls))
				p.send(strings.Replace(legacyBody("tools/call", `"name":"page"`), `"id":1`, `"id":2`, 1))
				synctest.Wait()
				if problem := missing(p.out.take(), `"method":"elicitation/create"`, `"mode":"url","message":"Open \"this\"","url":"https://mcp.example.com/p?a=1&b=2","elicitationId":"the-id"}`); problem != "" {
					t.Error(problem)
				}
				p.send(`{"jsonrpc":"2.0","id":"tenon-1","result":{"action":"` + c.action + `"}}`)
				synctest.Wait()
				if said := p.out.take(); c.action == "accept" && said != "" {
					t.Error("it did not wait:", said)
				} else if c.action != "accept" {
					if problem := missing(said, c.want...); problem != "" {
						t.Error(problem)
					}
				}
				if c.use {
					close(done)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if said := p.out.take(); c.action == "accept" {
					if problem := missing(said, c.want...); problem != "" || strings.Contains(said, c.not) {
						t.Error(problem, said)
					}
				}
				p.close(t)
			})
		})
	}
}

// 2026-07-28 has neither an id nor a notification; the request with the answer waits.
func TestTheNewestRevisionHasNoElicitationID(t *testing.T) {
	done := make(chan struct{})
	s := serve(server.Options{}, page(done))
	ask := func(capabilities, params string) string {
		return answer(s, post(withMeta("1", "tools/call", `"name":"page"`+params, capabilities, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: page")).Body.String()
	}
	first := ask(urls, "")
	if problem := missing(first, `"resultType":"input_required"`, `"mode":"url"`); problem != "" || strings.Contains(first, "the-id") {
		t.Fatal(problem, first)
	}
	if said := ask(forms, ""); strings.Contains(said, "input_required") {
		t.Error("asked a client for a mode that it did not declare:", said)
	}
	close(done)
	said := ask(urls, `,"inputResponses":{"page":{"action":"accept"}},"requestState":"`+stateOf(first)+`"`)
	if problem := missing(said, "accept done"); problem != "" || strings.Contains(said, "elicitation/complete") {
		t.Error(problem, said)
	}
}
