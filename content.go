package tenon

// Content is one content block.
type Content struct {
	Type      ContentType
	Text      []byte // text blocks, and resources that are text: UTF-8, not escaped
	Data      []byte // the other blocks: raw bytes, not base64
	MediaType string // media type of Text or Data
	URI       string // resource blocks and links
	Name      string // links

	Title       string // links: for people
	Description string // links
	Size        int64  // links: bytes of what they lead to; 0: not known
	Annotations []byte // JSON object: audience, priority, lastModified; nil: none
	Meta        []byte // JSON object for the block's _meta; nil: none
}

// ContentType is the type of a content block.
type ContentType uint8

// The kinds of content block.
const (
	TextContent ContentType = iota
	ImageContent
	AudioContent
	EmbeddedResource // an embedded resource: text, or binary where Text is nil
	ResourceLink     // the address of a resource
)

// Text is a block of text for the model.
func Text(text string) Content { return Content{Text: []byte(text)} }

// Image is a picture: data are its bytes, not base64, media is its type, such
// as image/png.
func Image(media string, data []byte) Content {
	return Content{Type: ImageContent, MediaType: media, Data: data}
}

// Audio is a sound: data are its bytes, not base64, media is its type, such as
// audio/wav.
func Audio(media string, data []byte) Content {
	return Content{Type: AudioContent, MediaType: media, Data: data}
}

// Link is the address of a resource that the client may read if it wants to.
// Name and media type may be empty.
func Link(uri, name, media string) Content {
	return Content{Type: ResourceLink, URI: uri, Name: name, MediaType: media}
}

// Embedded is a resource that comes with the result, as text.
func Embedded(uri, media, text string) Content {
	return Content{Type: EmbeddedResource, URI: uri, MediaType: media, Text: []byte(text)}
}
