package rawjson

import (
	"iter"
)

// AppendCompact appends the JSON value src without white space between its
// tokens. Everything else is unchanged. The error is a *[SyntaxError].
func AppendCompact(dst, src []byte) ([]byte, error) {
	if err := checkSyntax(src); err != nil {
		return dst, err
	}
	start := 0
	for i := 0; i < len(src); {
		switch src[i] {
		case '"':
			i = TextEnd(src, i)
		case ' ', '\t', '\n', '\r':
			dst = append(dst, src[start:i]...)
			i = SpaceEnd(src, i)
			start = i
		default:
			i++
		}
	}
	return append(dst, src[start:]...), nil
}

// AppendIndent appends the JSON value src with every member and element on its
// own line, indented by indent for each level. Empty objects and arrays are on
// one line; the order of keys and the text of numbers and strings are
// unchanged. The error is a *[SyntaxError].
func AppendIndent(dst, src []byte, indent string) ([]byte, error) {
	if err := checkSyntax(src); err != nil {
		return dst, err
	}
	if dst == nil {
		dst = make([]byte, 0, 2*len(src)+64)
	}
	return AppendIndentTrusted(dst, src, indent), nil
}

// AppendIndentTrusted is [AppendIndent] for valid JSON. The output for other
// input is undefined.
func AppendIndentTrusted(dst, src []byte, indent string) []byte {
	depth, start := 0, 0 // src[start:i] is copied unchanged
	for i := 0; i < len(src); {
		switch c := src[i]; c {
		case '"':
			i = TextEnd(src, i)
			continue
		case ' ', '\t', '\n', '\r':
			dst = append(dst, src[start:i]...)
			i = SpaceEnd(src, i)
			start = i
			continue
		case '{', '[':
			dst = append(dst, src[start:i+1]...)
			if end := SpaceEnd(src, i+1); end < len(src) && src[end] == c+2 { // the bracket that closes it
				dst = append(dst, c+2)
				i = end
				break
			}
			depth++
			dst = appendLine(dst, indent, depth)
		case '}', ']':
			dst = append(dst, src[start:i]...)
			depth--
			dst = append(appendLine(dst, indent, depth), c)
		case ',':
			dst = appendLine(append(dst, src[start:i+1]...), indent, depth)
		case ':':
			dst = append(append(dst, src[start:i]...), ':', ' ')
		default:
			i++
			continue
		}
		i++
		start = i
	}
	return append(dst, src[start:]...)
}

// Leaves yields the values in list, which is known to be JSON, and those in
// nested lists: everything that is not a list.
func Leaves(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(list); {
			switch list[i] {
			case '[', ']', ',', ' ', '\t', '\n', '\r':
				i++
			default:
				end := ValueEnd(list, i)
				if end < 0 || !yield(list[i:end:end]) {
					return
				}
				i = end
			}
		}
	}
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
