package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

const taskClient = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// lasting is a tool that takes a while, asks and then ends as it is told.
func lasting() tenon.Tool {
	return tool("last", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
			return tenon.Response{}, ctx.Err()
		}
		switch string(c.Args) {
		case `{"end":"ask"}`:
			a, err := c.RequestInput(ctx, tenon.FormRequest("one", "1?", []byte(`{}`)), tenon.FormRequest("two", "2?", []byte(`{}`)))
			if err != nil {
				return tenon.Response{}, err
			}
			return tenon.Response{Content: []tenon.Content{{Text: []byte(a[0].Action + a[1].Action)}}}, nil
		case `{"end":"error"}`:
			return tenon.Response{}, &tenon.UnsupportedInputError{Kind: tenon.Sampling}
		case `{"end":"failure"}`:
			return tenon.Response{}, &tenon.Error{Code: tenon.CodeNetwork, Message: "nobody answered"}
		}
		return tenon.Response{MediaType: "application/json", Body: []byte(`{"big":9007199254740993}`)}, nil
	})
}

// exchange sends one request of 2026-07-28 in its own time.
func exchange(s *server.Server, method, name, params, capabilities string) string {
	r := post(withMeta("1", method, params, capabilities, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: "+method, "Mcp-Name: "+name)
	return answer(s, r).Body.String()
}

func begin(t *testing.T, s *server.Server, end string) (id string) {
	t.Helper()
	body := exchange(s, "tools/call", "last", `"name":"last","arguments":{"end":"`+end+`"}`, taskClient)
	var m struct {
		Result struct{ ResultType, TaskID, Status string }
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Result.ResultType != "task" || m.Result.Status != "working" || m.Result.TaskID == "" {
		t.Fatalf("no task: %v %s", err, body)
	}
	return m.Result.TaskID
}

func TestLongCallBecomesTask(t *testing.T) {
	for end, want := range map[string][]string{
		"value":   {`"resultType":"complete"`, `"status":"completed"`, `"result":{"resultType":"complete"`, `"structuredContent":{"big":9007199254740993}`},
		"failure": {`"status":"completed"`, `"isError":true`, "nobody answered"},
		"error":   {`"status":"failed"`, `"error":{"code":-32021`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(server.Options{}, lasting())
			id := begin(t, s, end)
			ask := func() string { return exchange(s, "tasks/get", id, `"taskId":"`+id+`"`, taskClient) }
			if problem := missing(ask(), `"status":"working"`, `"ttlMs":3600000,"pollIntervalMs":500`); problem != "" {
				t.Error(problem)
			}
			time.Sleep(11 * time.Second)
			synctest.Wait()
			if problem := missing(ask(), want...); problem != "" {
				t.Errorf("%s: %s", end, problem)
			}
			time.Sleep(time.Hour)
			if problem := missing(ask(), `"code":-32602`); problem != "" {
				t.Errorf("%s: the task lives on: %s", end, problem)
			}
		})
	}
}

func TestTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, lasting())
		id := begin(t, s, "ask")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		get := func() string { return exchange(s, "tasks/get", id, `"taskId":"`+id+`"`, taskClient) }
		update := func(responses string) {
			exchange(s, "tasks/update", id, `"taskId":"`+id+`","inputResponses":`+responses, taskClient)
			synctest.Wait()
		}
		if problem := missing(get(), `"status":"input_required"`, `"inputRequests":{"one":{"method":"elicitation/create"`, `"two":{"method"`); problem != "" {
			t.Error(problem)
		}
		update(`{"one":{"action":"accept","content":{}},"three":{"action":"accept","content":{}},"two":7}`)
		if problem := missing(get(), `"status":"input_required"`, `"inputRequests":{"two":{`); problem != "" {
			t.Error(problem)
		}
		update(`{"one":{"action":"decline"},"two":{"action":"cancel"}}`)
		if problem := missing(get(), `"status":"completed"`, `"text":"acceptcancel"`); problem != "" {
			t.Error(problem)
		}
	})
}

func TestTaskIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, lasting())
		id := begin(t, s, "value")
		for range 2 {
			if problem := missing(exchange(s, "tasks/cancel", id, `"taskId":"`+id+`"`, taskClient), `"resultType":"complete"`); problem != "" {
				t.Error(problem)
			}
			synctest.Wait()
			if problem := missing(exchange(s, "tasks/get", id, `"taskId":"`+id+`"`, taskClient), `"status":"cancelled"`); problem != "" {
				t.Error(problem)
			}
		}
	})
}

func TestNoTaskWithoutConsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, append(fixtures(), lasting())...)
		if body := exchange(s, "tools/call", "last", `"name":"last"`, "{}"); strings.Contains(body, `"task"`) || !strings.Contains(body, "9007199254740993") {
			t.Error(body)
		}
		if problem := missing(exchange(s, "tasks/get", "x", `"taskId":"x"`, "{}"), `"code":-32021`); problem != "" {
			t.Error(problem)
		}
		if problem := missing(exchange(s, "tasks/get", "x", `"taskId":"x"`, taskClient), `"code":-32602`); problem != "" {
			t.Error(problem)
		}
		if problem := missing(exchange(s, "tasks/get", "y", `"taskId":"x"`, taskClient), `"code":-32020`); problem != "" {
			t.Error(problem)
		}
		if body := exchange(s, "tools/call", "greet", `"name":"greet"`, taskClient); strings.Contains(body, "taskId") {
			t.Errorf("a short call became a task: %s", body)
		}
	})
}

func TestTasksOffAndNeeded(t *testing.T) {
	off := serve(server.Options{TaskAfter: -1}, lasting())
	if problem := missing(exchange(off, "tasks/get", "x", `"taskId":"x"`, taskClient), `"code":-32601`); problem != "" {
		t.Error(problem)
	}
	needed := serve(server.Options{TaskTools: []string{"last"}}, lasting())
	if problem := missing(exchange(needed, "tools/call", "last", `"name":"last"`, "{}"), `"code":-32021`, `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`); problem != "" {
		t.Error(problem)
	}
}

func TestClientThatLeavesEarlyEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := make(chan string, 1), make(chan string, 1)
		s := serve(server.Options{}, waiter(began, ended))
		ctx, cancel := context.WithCancel(t.Context())
		r := post(withMeta("1", "tools/call", `"name":"wait"`, taskClient, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: wait")
		go answer(s, r.WithContext(ctx))
		<-began
		cancel()
		<-ended
	})
}
