package functionapp

import (
	"errors"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Prompt is a binding of type mcpPromptTrigger.
type Prompt struct {
	Binding     string // name of the binding; empty: "context"
	Name        string
	Title       string
	Description string
	Arguments   []tenon.PromptArgument
	Icons       []byte // JSON list, the icons of MCP; nil: none
	Meta        []byte // JSON object; nil: none
	Envelope    bool   // the function returns an envelope: see [ReadMessages]
}

// ReadPrompt parses a binding of type mcpPromptTrigger. The error is a *[Error]
// with the key.
func ReadPrompt(b Object) (Prompt, []Diagnostic, error) {
	r := newReader(b)
	p := Prompt{
		Binding:     r.need("name"),
		Name:        r.need("promptName"),
		Title:       r.text("title"),
		Description: r.text("description"),
		Meta:        r.meta("metadata"),
		Envelope:    r.flag("useResultSchema"),
	}
	if text := r.nested("promptArguments"); text != "" {
		r.check("promptArguments", func() (err error) {
			p.Arguments, err = readArguments(text)
			return err
		})
	}
	if text := r.nested("icons"); text != "" {
		r.check("icons", func() error {
			doc, err := rawjson.Parse([]byte(text))
			if err == nil && doc.Kind(doc.Root()) != rawjson.Array {
				err = errors.New("must be a list of icons")
			}
			if err == nil {
				p.Icons = doc.AppendCompact(nil, doc.Root())
			}
			return err
		})
	}
	return p, r.notes, r.err
}

func readArguments(text string) ([]tenon.PromptArgument, error) {
	doc, err := rawjson.Parse([]byte(text))
	switch {
	case err != nil:
		return nil, err
	case doc.Kind(doc.Root()) == rawjson.Null:
		return nil, nil
	case doc.Kind(doc.Root()) != rawjson.Array:
		return nil, errors.New("must be a list of arguments")
	}
	list := make([]tenon.PromptArgument, 0, doc.Len(doc.Root()))
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.Object {
			return nil, errors.New("an argument must be an object")
		}
		r := newReader(objectAt(doc, n))
		list = append(list, tenon.PromptArgument{
			Name: r.need("name"), Title: r.text("title"), Description: r.text("description"), Required: r.flag("required"),
		})
		if r.err != nil {
			return nil, r.err
		}
	}
	return list, nil
}

// Object writes p as a binding.
func (p Prompt) Object() Object {
	o := Object{
		textMember("name", orElse(p.Binding, "context")),
		textMember("type", string(PromptTrigger)),
		textMember("direction", "in"),
		textMember("promptName", p.Name),
	}
	if p.Title != "" {
		o = append(o, textMember("title", p.Title))
	}
	if p.Description != "" {
		o = append(o, textMember("description", p.Description))
	}
	if len(p.Arguments) > 0 {
		o = append(o, nestedMember("promptArguments", appendArguments(nil, p.Arguments)))
	}
	if p.Icons != nil {
		o = append(o, nestedMember("icons", p.Icons))
	}
	if p.Meta != nil {
		o = append(o, nestedMember("metadata", p.Meta))
	}
	if p.Envelope {
		o = append(o, flagMember("useResultSchema", true))
	}
	return o
}

func appendArguments(dst []byte, list []tenon.PromptArgument) []byte {
	dst = append(dst, '[')
	for i, a := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		o := Object{textMember("name", a.Name)}
		if a.Title != "" {
			o = append(o, textMember("title", a.Title))
		}
		if a.Description != "" {
			o = append(o, textMember("description", a.Description))
		}
		dst = append(o, flagMember("required", a.Required)).Append(dst)
	}
	return append(dst, ']')
}
