package tenon

import "strings"

// form is the way in which an answer's body stands in a result.
type form uint8

const (
	formEmpty  form = iota // no body
	formJSON               // the value itself
	formText               // a string
	formBinary             // described, the bytes in a block of their own
)

// essence returns a media type without its parameters, in lower case.
func essence(media string) string {
	if i := strings.IndexByte(media, ';'); i >= 0 {
		media = media[:i]
	}
	return strings.ToLower(strings.TrimSpace(media))
}

// formOf returns the form of a body of that media type.
func formOf(media string) form {
	m := essence(media)
	switch {
	case m == "":
		return formEmpty
	case isJSON(m):
		return formJSON
	case isText(m):
		return formText
	}
	return formBinary
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

// blockKind returns the kind of content block that carries binary data.
func blockKind(media string) BlockKind {
	switch m := essence(media); {
	case strings.HasPrefix(m, "image/"):
		return ImageBlock
	case strings.HasPrefix(m, "audio/"):
		return AudioBlock
	}
	return ResourceBlock
}

// mediaMatch rates how well a declared media type or range covers a real one:
// 0 not at all, 1 */*, 2 type/*, 3 the same.
func mediaMatch(declared, came string) int {
	switch {
	case declared == came:
		return 3
	case declared == "*/*" && came != "":
		return 1
	case strings.HasSuffix(declared, "/*") && strings.HasPrefix(came, declared[:len(declared)-1]):
		return 2
	}
	return 0
}
