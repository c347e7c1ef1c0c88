package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tenon-mcp/tenon"
)

func form(key, message, properties, required string) tenon.InputRequest {
	return tenon.FormRequest(key, message, fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":[%s]}`, properties, required))
}

func model(key, prompt string) tenon.InputRequest {
	quoted, err := json.Marshal(prompt)
	if err != nil {
		panic(err) // a string always is JSON
	}
	return tenon.InputRequest{Key: key, Kind: tenon.Sampling, Params: fmt.Appendf(nil,
		`{"messages":[{"role":"user","content":{"type":"text","text":%s}}],"maxTokens":100}`, quoted)}
}

func roots(key string) tenon.InputRequest { return tenon.InputRequest{Key: key, Kind: tenon.Roots} }

// asking makes a tool that asks all its questions at once.
func asking(name string, say func(answers []tenon.InputResponse) tenon.Content, questions ...tenon.InputRequest) tenon.Tool {
	return tool(name, "", func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
		answers, err := c.RequestInput(ctx, questions...)
		if err != nil {
			return nil, err
		}
		return []tenon.Content{say(answers)}, nil
	})
}

// argument reads one argument of a call.
func argument(c *tenon.Call, name string) string {
	var m map[string]any
	if json.Unmarshal(c.Args, &m) != nil {
		return ""
	}
	return fmt.Sprint(m[name])
}

func questionTools() []tenon.Tool {
	name := form("user_name", "What is your name?", `"name":{"type":"string"}`, `"name"`)
	confirm := form("confirm", "Please confirm", `"ok":{"type":"boolean"}`, `"ok"`)
	elicited := func(a []tenon.InputResponse) tenon.Content {
		return text("Elicitation completed: action=%s, content=%s", a[0].Action, a[0].Body)
	}
	said := func(s string) func([]tenon.InputResponse) tenon.Content {
		return func([]tenon.InputResponse) tenon.Content { return text("%s", s) }
	}
	return []tenon.Tool{
		asking("test_elicitation_sep1034_defaults", elicited, form("form", "Please review and update the form fields with defaults",
			`"name":{"type":"string","description":"User name","default":"John Doe"},"age":{"type":"integer","description":"User age","default":30},`+
				`"score":{"type":"number","description":"User score","default":95.5},`+
				`"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},`+
				`"verified":{"type":"boolean","description":"Verification status","default":true}`, "")),
		asking("test_elicitation_sep1330_enums", elicited, form("form", "Please select options from the enum fields", enums, "")),
		asking("test_missing_capability", said("Success"), model("sample", "Say yes")),
		asking("test_input_required_result_elicitation", func(a []tenon.InputResponse) tenon.Content { return text("Hello, %s!", field(a[0], "name")) }, name),
		asking("test_input_required_result_sampling", func(a []tenon.InputResponse) tenon.Content { return text("Sampling result: %s", a[0].Body) },
			model("sample_request", "What is the capital of France?")),
		asking("test_input_required_result_list_roots", func(a []tenon.InputResponse) tenon.Content { return text("Roots: %s", a[0].Body) }, roots("roots_request")),
		asking("test_input_required_result_request_state", said("state-ok: requestState validated"), confirm),
		asking("test_input_required_result_tampered_state", said("integrity-ok: state verified"), confirm),
		asking("test_input_required_result_multiple_inputs", said("all three came"), name, model("greeting", "Generate a greeting"), roots("client_roots")),
		tool("test_input_required_result_multi_round", "", rounds),
		tool("test_input_required_result_capabilities", "", whatever),
		tool("test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
			func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
				a, err := c.RequestInput(ctx, model("sample", argument(c, "prompt")))
				if err != nil {
					return nil, err
				}
				return []tenon.Content{text("LLM response: %s", a[0].Body)}, nil
			}),
		tool("test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
			func(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
				a, err := c.RequestInput(ctx, form("form", argument(c, "message"), `"response":{"type":"string","description":"User's response"}`, `"response"`))
				if err != nil {
					return nil, err
				}
				return []tenon.Content{text("User response: action=%s, content=%s", a[0].Action, a[0].Body)}, nil
			}),
	}
}

// rounds asks twice, the second time with what the first brought.
func rounds(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
	first, err := c.RequestInput(ctx, form("step1", "Step 1: What is your name?", `"name":{"type":"string"}`, `"name"`))
	if err != nil {
		return nil, err
	}
	second, err := c.RequestInput(ctx, form("step2", "Step 2: What is your favorite color?", `"color":{"type":"string"}`, `"color"`))
	if err != nil {
		return nil, err
	}
	return []tenon.Content{text("Multi-round complete for %s who likes %s", field(first[0], "name"), field(second[0], "color"))}, nil
}

// whatever asks whom it can.
func whatever(ctx context.Context, c *tenon.Call) ([]tenon.Content, error) {
	for _, q := range []tenon.InputRequest{
		form("elicit_input", "Elicitation input", `"value":{"type":"string"}`, `"value"`),
		model("sample_input", "Sample request"),
	} {
		_, err := c.RequestInput(ctx, q)
		if errors.As(err, new(*tenon.UnsupportedInputError)) {
			continue
		}
		return []tenon.Content{text("capabilities-ok: received %s", q.Key)}, err
	}
	return []tenon.Content{text("No supported capabilities declared")}, nil
}

const enums = `"untitledSingle":{"type":"string","description":"Select one option","enum":["option1","option2","option3"]},` +
	`"titledSingle":{"type":"string","description":"Select one option with titles","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},` +
	`"legacyEnum":{"type":"string","description":"Select one option (legacy)","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
	`"untitledMulti":{"type":"array","description":"Select multiple options","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},` +
	`"titledMulti":{"type":"array","description":"Select multiple options with titles","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}`
