package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
)

func embedded(uri, media, body string) tenon.Content {
	return tenon.Content{Type: tenon.EmbeddedResource, URI: uri, MediaType: media, Text: []byte(body)}
}

func reads(b tenon.Content) tenon.ResourceHandler {
	return func(context.Context, string, *tenon.Call) ([]tenon.Content, error) { return []tenon.Content{b}, nil }
}

func resources() []tenon.Resource {
	return []tenon.Resource{
		{URI: "test://static-text", Name: "static-text", Title: "Static Text Resource", Description: "A static text resource for testing", MediaType: "text/plain",
			Read: reads(embedded("", "text/plain", "This is the content of the static text resource."))},
		{URI: "test://static-binary", Name: "static-binary", Title: "Static Binary Resource", Description: "A static binary resource (image) for testing", MediaType: "image/png",
			Read: reads(tenon.Content{Type: tenon.EmbeddedResource, MediaType: "image/png", Data: bytesOf(png)})},
		{URI: "test://watched-resource", Name: "watched-resource", Title: "Watched Resource", Description: "A resource to subscribe to", MediaType: "text/plain",
			Read: reads(embedded("", "text/plain", "Watched resource content"))},
	}
}

func templates() []tenon.ResourceTemplate {
	return []tenon.ResourceTemplate{{
		URI: "test://template/{id}/data", Name: "template", Title: "Resource Template", Description: "A resource template with parameter substitution", MediaType: "application/json",
		Read: func(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
			return []tenon.Content{embedded("", "application/json", fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id))}, nil
		},
	}}
}

func said(blocks ...tenon.Content) []tenon.PromptMessage {
	messages := make([]tenon.PromptMessage, len(blocks))
	for i, b := range blocks {
		messages[i] = tenon.PromptMessage{Role: "user", Content: b}
	}
	return messages
}

type getter = func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error)

func says(blocks ...tenon.Content) getter {
	return func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) {
		return said(blocks...), nil
	}
}

func prompts() []tenon.Prompt {
	needs := func(name, about string) tenon.PromptArgument {
		return tenon.PromptArgument{Name: name, Description: about, Required: true}
	}
	return []tenon.Prompt{
		{Name: "test_simple_prompt", Title: "Simple Test Prompt", Description: "A simple prompt without arguments", Get: says(text("This is a simple prompt for testing."))},
		{Name: "test_prompt_with_arguments", Title: "Prompt With Arguments", Description: "A prompt with required arguments",
			Arguments: []tenon.PromptArgument{needs("arg1", "First test argument"), needs("arg2", "Second test argument")},
			Get: func(_ context.Context, args map[string]string, _ *tenon.Call) ([]tenon.PromptMessage, error) {
				return said(text("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])), nil
			},
			Complete: func(_ context.Context, _, value string, _ map[string]string) ([]string, error) {
				return []string{value + "-one", value + "-two"}, nil
			}},
		{Name: "test_prompt_with_embedded_resource", Title: "Prompt With Embedded Resource", Description: "A prompt that includes an embedded resource",
			Arguments: []tenon.PromptArgument{needs("resourceUri", "URI of the resource to embed")},
			Get: func(_ context.Context, args map[string]string, _ *tenon.Call) ([]tenon.PromptMessage, error) {
				return said(embedded(args["resourceUri"], "text/plain", "Embedded resource content for testing."), text("Please process the embedded resource above.")), nil
			}},
		{Name: "test_prompt_with_image", Title: "Prompt With Image", Description: "A prompt that includes image content",
			Get: says(tenon.Content{Type: tenon.ImageContent, Data: bytesOf(png), MediaType: "image/png"}, text("Please analyze the image above."))},
		{Name: "test_input_required_result_prompt", Description: "A prompt that asks before it answers",
			Get: func(ctx context.Context, _ map[string]string, c *tenon.Call) ([]tenon.PromptMessage, error) {
				a, err := c.RequestInput(ctx, form("user_context", "What context should the prompt use?", `"context":{"type":"string"}`, `"context"`))
				if err != nil {
					return nil, err
				}
				return said(text("Prompt with context: %s", field(a[0], "context"))), nil
			}},
	}
}
