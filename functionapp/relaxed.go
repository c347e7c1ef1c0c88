package functionapp

// Relaxed returns the JSON of a file that people edit, in which Azure's host
// allows comments (//, /* */) and a comma behind the last member. They become
// white space, so that every place in the file stays where it is. What is JSON
// already is returned as it is.
func Relaxed(text []byte) []byte {
	var out []byte // a copy, once something has to change
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
	comma := -1 // behind which only white space and comments stood
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			comma = -1
			i = endOfString(text, i)
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
				return orText(out, text) // the reader says where it stumbles
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

// endOfString returns the place of the quote that ends the string at i, or of
// the last byte.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return min(i, len(text)-1)
}

// endOfComment returns where the comment at i ends; negative: it is none, or
// has no end.
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
