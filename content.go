package tenon

// Content is one content block of a result.
type Content struct {
	Type      ContentType
	Text      []byte // text blocks, and resources that are text: UTF-8, not escaped
	Data      []byte // the other blocks: raw bytes, not base64
	MediaType string // media type of Text or Data
	URI       string // resource blocks and links
	Name      string // links

	Title       string // links: for people
	Description string // links
	Size        int64  // links: size of the resource in bytes; 0: unknown
	Annotations []byte // JSON object: audience, priority, lastModified; nil: none
	Meta        []byte // JSON object for the block's _meta; nil: none
}

// ContentType is the type of a content block.
type ContentType uint8

// The types of content block.
const (
	TextContent ContentType = iota
	ImageContent
	AudioContent
	EmbeddedResource // an embedded resource: text, or binary where Text is nil
	ResourceLink     // the address of a resource
)

// Text returns a text block.
func Text(text string) Content { return Content{Text: []byte(text)} }

// Image returns an image block. data is raw, not base64; media is its media
// type, such as image/png.
func Image(media string, data []byte) Content {
	return Content{Type: ImageContent, MediaType: media, Data: data}
}

// Audio returns an audio block. data is raw, not base64; media is its media
// type, such as audio/wav.
func Audio(media string, data []byte) Content {
	return Content{Type: AudioContent, MediaType: media, Data: data}
}

// Link returns a link to a resource that the client can read. Name and media
// type may be empty.
func Link(uri, name, media string) Content {
	return Content{Type: ResourceLink, URI: uri, Name: name, MediaType: media}
}

// Embedded returns a text resource that is part of the result.
func Embedded(uri, media, text string) Content {
	return Content{Type: EmbeddedResource, URI: uri, MediaType: media, Text: []byte(text)}
}
