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
			for i < len(src) && src[i] <= ' ' {
				i++
			}
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
	d, err := Parse(src)
	if err != nil {
		return dst, err
	}
	w := writer{doc: d, indent: indent, pretty: true}
	return w.value(dst, d.Root(), 1), nil
}

// AppendCompact appends the value n without white space between its tokens.
func (d *Doc) AppendCompact(dst []byte, n Node) []byte {
	if d.at(n) == nil {
		return dst
	}
	w := writer{doc: d}
	return w.value(dst, n, 0)
}

// writer writes values as their source has them, but for the white space.
type writer struct {
	doc    *Doc
	indent string
	pretty bool
}

func (w *writer) value(dst []byte, n Node, depth int) []byte {
	switch w.doc.Kind(n) {
	case Object:
		return w.members(dst, n, depth, "{}")
	case Array:
		return w.members(dst, n, depth, "[]")
	}
	return append(dst, w.doc.Raw(n)...)
}

func (w *writer) members(dst []byte, n Node, depth int, brackets string) []byte {
	d := w.doc
	if d.Len(n) == 0 {
		return append(dst, brackets...)
	}
	dst = append(dst, brackets[0])
	for c := d.First(n); c != None; c = d.Next(c) {
		if c != n+1 {
			dst = append(dst, ',')
		}
		dst = w.line(dst, depth)
		if brackets == "{}" {
			dst = append(append(append(dst, '"'), d.RawKey(c)...), '"', ':')
			if w.pretty {
				dst = append(dst, ' ')
			}
		}
		dst = w.value(dst, c, depth+1)
	}
	return append(w.line(dst, depth-1), brackets[1])
}

func (w *writer) line(dst []byte, depth int) []byte {
	if !w.pretty {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, w.indent...)
	}
	return dst
}
