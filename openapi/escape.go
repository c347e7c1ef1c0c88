package openapi

import "strings"

// escape says which bytes of a value are percent-encoded.
type escape uint8

const (
	escapeAll      escape = iota // all but the unreserved ones (RFC 3986 §2.3): a value cannot leave its place
	escapeReserved               // allowReserved: also keeps what has no meaning in a query
	escapeForm                   // as escapeAll, a space as "+" (application/x-www-form-urlencoded)
	escapeNone                   // header values are not encoded; see headerText
)

func (e escape) append(dst, text []byte) []byte {
	if e == escapeNone {
		return append(dst, text...)
	}
	const hex = "0123456789ABCDEF"
	for _, c := range text {
		switch {
		case isUnreserved(c), e == escapeReserved && strings.IndexByte(":/?@!$'()*,;", c) >= 0:
			dst = append(dst, c)
		case c == ' ' && e == escapeForm:
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func (e escape) text(s string) string { return string(e.append(nil, []byte(s))) }

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// escapeLiteral encodes what a literal part of a path or query may not hold
// and leaves what is encoded already.
func escapeLiteral(s, keep string) string {
	var b []byte
	for i := range len(s) {
		c := s[i]
		encoded := c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		if encoded || isUnreserved(c) || strings.IndexByte(keep, c) >= 0 {
			b = append(b, c)
			continue
		}
		b = escapeAll.append(b, []byte{c})
	}
	return string(b)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
