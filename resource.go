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
	Media       string
	Size        int64 // bytes; 0: not known
	Read        Reader
}

// Reader reads what stands at uri. The blocks are of kind ResourceBlock, with
// Text or Data; an empty URI in a block means uri. Nothing there is an error
// of CodeNotFound.
type Reader func(ctx context.Context, uri string, c *Call) ([]Block, error)

// Template stands for all resources whose address has its form. A variable is
// at least one byte long and holds no slash.
type Template struct {
	URI         string // with variables: "shop://book/{id}"
	Name        string // empty: the URI
	Title       string
	Description string
	Media       string
	Read        Reader
	Complete    Completer // nil: proposes nothing
}

// Completer proposes values for a variable of a template or an argument of a
// prompt that begin with value; known are the others, as far as they are.
type Completer func(ctx context.Context, variable, value string, known map[string]string) ([]string, error)

// Prompt is a conversation's beginning that a person can choose.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
	Get         func(ctx context.Context, args map[string]string, c *Call) ([]Message, error)
	Complete    Completer // nil: proposes nothing
}

// Argument is one thing that a prompt wants to know.
type Argument struct {
	Name        string
	Title       string
	Description string
	Required    bool
}

// Message is one turn of a prompt's conversation.
type Message struct {
	Role  string // "user" or "assistant"
	Block Block
}
