package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func bytesOf(encoded string) []byte {
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err) // a constant above is broken
	}
	return b
}

func text(format string, args ...any) tenon.Content {
	return tenon.Content{Text: fmt.Appendf(nil, format, args...)}
}

// tool makes a tool with content of its own.
func tool(name, input string, run func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error)) tenon.Tool {
	var contract tenon.ContractProvider
	if input != "" {
		contract = tenon.Contract{Input: []byte(input)}
	}
	return tenon.Tool{Name: name, Description: "Fixture " + name, Policy: tenon.Off, Contract: contract,
		Handler: func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
			blocks, err := run(ctx, c)
			return tenon.Response{Content: blocks}, err
		}}
}

func fixed(name string, blocks ...tenon.Content) tenon.Tool {
	return tool(name, "", func(context.Context, *tenon.Call) ([]tenon.Content, error) { return blocks, nil })
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const exactSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
	`"phone":{"type":"string"},"email":{"type":"string"}},` +
	`"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},` +
	`"additionalProperties":false}`

func contentTools() []tenon.Tool {
	image := tenon.Content{Type: tenon.ImageContent, Data: bytesOf(png), MediaType: "image/png"}
	return []tenon.Tool{
		fixed("test_simple_text", text("This is a simple text response for testing.")),
		fixed("test_image_content", image),
		fixed("test_audio_content", tenon.Content{Type: tenon.AudioContent, Data: bytesOf(wav), MediaType: "audio/wav"}),
		fixed("test_embedded_resource", embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
		fixed("test_multiple_content_types", text("Multiple content types test:"), image,
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)),
		with(fixed("json_schema_2020_12_tool", text("called")), exactSchema),
		with(fixed("test_x_mcp_header", text("called")), `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}},"required":["region"]}`),
		tool("test_error_handling", "", func(context.Context, *tenon.Call) ([]tenon.Content, error) {
			return nil, errors.New("This tool intentionally returns an error for testing") //nolint:staticcheck // the suite's words
		}),
		tool("test_tool_with_logging", "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				c.Log("info", line)
				if err := wait(ctx, 50*time.Millisecond); err != nil {
					return nil, err
				}
			}
			return []tenon.Content{text("Tool with logging executed successfully")}, nil
		}),
		tool("test_tool_with_progress", "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			for _, done := range []float64{0, 50, 100} {
				c.NotifyProgress(done, 100, fmt.Sprintf("Completed step %v of 100", done))
				if err := wait(ctx, 50*time.Millisecond); err != nil {
					return nil, err
				}
			}
			return []tenon.Content{text("done")}, nil
		}),
		tool("test_reconnection", "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
			c.Log("info", "the stream closes soon")
			if err := wait(ctx, 700*time.Millisecond); err != nil {
				return nil, err
			}
			return []tenon.Content{text("Reconnection test completed successfully.")}, nil
		}),
		tool("test_streaming_elicitation", "", func(_ context.Context, c *tenon.Call) ([]tenon.Content, error) {
			c.NotifyProgress(50, 100, "half way")
			return []tenon.Content{text("Streaming complete")}, nil
		}),
		tool("test_logging_tool", "", func(_ context.Context, c *tenon.Call) ([]tenon.Content, error) {
			c.Log("info", "Diagnostic trace logging activated")
			return []tenon.Content{text("Logging evaluated")}, nil
		}),
	}
}

// with gives a tool another input schema.
func with(t tenon.Tool, input string) tenon.Tool {
	t.Contract, t.RawSchemas = tenon.Contract{Input: []byte(input)}, true
	return t
}

// changeTools make a new catalog, so that listeners hear of it.
func changeTools(g *gateway.Gateway) []tenon.Tool {
	change := func(context.Context, *tenon.Call) ([]tenon.Content, error) {
		g.Swap(catalog(g))
		return []tenon.Content{text("Mutation triggered")}, nil
	}
	return []tenon.Tool{tool("test_trigger_tool_change", "", change), tool("test_trigger_prompt_change", "", change)}
}

// field reads one member of an answer.
func field(a tenon.InputResponse, name string) string {
	var m map[string]any
	if json.Unmarshal(a.Body, &m) != nil {
		return "unknown"
	}
	return fmt.Sprint(m[name])
}
