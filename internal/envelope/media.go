package envelope

import "strings"

// Kind is the way in which an answer's body stands in a result.
type Kind uint8

// The forms.
const (
	Empty  Kind = iota // no body: null
	JSON               // the value itself
	Text               // a string
	Binary             // described; the bytes in a block of their own
)

// Essence returns a media type without its parameters, in lower case.
func Essence(media string) string {
	if media == "application/json" { // nearly always
		return media
	}
	if i := strings.IndexByte(media, ';'); i >= 0 {
		media = media[:i]
	}
	return strings.ToLower(strings.TrimSpace(media))
}

// KindOfMedia returns the form of a body of that media type.
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

// IsStream tells the media types of items one after the other, which sources
// may answer as a list.
func IsStream(media string) bool {
	switch Essence(media) {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "text/event-stream":
		return true
	}
	return false
}

// The kinds of binary data, as OutputType says them.
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
