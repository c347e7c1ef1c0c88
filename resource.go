package tenon

import (
	"context"
)

// Resource is something to read under an address of its own.
type Resource struct {
	URI         string
	Name        string // empty: the URI
	Title       string
	Description string
	MediaType   string
	Size        int64 // bytes; 0: not known
	Read        ResourceHandler
}

// ResourceHandler reads what stands at uri. The blocks are of kind EmbeddedResource, with
// Text or Data; an empty URI in a block means uri. Nothing there is an error
// of CodeNotFound.
type ResourceHandler func(ctx context.Context, uri string, c *Call) ([]Content, error)

// ResourceTemplate stands for all resources whose address has its form. A variable is
// at least one byte long and holds no slash.
type ResourceTemplate struct {
	URI         string // with variables: "shop://book/{id}"
	Name        string // empty: the URI
	Title       string
	Description string
	MediaType   string
	Read        ResourceHandler
	Complete    CompletionHandler // nil: proposes nothing
}

// CompletionHandler proposes values for a variable of a template or an argument of a
// prompt that begin with value; known are the others, as far as they are.
type CompletionHandler func(ctx context.Context, variable, value string, known map[string]string) ([]string, error)

// Prompt is a conversation's beginning that a person can choose.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument
	Get         func(ctx context.Context, args map[string]string, c *Call) ([]PromptMessage, error)
	Complete    CompletionHandler // nil: proposes nothing
}

// PromptArgument is one thing that a prompt wants to know.
type PromptArgument struct {
	Name        string
	Title       string
	Description string
	Required    bool
}

// PromptMessage is one turn of a prompt's conversation.
type PromptMessage struct {
	Role    string // "user" or "assistant"
	Content Content
}
