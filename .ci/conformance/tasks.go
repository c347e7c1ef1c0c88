package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tenon-mcp/tenon"
)

// long is longer than the fixture waits before it makes a task.
const long = 500 * time.Millisecond

func taskTools() []tenon.Tool {
	slow := func(name string, run func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error)) tenon.Tool {
		return tool(name, "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			if err := wait(ctx, long); err != nil {
				return nil, err
			}
			return run(ctx, c)
		})
	}
	return []tenon.Tool{
		tool("greet", "", func(_ context.Context, c *tenon.Call) ([]tenon.Content, error) {
			return []tenon.Content{text("Hello, %s!", argument(c, "name"))}, nil
		}),
		tool("slow_compute", "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			var in struct{ Seconds float64 }
			if err := json.Unmarshal(c.Args, &in); err != nil {
				return nil, err
			}
			if err := wait(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
				return nil, err
			}
			return []tenon.Content{text("computed for %v seconds", in.Seconds)}, nil
		}),
		slow("failing_job", func(context.Context, *tenon.Call) ([]tenon.Content, error) {
			return nil, errors.New("the job always fails")
		}),
		slow("protocol_error_job", func(context.Context, *tenon.Call) ([]tenon.Content, error) {
			return nil, &tenon.UnsupportedInputError{Kind: tenon.ElicitURL}
		}),
		slow("confirm_delete", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			a, err := c.RequestInput(ctx, form("confirm", "Delete it?", `"confirm":{"type":"boolean"}`, `"confirm"`))
			if err != nil {
				return nil, err
			}
			return []tenon.Content{text("deleted: %s", a[0].Action)}, nil
		}),
		slow("multi_input", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			a, err := c.RequestInput(ctx, form("first", "First?", `"name":{"type":"string"}`, `"name"`), form("second", "Second?", `"name":{"type":"string"}`, `"name"`))
			if err != nil {
				return nil, err
			}
			return []tenon.Content{text("%s and %s", field(a[0], "name"), field(a[1], "name"))}, nil
		}),
		tool("test_tool_with_task", "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			a, err := c.RequestInput(ctx, form("user_name", "What is your name?", `"name":{"type":"string"}`, `"name"`))
			if err != nil {
				return nil, err
			}
			if err := wait(ctx, long); err != nil {
				return nil, err
			}
			return []tenon.Content{text("Hello, %s!", field(a[0], "name"))}, nil
		}),
	}
}
