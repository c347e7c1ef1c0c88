package envelope

import "strings"

// Kind is how a result represents a body.
type Kind uint8

// The kinds.
const (
	Empty  Kind = iota // no body: null
	JSON               // the value itself
	Text               // a string
	Binary             // a description; the bytes are in a content block
)

// Essence returns a media type without its parameters, in lower case.
func Essence(media string) string {
	if media == "application/json" { // the common case
		return media
	}
	if i := strings.IndexByte(media, ';'); i >= 0 {
		media = media[:i]
	}
	return strings.ToLower(strings.TrimSpace(media))
}

// KindOfMedia returns the kind of a body of that media type.
func KindOfMedia(media string) Kind {
	m := Essence(media)
	switch {
	case m == "":
		return Empty
	case isJSON(m):
		return JSON
	case isText(m):
		return Text
	}
	return Binary
}

func isJSON(m string) bool {
	switch m {
	case "application/json", "text/json", "*/*", "application/*":
		return true
	}
	return strings.HasSuffix(m, "+json")
}

func isText(m string) bool {
	switch m {
	case "application/xml", "application/yaml", "application/x-yaml", "application/javascript",
		"application/x-ndjson", "application/jsonl", "application/x-www-form-urlencoded", "application/graphql":
		return true
	}
	return strings.HasPrefix(m, "text/") || strings.HasSuffix(m, "+xml") || strings.HasSuffix(m, "+yaml")
}

// IsStream reports whether a media type is a sequence of items, which a source
// can return as a list.
func IsStream(media string) bool {
	switch Essence(media) {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "text/event-stream":
		return true
	}
	return false
}

// The kinds of binary data, as values of OutputType.
const (
	Image = "image"
	Audio = "audio"
	Other = "binary"
)

// KindOf returns the kind of binary data of that media type.
func KindOf(media string) string {
	switch m := Essence(media); {
	case strings.HasPrefix(m, "image/"):
		return Image
	case strings.HasPrefix(m, "audio/"):
		return Audio
	}
	return Other
}
