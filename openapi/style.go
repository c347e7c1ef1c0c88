package openapi

import (
	"bytes"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	maxText = 16 << 20 // bytes of a form: repeated names could make much out of little
	maxLine = 1 << 20  // bytes of a path, a query or a header
)

// style says how one value is written: a row of the table of RFC 6570 §3.2.1,
// on which the styles of OpenAPI 3 stand, with the separators of 2.0.
type style struct {
	first   string // stands before everything
	between string // stands between exploded members
	delim   string // stands between members that are not exploded
	named   bool   // members are "name=value"
	bare    bool   // an empty value is written as its name alone
	explode bool
	deep    bool // name[key][key]=value
	escape  escape
}

// styleOf returns the row of a style by its name; any other name is simple.
func styleOf(name string) style {
	switch name {
	case "label":
		return style{first: ".", between: ".", delim: ","}
	case "matrix":
		return style{first: ";", between: ";", delim: ",", named: true, bare: true}
	case "form", "cookie":
		return style{between: "&", delim: ",", named: true, explode: true}
	case "spaceDelimited":
		return style{between: "&", delim: "%20", named: true}
	case "pipeDelimited":
		return style{between: "&", delim: "%7C", named: true}
	case "deepObject":
		return style{between: "&", named: true, deep: true, explode: true}
	}
	return style{between: ",", delim: ","}
}

// legacyStyle is a collectionFormat of 2.0. Separators that a URL cannot hold
// are percent-encoded there.
func legacyStyle(format string, in location) style {
	plain := in == inHeader
	s := style{delim: ",", between: "&", named: in != inPath && in != inHeader}
	switch {
	case format == "multi" && s.named:
		s.explode = true
	case format == "ssv" && plain:
		s.delim = " "
	case format == "ssv":
		s.delim = "%20"
	case format == "tsv" && plain:
		s.delim = "\t"
	case format == "tsv":
		s.delim = "%09"
	case format == "pipes" && plain:
		s.delim = "|"
	case format == "pipes":
		s.delim = "%7C"
	}
	return s
}

// argument is one value of the arguments object.
type argument struct {
	doc  *rawjson.Doc
	node rawjson.Node
}

func (a argument) kind() rawjson.Kind { return a.doc.Kind(a.node) }

// given tells whether there is something to send. A model says null where it
// means nothing.
func (a argument) given() bool {
	k := a.kind()
	return k != rawjson.Invalid && k != rawjson.Null
}

// isVoid tells a list or an object of which nothing would be written: such a
// value is undefined (RFC 6570 §2.3), not empty.
func (a argument) isVoid() bool {
	if k := a.kind(); k != rawjson.Array && k != rawjson.Object {
		return false
	}
	for n := a.doc.First(a.node); n != rawjson.None; n = a.doc.Next(n) {
		if (argument{a.doc, n}).given() {
			return false
		}
	}
	return true
}

// scalar is the value as text: a string without quotes and escapes, a number
// as it was written, anything else as JSON.
func (a argument) scalar() []byte {
	switch a.kind() {
	case rawjson.String:
		raw := a.doc.Raw(a.node)
		if bytes.IndexByte(raw, '\\') < 0 {
			return raw[1 : len(raw)-1]
		}
		return []byte(a.doc.Str(a.node))
	case rawjson.Null, rawjson.Invalid:
		return nil
	case rawjson.Array, rawjson.Object:
		return a.doc.AppendCompact(nil, a.node)
	default:
		return a.doc.Raw(a.node)
	}
}

// append writes v under the given name, which stands there already escaped. It
// writes nothing for an empty list and an empty object, and stops beyond
// maxText.
func (s style) append(dst []byte, name string, v argument) []byte {
	switch {
	case s.deep && (v.kind() == rawjson.Object || v.kind() == rawjson.Array):
		return s.nested(dst, len(dst), []byte(name), v)
	case v.kind() == rawjson.Array:
		return s.list(dst, name, v)
	case v.kind() == rawjson.Object:
		return s.object(dst, name, v)
	}
	return s.pair(append(dst, s.first...), name, v)
}

// pair writes one value, with its name where the style has names.
func (s style) pair(dst []byte, name string, v argument) []byte {
	text := v.scalar()
	if !s.named {
		return s.escape.append(dst, text)
	}
	dst = append(dst, name...)
	if len(text) == 0 && s.bare {
		return dst
	}
	return s.escape.append(append(dst, '='), text)
}

func (s style) list(dst []byte, name string, v argument) []byte {
	begin := true
	for n := v.doc.First(v.node); n != rawjson.None && len(dst) <= maxText; n = v.doc.Next(n) {
		item := argument{v.doc, n}
		if !item.given() {
			continue // an undefined member (RFC 6570 §2.3)
		}
		dst = s.separate(dst, name, begin)
		begin = false
		if s.explode {
			dst = s.pair(dst, name, item)
		} else {
			dst = s.escape.append(dst, item.scalar())
		}
	}
	return dst
}

func (s style) object(dst []byte, name string, v argument) []byte {
	begin := true
	for n := v.doc.First(v.node); n != rawjson.None && len(dst) <= maxText; n = v.doc.Next(n) {
		item := argument{v.doc, n}
		if !item.given() {
			continue
		}
		dst = s.separate(dst, name, begin)
		begin = false
		dst = s.escape.append(dst, []byte(v.doc.Key(n)))
		if s.explode {
			dst = append(dst, '=')
		} else {
			dst = append(dst, s.delim...)
		}
		dst = s.escape.append(dst, item.scalar())
	}
	return dst
}

// separate writes what stands before a member of a list or an object.
func (s style) separate(dst []byte, name string, begin bool) []byte {
	switch {
	case !begin && s.explode:
		return append(dst, s.between...)
	case !begin:
		return append(dst, s.delim...)
	}
	dst = append(dst, s.first...)
	if s.named && !s.explode {
		dst = append(append(dst, name...), '=')
	}
	return dst
}

// nested writes name[key]=value. Lists in it, about which the specification is
// silent, carry their index: of the forms in use the one that most readers
// understand. The name's buffer is shared between siblings.
func (s style) nested(dst []byte, start int, name []byte, v argument) []byte {
	if k := v.kind(); k != rawjson.Object && k != rawjson.Array {
		if len(dst) > start {
			dst = append(dst, s.between...)
		}
		return s.escape.append(append(append(dst, name...), '='), v.scalar())
	}
	i := 0
	for n := v.doc.First(v.node); n != rawjson.None && len(dst) <= maxText && len(name) <= maxText; n = v.doc.Next(n) {
		item := argument{v.doc, n}
		if !item.given() {
			continue
		}
		inner := append(name, "%5B"...) //nolint:gocritic // siblings write over each other, none keeps it
		if v.kind() == rawjson.Array {
			inner = strconv.AppendInt(inner, int64(i), 10)
		} else {
			inner = s.escape.append(inner, []byte(v.doc.Key(n)))
		}
		dst = s.nested(dst, start, append(inner, "%5D"...), item)
		i++
	}
	return dst
}
