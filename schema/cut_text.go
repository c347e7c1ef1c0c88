package schema

import "unicode/utf8"

// minPiece is the least that is worth a part of a text, in bytes: less would be
// more parts than anybody reads.
const minPiece = 16

// pieceEnd is where a piece of at most room bytes ends that begins at from:
// behind a line where there is one in its second half, and never inside a
// character or an escape.
func pieceEnd(text []byte, from, room int) int {
	if len(text)-from <= room {
		return len(text)
	}
	end, line := from, 0
	for end < len(text) {
		next := end + characterLen(text[end:])
		if next-from > room {
			break
		}
		if end = next; end-from > room/2 && string(text[end-2:end]) == `\n` {
			line = end
		}
	}
	if line > 0 {
		return line
	}
	return max(end, from+1)
}

// characterLen is the length of what stands for the first character of a JSON
// string's inside: UTF-8, an escape, or two of them that make a pair.
func characterLen(text []byte) int {
	const escape = len(`\u0000`)
	switch {
	case text[0] != '\\':
		_, size := utf8.DecodeRune(text)
		return size
	case len(text) < escape || text[1] != 'u':
		return min(2, len(text))
	case isHighSurrogate(text) && len(text) >= 2*escape && text[escape] == '\\' && text[escape+1] == 'u':
		return 2 * escape
	}
	return escape
}

// isHighSurrogate reports whether an escape begins a pair: \ud800 to \udbff.
func isHighSurrogate(text []byte) bool {
	c := text[3] | 0x20
	return text[2]|0x20 == 'd' && (c == '8' || c == '9' || c == 'a' || c == 'b')
}
