package functionapp

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Relaxed returns the JSON of a file edited by people, in which Azure's host
// allows comments (//, /* */) and trailing commas. They are replaced by white
// space, so that offsets stay. Valid JSON is returned unchanged.
func Relaxed(text []byte) []byte {
	var out []byte // a copy as soon as something changes
	blank := func(from, to int) {
		if out == nil {
			out = append([]byte(nil), text...)
		}
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	comma := -1 // only white space and comments after it
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			comma = -1
			i = endOfString(text, i) - 1
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				blank(comma, comma+1)
			}
			comma = -1
		case c == '/':
			end := endOfComment(text, i)
			if end < 0 {
				return orText(out, text) // the parser reports the position
			}
			blank(i, end)
			i = end - 1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return orText(out, text)
}

func orText(out, text []byte) []byte {
	if out == nil {
		return text
	}
	return out
}

// endOfString returns where the string ends that begins at text[i]: at the end
// of the text if it is not closed.
func endOfString(text []byte, i int) int {
	if end := rawjson.TextEnd(text, i); end >= 0 {
		return end
	}
	return len(text)
}

// endOfComment returns the end of the comment at i, or a negative number.
func endOfComment(text []byte, i int) int {
	if i+1 == len(text) {
		return -1
	}
	switch text[i+1] {
	case '/':
		for i += 2; i < len(text) && text[i] != '\n'; i++ {
		}
		return i
	case '*':
		for i += 3; i < len(text); i++ {
			if text[i-1] == '*' && text[i] == '/' {
				return i + 1
			}
		}
	}
	return -1
}
