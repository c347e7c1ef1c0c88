// Package encode writes arguments of a call as bytes of a request: parameter
// styles, percent-encoding, XML bodies and files.
//
// It does not know operations, credentials or requests: it takes an [Argument]
// and a [Style]. What must not be written is an error and is never repaired.
//
// On the path of a call it is between the arguments and the request.
package encode

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Limits of what arguments can make.
const (
	MaxText = 16 << 20 // bytes of a form: repeated names can make a long form from short arguments
	MaxLine = 1 << 20  // bytes of a path, a query or a header
)

// Style is how a value is written: a row of the table in RFC 6570 §3.2.1, on
// which the styles of OpenAPI 3 are based, with the separators of 2.0.
type Style struct {
	first   string // before everything
	Between string // Between exploded members
	delim   string // between members that are not exploded
	Named   bool   // members are "name=value"
	bare    bool   // an empty value is written as its name only
	Explode bool
	Deep    bool // name[key][key]=value
	Escape  escape
}

// namedStyle is a row of the table of styles.
type namedStyle struct {
	name  string
	style Style
	in    locations
}

// styles are the styles of OpenAPI 3, and the locations that allow them (3.1
// §4.8.12.4, 3.2 adds cookie). What is written of a text, a list and an object,
// [Style.Append] reads off the row. It is an array because an operation reads it for
// each parameter.
func styles() [8]namedStyle {
	return [...]namedStyle{
		{"matrix", Style{first: ";", Between: ";", delim: ",", Named: true, bare: true}, at(InPath)},
		{"label", Style{first: ".", Between: ".", delim: ","}, at(InPath)},
		{"simple", Style{Between: ",", delim: ","}, at(InPath, InHeader)},
		{"form", Style{Between: "&", delim: ",", Named: true, Explode: true}, at(InQuery, InCookie, InForm, InQueryString)},
		{"spaceDelimited", Style{Between: "&", delim: "%20", Named: true}, at(InQuery, InForm)},
		{"pipeDelimited", Style{Between: "&", delim: "%7C", Named: true}, at(InQuery, InForm)},
		{"deepObject", Style{Between: "&", Named: true, Deep: true, Explode: true}, at(InQuery, InForm)},
		{"cookie", Style{Between: "&", delim: ",", Named: true, Explode: true}, at(InCookie)},
	}
}

// StyleNames are the names of all styles.
func StyleNames() []string {
	var names []string
	for _, row := range styles() {
		names = append(names, row.name)
	}
	return names
}

// StyleOf returns a style by its name; empty: the default of the location. Where the
// location does not allow the style, ok is false and it is the default, too.
func StyleOf(name string, in Location) (s Style, ok bool) {
	byDefault := "form"
	if in == InPath || in == InHeader {
		byDefault = "simple"
	}
	for _, row := range styles() {
		switch {
		case !row.in.has(in):
		case row.name == name:
			s, ok = row.style, true
		case row.name == byDefault && !ok:
			s = row.style
		}
	}
	if in == InCookie {
		s.Between = "; "
	}
	return s, ok || name == ""
}

// LegacyStyle returns a collectionFormat of 2.0. Separators that are not legal
// in a URL are percent-encoded.
func LegacyStyle(format string, in Location) Style {
	s := Style{delim: ",", Between: "&", Named: in != InPath && in != InHeader}
	s.Explode = format == "multi" && s.Named
	for _, row := range []struct{ format, inHeader, encoded string }{
		{"ssv", " ", "%20"},
		{"tsv", "\t", "%09"},
		{"pipes", "|", "%7C"},
	} {
		switch {
		case row.format != format:
		case in == InHeader:
			s.delim = row.inHeader
		default:
			s.delim = row.encoded
		}
	}
	return s
}

// Argument is a value in the arguments object.
type Argument struct {
	Doc  *rawjson.Doc
	Node rawjson.Node
}

// Kind returns the kind of the JSON value.
func (a Argument) Kind() rawjson.Kind { return a.Doc.Kind(a.Node) }

// IsGiven reports whether the value is to be sent. Models pass null for absent
// arguments.
func (a Argument) IsGiven() bool {
	k := a.Kind()
	return k != rawjson.Invalid && k != rawjson.Null
}

// IsVoid reports whether the value is a list or object of which nothing would
// be written: it is undefined (RFC 6570 §2.3), not empty.
func (a Argument) IsVoid() bool {
	if k := a.Kind(); k != rawjson.Array && k != rawjson.Object {
		return false
	}
	for n := a.Doc.First(a.Node); n != rawjson.None; n = a.Doc.Next(n) {
		if (Argument{a.Doc, n}).IsGiven() {
			return false
		}
	}
	return true
}

// Scalar returns the value as text: a string without quotes and escapes, a
// number as written, anything else as JSON.
func (a Argument) Scalar() []byte {
	switch a.Kind() {
	case rawjson.String:
		raw := a.Doc.Raw(a.Node)
		if bytes.IndexByte(raw, '\\') < 0 {
			return raw[1 : len(raw)-1]
		}
		return []byte(a.Doc.Str(a.Node))
	case rawjson.Null, rawjson.Invalid:
		return nil
	case rawjson.Array, rawjson.Object:
		return a.Doc.AppendCompact(nil, a.Node)
	default:
		return a.Doc.Raw(a.Node)
	}
}

// Append writes v under the given name, which is already escaped. It writes
// nothing for an empty list or object, and stops after MaxText.
func (s Style) Append(dst []byte, name string, v Argument) []byte {
	switch {
	case s.Deep && (v.Kind() == rawjson.Object || v.Kind() == rawjson.Array):
		return s.nested(dst, len(dst), []byte(name), v)
	case v.Kind() == rawjson.Array:
		return s.list(dst, name, v)
	case v.Kind() == rawjson.Object:
		return s.object(dst, name, v)
	}
	return s.pair(append(dst, s.first...), name, v)
}

// pair writes one value, with its name if the style has names.
func (s Style) pair(dst []byte, name string, v Argument) []byte {
	text := v.Scalar()
	if !s.Named {
		return s.Escape.Append(dst, text)
	}
	dst = append(dst, name...)
	if len(text) == 0 && s.bare {
		return dst
	}
	return s.Escape.Append(append(dst, '='), text)
}

func (s Style) list(dst []byte, name string, v Argument) []byte {
	begin := true
	for n := v.Doc.First(v.Node); n != rawjson.None && len(dst) <= MaxText; n = v.Doc.Next(n) {
		item := Argument{v.Doc, n}
		if !item.IsGiven() {
			continue // an undefined member (RFC 6570 §2.3)
		}
		dst = s.separate(dst, name, begin)
		begin = false
		if s.Explode {
			dst = s.pair(dst, name, item)
		} else {
			dst = s.Escape.Append(dst, item.Scalar())
		}
	}
	return dst
}

func (s Style) object(dst []byte, name string, v Argument) []byte {
	begin := true
	for n := v.Doc.First(v.Node); n != rawjson.None && len(dst) <= MaxText; n = v.Doc.Next(n) {
		item := Argument{v.Doc, n}
		if !item.IsGiven() {
			continue
		}
		dst = s.separate(dst, name, begin)
		begin = false
		dst = s.Escape.Append(dst, []byte(v.Doc.Key(n)))
		if s.Explode {
			dst = append(dst, '=')
		} else {
			dst = append(dst, s.delim...)
		}
		dst = s.Escape.Append(dst, item.Scalar())
	}
	return dst
}

// separate writes the separator before a member of a list or object.
func (s Style) separate(dst []byte, name string, begin bool) []byte {
	switch {
	case !begin && s.Explode:
		return append(dst, s.Between...)
	case !begin:
		return append(dst, s.delim...)
	}
	dst = append(dst, s.first...)
	if s.Named && !s.Explode {
		dst = append(append(dst, name...), '=')
	}
	return dst
}

// nested writes name[key]=value. For lists in it, on which the specification is
// silent, the index is written: most readers understand that form. Siblings
// share the buffer of the name.
func (s Style) nested(dst []byte, start int, name []byte, v Argument) []byte {
	if k := v.Kind(); k != rawjson.Object && k != rawjson.Array {
		if len(dst) > start {
			dst = append(dst, s.Between...)
		}
		return s.Escape.Append(append(append(dst, name...), '='), v.Scalar())
	}
	i := 0
	for n := v.Doc.First(v.Node); n != rawjson.None && len(dst) <= MaxText && len(name) <= MaxText; n = v.Doc.Next(n) {
		item := Argument{v.Doc, n}
		if !item.IsGiven() {
			continue
		}
		inner := append(name, "%5B"...) //nolint:gocritic // siblings write over each other, none keeps it
		if v.Kind() == rawjson.Array {
			inner = strconv.AppendInt(inner, int64(i), 10)
		} else {
			inner = s.Escape.Append(inner, []byte(v.Doc.Key(n)))
		}
		dst = s.nested(dst, start, append(inner, "%5D"...), item)
		i++
	}
	return dst
}

// escape selects the bytes of a value that are percent-encoded.
type escape uint8

// The sets of encoded bytes.
const (
	EscapeAll      escape = iota // all but the unreserved ones (RFC 3986 §2.3): a value cannot end its component
	EscapeReserved               // allowReserved: also keeps bytes without a meaning in a query
	EscapeForm                   // like EscapeAll, with a space as "+" (application/x-www-form-urlencoded)
	EscapeNone                   // header values are not encoded; see headerText
)

func (e escape) Append(dst, text []byte) []byte {
	if e == EscapeNone {
		return append(dst, text...)
	}
	const hex = "0123456789ABCDEF"
	for _, c := range text {
		switch {
		case isUnreserved(c), e == EscapeReserved && strings.IndexByte(":/?@!$'()*,;", c) >= 0:
			dst = append(dst, c)
		case c == ' ' && e == EscapeForm:
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func (e escape) Text(s string) string { return string(e.Append(nil, []byte(s))) }

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// EscapeLiteral encodes the bytes that a literal part of a path or query may
// not contain. Existing percent-encoding is kept.
func EscapeLiteral(s, keep string) string {
	var b []byte
	for i := range len(s) {
		c := s[i]
		encoded := c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		if encoded || isUnreserved(c) || strings.IndexByte(keep, c) >= 0 {
			b = append(b, c)
			continue
		}
		b = EscapeAll.Append(b, []byte{c})
	}
	return string(b)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
