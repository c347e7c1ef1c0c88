package schema

import (
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of the pieces of a text.
const (
	minPiece  = 16      // bytes: less would be more parts than anybody reads
	maxPieces = 1 << 16 // of one text
)

// CutText answers how to cut a value at its longest text, where no list helps:
// every part is the whole value with a piece of that text. The text stands
// below object members only, or is the value. nil: there is none, the rest is
// above the room, or a part would not fit the schema. The items of its parts
// are bytes. A nil s is as in [Schema.Cut].
func (s *Schema) CutText(value []byte, room int) *Cut {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return nil
	}
	at, pointer := longestText(doc, doc.Root(), "")
	if at == rawjson.None {
		return nil
	}
	text := doc.Raw(at)
	cut := &Cut{Pointers: []string{pointer}, Text: true}
	start, end := doc.Offset(at)+1, doc.Offset(at)+len(text)-1 // of the text between its quotes
	rest := len(value) - len(text) + len(`""`)
	room -= rest
	if room < minPiece || len(text)/room > maxPieces || rest*(len(text)/room) > 4*len(value)+1<<20 {
		return nil
	}
	for from := start; from < end; {
		to := pieceEnd(value[:end], from, room)
		cut.Parts = append(cut.Parts, Slice{Holes: []Hole{{start, from}, {to, end}}, Items: to - from})
		from = to
	}
	if s == nil {
		return cut
	}
	var part []byte
	for i := range cut.Parts {
		if part = cut.AppendPart(part[:0], value, i); len(s.Validate(part)) > 0 {
			return nil
		}
	}
	return cut
}

// longestText finds the longest text that is reached through members alone.
func longestText(doc *rawjson.Doc, n rawjson.Node, pointer string) (at rawjson.Node, where string) {
	switch doc.Kind(n) {
	case rawjson.String:
		return n, pointer
	case rawjson.Object:
	default:
		return rawjson.None, ""
	}
	at, longest := rawjson.None, 0
	for m := doc.First(n); m != rawjson.None; m = doc.Next(m) {
		if len(doc.Raw(m)) <= longest {
			continue
		}
		token := strings.ReplaceAll(strings.ReplaceAll(doc.Key(m), "~", "~0"), "/", "~1")
		if found, below := longestText(doc, m, pointer+"/"+token); found != rawjson.None && len(doc.Raw(found)) > longest {
			at, where, longest = found, below, len(doc.Raw(found))
		}
	}
	return at, where
}

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
