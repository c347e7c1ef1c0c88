package rawjson

// AppendCompact appends the JSON value src without white space between its
// tokens. Everything else stays as it is. The error is a *[SyntaxError].
func AppendCompact(dst, src []byte) ([]byte, error) {
	if err := checkSyntax(src); err != nil {
		return dst, err
	}
	start := 0
	for i := 0; i < len(src); {
		switch src[i] {
		case '"':
			i = textEnd(src, i)
		case ' ', '\t', '\n', '\r':
			dst = append(dst, src[start:i]...)
			i = skipSpace(src, i)
			start = i
		default:
			i++
		}
	}
	return append(dst, src[start:]...), nil
}

// textEnd answers where the string at src[i], known to be legal, ends.
func textEnd(src []byte, i int) int {
	for i++; src[i] != '"'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// AppendIndent appends the JSON value src with every member and element on its
// own line, indented by indent for each level. Empty objects and arrays stay on
// one line; the order of keys and the text of numbers and strings stay as they
// are. The error is a *[SyntaxError].
func AppendIndent(dst, src []byte, indent string) ([]byte, error) {
	if err := checkSyntax(src); err != nil {
		return dst, err
	}
	if dst == nil {
		dst = make([]byte, 0, 2*len(src)+64)
	}
	depth := 0
	for i := 0; i < len(src); {
		c := src[i]
		switch c {
		case '"':
			end := textEnd(src, i)
			dst = append(dst, src[i:end]...)
			i = end
			continue
		case ' ', '\t', '\n', '\r':
		case '{', '[':
			dst = append(dst, c)
			if end := skipSpace(src, i+1); src[end] == c+2 { // the bracket that closes it
				dst = append(dst, c+2)
				i = end + 1
				continue
			}
			depth++
			dst = appendLine(dst, indent, depth)
		case '}', ']':
			depth--
			dst = append(appendLine(dst, indent, depth), c)
		case ',':
			dst = appendLine(append(dst, c), indent, depth)
		case ':':
			dst = append(dst, ':', ' ')
		default:
			dst = append(dst, c)
		}
		i++
	}
	return dst, nil
}

func skipSpace(src []byte, i int) int {
	for i < len(src) && src[i] <= ' ' {
		i++
	}
	return i
}

func appendLine(dst []byte, indent string, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, indent...)
	}
	return dst
}

// AppendCompact appends the value n without white space between its tokens.
func (d *Doc) AppendCompact(dst []byte, n Node) []byte {
	switch d.Kind(n) {
	case Object:
		return d.appendMembers(dst, n, "{}")
	case Array:
		return d.appendMembers(dst, n, "[]")
	}
	return append(dst, d.Raw(n)...)
}

func (d *Doc) appendMembers(dst []byte, n Node, brackets string) []byte {
	dst = append(dst, brackets[0])
	for c := d.First(n); c != None; c = d.Next(c) {
		if c != n+1 {
			dst = append(dst, ',')
		}
		if brackets == "{}" {
			dst = append(append(append(dst, '"'), d.RawKey(c)...), '"', ':')
		}
		dst = d.AppendCompact(dst, c)
	}
	return append(dst, brackets[1])
}
