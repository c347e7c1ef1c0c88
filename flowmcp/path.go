package flowmcp

import (
	"regexp"
	"strings"
)

// mark finds what may be a placeholder in a path: {{name}} of the page, {name}
// and :name of real files.
var mark = regexp.MustCompile(`\{\{([A-Za-z0-9_:]+)\}\}|\{([A-Za-z0-9_]+)\}|:([A-Za-z_][A-Za-z0-9_]*)`)

// splitPath splits root and path at their placeholders. It is done once, so
// that no argument can ever be taken for a placeholder.
func splitPath(template string, t *route, server map[string]bool) []piece {
	inserts := map[string]bool{}
	for _, p := range t.parameters {
		if p.in == inInsert {
			inserts[p.key] = true
		}
	}
	var pieces []piece
	from := 0
	for _, at := range mark.FindAllStringSubmatchIndex(template, -1) {
		p, ok := placeholderAt(template, at, inserts, server)
		if !ok {
			continue
		}
		if at[0] > from {
			pieces = append(pieces, piece{text: template[from:at[0]]})
		}
		pieces = append(pieces, p)
		from = at[1]
	}
	if from < len(template) {
		pieces = append(pieces, piece{text: template[from:]})
	}
	return pieces
}

func placeholderAt(template string, at []int, inserts, server map[string]bool) (piece, bool) {
	if at[2] < 0 {
		group := 4
		if at[4] < 0 {
			group = 6
		}
		name := template[at[group]:at[group+1]]
		return piece{kind: userPiece, text: name}, inserts[name]
	}
	name := template[at[2]:at[3]]
	key := strings.TrimPrefix(name, serverMark)
	switch {
	case inserts[name]:
		return piece{kind: userPiece, text: name, braces: true}, true
	case server[key]:
		return piece{kind: serverPiece, text: key}, true
	}
	return piece{text: "{{" + name + "}}", unresolved: true}, true
}

// urlWriter writes a URL piece by piece. It knows in which part it stands, so
// that an argument stays inside its segment, its value or its label.
type urlWriter struct {
	out  []byte
	part urlPart
	raw  bool // literals stay as they are

	slash bool // a value may be several segments
}

type urlPart uint8

const (
	inHost urlPart = iota
	inPath
	inSearch
)

// literal writes text of the schema file. What no URL may hold is encoded.
func (w *urlWriter) literal(text string) {
	if w.part == inHost {
		rest := text
		if i := strings.Index(rest, "://"); i >= 0 {
			rest = rest[i+3:]
		}
		if strings.ContainsAny(rest, "/?") {
			w.part = inPath
		}
	}
	if w.part == inPath && strings.Contains(text, "?") {
		w.part = inSearch
	}
	if w.raw {
		w.out = append(w.out, text...)
		return
	}
	w.out = encode(w.out, text, func(b byte) bool { return b > ' ' && b < 0x7F && strings.IndexByte(`"<>\^`+"`"+`{|}`, b) < 0 })
}

// argument writes a value that is not of the schema file. It reports false
// where it stands in the host's name and holds other bytes than those of host:
// a caller's value stays one label, the operator's may be several.
func (w *urlWriter) argument(text, host string) bool {
	switch w.part {
	case inHost:
		if text == "" || strings.Trim(text, host) != "" {
			return false
		}
		w.out = append(w.out, text...)
	case inPath:
		w.out = encode(w.out, text, func(b byte) bool { return isSegment(b) || w.slash && b == '/' })
	case inSearch:
		w.out = encode(w.out, text, func(b byte) bool { return isUnreserved(b) || strings.IndexByte("!$'()*,:@/?", b) >= 0 })
	}
	return true
}

const labelBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// dotted reports whether the path has a segment that clients resolve away.
func (w *urlWriter) dotted() bool {
	path, _, _ := strings.Cut(string(w.out), "?")
	for segment := range strings.SplitSeq(path, "/") {
		if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." { // some servers take ..; for ..

			return true
		}
	}
	return false
}

// isSegment tells the bytes that stand for themselves in a segment of a path
// (RFC 3986 §3.3).
func isSegment(b byte) bool {
	return isUnreserved(b) || strings.IndexByte("!$&'()*+,;=:@", b) >= 0
}

func isUnreserved(b byte) bool {
	return isAlnum(b) || strings.IndexByte("-._~", b) >= 0
}

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

const hexDigits = "0123456789ABCDEF"

func encode(dst []byte, text string, keep func(byte) bool) []byte {
	for i := range len(text) {
		if b := text[i]; keep(b) {
			dst = append(dst, b)
		} else {
			dst = append(dst, '%', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return dst
}

// appendForm encodes a name or value of a query as HTML forms do.
func appendForm(dst []byte, text string) []byte {
	for i := range len(text) {
		switch b := text[i]; {
		case b == ' ':
			dst = append(dst, '+')
		case isAlnum(b), strings.IndexByte("*-._", b) >= 0:
			dst = append(dst, b)
		default:
			dst = append(dst, '%', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return dst
}
