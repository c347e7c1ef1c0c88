package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// late is a tool that asks at once, and comes to its end only after the call
// has become a task.
func late(end func(c *tenon.Call, a []tenon.InputResponse, err error) (tenon.Response, error)) tenon.Tool {
	return tool("last", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		a, err := c.RequestInput(ctx, tenon.FormRequest("one", "1?", []byte(`{}`)))
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
			return tenon.Response{}, ctx.Err()
		}
		return end(c, a, err)
	})
}

func taskState(s *server.Server, id string) string {
	synctest.Wait()
	return exchange(s, "tasks/get", id, `"taskId":"`+id+`"`, taskClient)
}

// What a handler asked before its call became a task is asked by the task, and
// the call is made again with the answer.
func TestTaskAsksWhatWasAskedBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, late(func(_ *tenon.Call, a []tenon.InputResponse, err error) (tenon.Response, error) {
			if err != nil {
				return tenon.Response{}, err
			}
			return tenon.Response{Content: []tenon.Content{{Text: []byte("it is " + a[0].Action + string(a[0].Body))}}}, nil
		}))
		id := begin(t, s, "any")
		time.Sleep(21 * time.Second)
		if diff := missing(taskState(s, id), `"status":"input_required"`, `"inputRequests":{"one":{`); diff != "" {
			t.Fatal(diff)
		}
		exchange(s, "tasks/update", id, `"taskId":"`+id+`","inputResponses":{"one":{"action":"accept","content":{"n":1}}}`, taskClient)
		if diff := missing(taskState(s, id), `"status":"working"`); diff != "" {
			t.Error(diff)
		}
		time.Sleep(21 * time.Second)
		if diff := missing(taskState(s, id), `"status":"completed"`, `it is accept{\"n\":1}`); diff != "" {
			t.Error(diff)
		}
	})
}

// However a handler ends that asked before its call became a task, its task
// ends with an answer and the process goes on.
func TestTaskEndsHoweverItsHandlerDoes(t *testing.T) {
	for name, c := range map[string]struct {
		end  func() error
		want string
	}{
		"an error":           {func() error { return errors.New("boom") }, `"isError":true`},
		"cannot ask":         {func() error { return &tenon.UnsupportedInputError{Kind: tenon.Sampling} }, `"code":-32021`},
		"nothing to ask":     {func() error { return &tenon.InputRequiredError{} }, `"status":"failed"`},
		"a panic":            {func() error { panic("boom") }, `"isError":true`},
		"its goroutine ends": {func() error { runtime.Goexit(); return nil }, `"code":-32603`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(server.Options{MaxConcurrent: 1}, late(func(*tenon.Call, []tenon.InputResponse, error) (tenon.Response, error) {
					return tenon.Response{}, c.end()
				}), echo())
				id := begin(t, s, "any")
				time.Sleep(time.Hour / 2)
				if diff := missing(taskState(s, id), c.want); diff != "" {
					t.Error(diff)
				}
				if diff := missing(exchange(s, "tools/call", "echo", `"name":"echo"`, taskClient), `"result"`); diff != "" {
					t.Errorf("the place of the call is lost: %s", diff)
				}
			})
		})
	}
}

// Parts of a call that ask under one key at the same time are told apart.
func TestTaskAsksTwiceUnderOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, tool("last", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
			time.Sleep(20 * time.Second)
			var said [2]string
			var parts sync.WaitGroup
			for i := range said {
				parts.Go(func() {
					if a, err := c.RequestInput(ctx, tenon.FormRequest("one", "which?", []byte(`{}`))); err == nil {
						said[i] = a[0].Action
					}
				})
			}
			parts.Wait()
			return tenon.Response{Content: []tenon.Content{{Text: []byte(strings.Join(said[:], "-"))}}}, nil
		}))
		id := begin(t, s, "any")
		time.Sleep(11 * time.Second)
		if diff := missing(taskState(s, id), `"one":{`, `"one-2":{`); diff != "" {
			t.Fatal(diff)
		}
		exchange(s, "tasks/update", id, `"taskId":"`+id+`","inputResponses":{"one":{"action":"decline"},"one-2":{"action":"decline"}}`, taskClient)
		if diff := missing(taskState(s, id), `"status":"completed"`, "decline-decline"); diff != "" {
			t.Error(diff)
		}
	})
}

// A question whose asker waits no more is not asked any more.
func TestTaskForgetsQuestionsThatWereGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, tool("last", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
			time.Sleep(20 * time.Second)
			short, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			_, _ = c.RequestInput(short, tenon.FormRequest("one", "1?", []byte(`{}`)))
			time.Sleep(time.Minute / 2)
			return tenon.Response{Content: []tenon.Content{{Text: []byte("done")}}}, nil
		}))
		id := begin(t, s, "any")
		time.Sleep(11 * time.Second)
		if diff := missing(taskState(s, id), `"input_required"`, `"one":{`); diff != "" {
			t.Error(diff)
		}
		time.Sleep(6 * time.Second)
		if body := taskState(s, id); !strings.Contains(body, `"status":"working"`) || strings.Contains(body, "inputRequests") {
			t.Error(body)
		}
		time.Sleep(time.Minute)
	})
}

// The id that a client is told leads to the cause in the log.
func TestPanicsAreInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := serve(server.Options{Logger: slog.New(slog.NewTextHandler(&out, nil))}, late(func(*tenon.Call, []tenon.InputResponse, error) (tenon.Response, error) {
			runtime.Goexit()
			return tenon.Response{}, nil
		}))
		id := begin(t, s, "any")
		time.Sleep(time.Minute)
		body := taskState(s, id)
		_, rest, _ := strings.Cut(body, "incident ")
		incident, _, _ := strings.Cut(rest, " ")
		if incident == "" || !strings.Contains(out.String(), incident) {
			t.Errorf("%s\nthe log: %s", body, out.String())
		}
	})
}
