package tenon

import (
	"context"
)

// Resource is an MCP resource.
type Resource struct {
	URI         string
	Name        string // empty: the URI
	Title       string
	Description string
	MediaType   string
	Size        int64 // bytes; 0: unknown
	Read        ResourceHandler
}

// ResourceHandler reads the resource at uri. The blocks are of type
// EmbeddedResource, with Text or Data; an empty URI in a block means uri. A
// missing resource is an error of CodeNotFound.
type ResourceHandler func(ctx context.Context, uri string, c *Call) ([]Content, error)

// ResourceTemplate describes all resources whose URI matches it. The value of a
// variable has at least one byte and no slash.
type ResourceTemplate struct {
	URI         string // with variables: "shop://book/{id}"
	Name        string // empty: the URI
	Title       string
	Description string
	MediaType   string
	Read        ResourceHandler
	Complete    CompletionHandler // nil: no completions
}

// CompletionHandler returns values that begin with value for a variable of a
// template or an argument of a prompt; known holds the other values that the
// user has given.
type CompletionHandler func(ctx context.Context, variable, value string, known map[string]string) ([]string, error)

// Prompt is an MCP prompt.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument
	Get         func(ctx context.Context, args map[string]string, c *Call) ([]PromptMessage, error)
	Complete    CompletionHandler // nil: no completions
}

// PromptArgument is one argument of a prompt.
type PromptArgument struct {
	Name        string
	Title       string
	Description string
	Required    bool
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    string // "user" or "assistant"
	Content Content
}
