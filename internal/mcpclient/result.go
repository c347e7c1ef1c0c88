package mcpclient

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/tenon-mcp/tenon"
)

// block is a content block as a server sends it.
type block struct {
	Type, Text, Data, MimeType, URI, Name, Title, Description string

	Size        int64
	Annotations json.RawMessage
	Meta        json.RawMessage `json:"_meta"`
	Resource    struct {
		URI, MimeType string
		Text          *string
		Blob          string
	}
}

// resultOf reads the result of a call.
func resultOf(raw []byte) (*tenon.Result, error) {
	var r struct {
		IsError    bool              `json:"isError"`
		Structured json.RawMessage   `json:"structuredContent"`
		Content    []json.RawMessage `json:"content"`
		Meta       json.RawMessage   `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("tools/call: the result is not of the protocol's form: %w", err)
	}
	res := &tenon.Result{Structured: r.Structured, Meta: r.Meta, IsError: r.IsError}
	for _, text := range r.Content {
		var b block
		err := json.Unmarshal(text, &b)
		c := tenon.Text(string(text)) // of a type that is not known
		if err == nil {
			c, err = b.content(c)
		}
		if err != nil {
			return nil, fmt.Errorf("tools/call: a content block of the type %q: %w", b.Type, err)
		}
		res.Content = append(res.Content, c)
		if r.IsError && res.Message == "" {
			res.Message = b.Text
		}
	}
	if r.IsError && res.Message == "" {
		res.Message = "the tool answered with an error"
	}
	return res, nil
}

func (b *block) content(unknown tenon.Content) (c tenon.Content, err error) {
	c = tenon.Content{MediaType: b.MimeType, Annotations: b.Annotations, Meta: b.Meta}
	switch b.Type {
	case "text":
		c.Text = []byte(b.Text)
	case "image", "audio":
		c.Type = tenon.ImageContent
		if b.Type == "audio" {
			c.Type = tenon.AudioContent
		}
		c.Data, err = base64.StdEncoding.DecodeString(b.Data)
	case "resource":
		c.Type, c.URI, c.MediaType = tenon.EmbeddedResource, b.Resource.URI, b.Resource.MimeType
		if b.Resource.Text != nil {
			c.Text = []byte(*b.Resource.Text)
			break
		}
		c.Data, err = base64.StdEncoding.DecodeString(b.Resource.Blob)
	case "resource_link":
		c.Type, c.URI, c.Name, c.Title, c.Description, c.Size = tenon.ResourceLink, b.URI, b.Name, b.Title, b.Description, b.Size
	default:
		return unknown, nil
	}
	return c, err
}
