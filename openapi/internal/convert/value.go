package convert

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// typeKeyword writes type. Types that JSON Schema does not have are dropped;
// the type file of 2.0 becomes a binary string.
func (c *schemaWriter) typeKeyword(m rawjson.Node, s *survey) {
	if c.doc.Kind(m) == rawjson.Array {
		c.typeList(m, s)
		return
	}
	t := typeOf(c.doc.Raw(m))
	switch {
	case c.doc.IsStr(m, "file"):
		c.typeName("string", s.nullable)
		if !s.mediaTyped {
			c.name("contentMediaType")
			c.dst = append(c.dst, `"application/octet-stream"`...)
		}
	case t != "":
		c.typeName(t, s.nullable && t != "null")
	default:
		c.loosen(m, "type ignored: "+excerpt(c.doc.Raw(m))+" is not a type")
	}
}

func (c *schemaWriter) typeName(t string, nullable bool) {
	c.name("type")
	if nullable {
		c.dst = append(append(append(c.dst, `["`...), t...), `","null"]`...)
		return
	}
	c.dst = append(append(append(c.dst, '"'), t...), '"')
}

func (c *schemaWriter) typeList(m rawjson.Node, s *survey) {
	var types []string
	add := func(t string) {
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		t := typeOf(c.doc.Raw(e))
		if t == "" {
			c.loosen(e, "type ignored: "+excerpt(c.doc.Raw(e))+" is not a type")
			return
		}
		add(t)
	}
	if s.nullable && len(types) > 0 {
		add("null")
	}
	switch len(types) {
	case 0:
		c.loosen(m, "type ignored: the list is empty")
	case 1:
		c.typeName(types[0], false)
	default:
		c.name("type")
		c.dst = append(c.dst, '[')
		for _, t := range types {
			c.comma()
			c.dst = append(append(append(c.dst, '"'), t...), '"')
		}
		c.dst = append(c.dst, ']')
	}
}

// typeOf returns the type that a JSON text names, or "".
func typeOf(raw []byte) string {
	for _, t := range [...]string{"string", "object", "integer", "boolean", "array", "number", "null"} {
		if len(raw) == len(t)+2 && string(raw[1:len(raw)-1]) == t {
			return t
		}
	}
	return ""
}

// enumKeyword writes enum without duplicates, because validators reject a
// schema with duplicates.
func (c *schemaWriter) enumKeyword(m rawjson.Node, s *survey) {
	if c.doc.Kind(m) != rawjson.Array || c.doc.Len(m) == 0 {
		c.loosen(m, "enum ignored: not a non-empty list")
		return
	}
	if err := rawjson.Check(c.doc.Raw(m)); err != nil {
		c.loosen(m, "enum ignored: not portable JSON: "+err.Error())
		return
	}
	if s.itemsEnum == m {
		if s.items == rawjson.None {
			c.name("items")
			c.dst = append(c.dst, "{}"...)
			c.enumOfItems(s)
		}
		return
	}
	c.name("enum")
	c.enumList(m, s.nullable)
}

// enumList writes the distinct values of an enum.
func (c *schemaWriter) enumList(m rawjson.Node, nullable bool) {
	c.dst = append(c.dst, '[')
	null := false
	seen := distinct{schemaWriter: c}
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		null = null || c.doc.Kind(e) == rawjson.Null
		if !seen.add(e) {
			continue
		}
		c.comma()
		c.dst = c.doc.AppendCompact(c.dst, e)
	}
	if nullable && !null {
		c.dst = append(c.dst, ",null"...)
	}
	c.dst = append(c.dst, ']')
}

// distinct finds equal values. Most lists are short and of simple strings,
// which are compared as bytes.
type distinct struct {
	*schemaWriter
	few  [16]rawjson.Node
	n    int
	many map[string]struct{}
}

// add reports whether e is new.
func (d *distinct) add(e rawjson.Node) bool {
	raw := d.doc.Raw(e)
	if d.many == nil && d.n < len(d.few) && d.doc.Kind(e) == rawjson.String && bytes.IndexByte(raw, '\\') < 0 {
		for _, other := range d.few[:d.n] {
			if bytes.Equal(d.doc.Raw(other), raw) {
				return false
			}
		}
		d.few[d.n] = e
		d.n++
		return true
	}
	if d.many == nil {
		d.many = make(map[string]struct{})
		for _, other := range d.few[:d.n] {
			d.many[d.canonical(other)] = struct{}{}
		}
	}
	same := d.canonical(e)
	if _, again := d.many[same]; again {
		return false
	}
	d.many[same] = struct{}{}
	return true
}

// canonical returns a text that equal values share. Numbers are compared by
// value: 1 and 1.0 have the same text.
func (c *schemaWriter) canonical(n rawjson.Node) string {
	raw := c.doc.Raw(n)
	switch c.doc.Kind(n) {
	case rawjson.Number:
		if len(raw) <= 15 { // exact in a double
			if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
				return strconv.FormatFloat(f, 'g', -1, 64)
			}
		}
	case rawjson.Array, rawjson.Object, rawjson.String:
		if bytes.IndexByte(raw, '\\') >= 0 || c.doc.Kind(n) != rawjson.String {
			same, _ := rawjson.AppendCanonical(nil, raw) // the enum is valid
			return string(same)
		}
	}
	return string(raw)
}

// formatKeyword writes format for input. Clients assert it, which helps with
// arguments. For output it goes into the description, so that a client does not
// reject a response because of a date without a time zone. The format byte of
// the old dialects means base64.
func (c *schemaWriter) formatKeyword(m rawjson.Node, s *survey) {
	if c.Legacy() && !s.encoded && c.doc.IsStr(m, "byte") {
		c.name("contentEncoding")
		c.dst = append(c.dst, `"base64"`...)
	}
	if !c.dir.isOutput() {
		c.text("format", m)
	}
}

func (c *schemaWriter) formatNote(format rawjson.Node) string {
	return "(format: " + c.doc.Str(format) + ")"
}

func (c *schemaWriter) descriptionKeyword(m rawjson.Node, s *survey) {
	if s.format == rawjson.None {
		c.text("description", m)
		return
	}
	if text := c.doc.Str(m); s.described {
		if text != "" {
			text += " "
		}
		c.name("description")
		c.dst = rawjson.AppendString(c.dst, text+c.formatNote(s.format))
	}
}

// text writes a keyword that is a string.
func (c *schemaWriter) text(key string, m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.String {
		c.addDiagnosticAt(m, key+" ignored: not a string")
		return
	}
	c.name(key)
	c.appendText(m)
}

// appendText writes a string. Escapes are rewritten: the source may contain
// half a surrogate pair, which strict parsers reject.
func (c *schemaWriter) appendText(m rawjson.Node) {
	if raw := c.doc.Raw(m); bytes.IndexByte(raw, '\\') < 0 {
		c.dst = append(c.dst, raw...)
		return
	}
	c.dst = rawjson.AppendString(c.dst, c.doc.Str(m))
}

// plainValue writes a keyword whose value is data, without looking for
// references in it.
func (c *schemaWriter) plainValue(key string, m rawjson.Node) {
	if err := rawjson.Check(c.doc.Raw(m)); err != nil {
		what := key + " ignored: not portable JSON: " + err.Error()
		if key == "default" { // restricts nothing
			c.addDiagnosticAt(m, what)
		} else {
			c.loosen(m, what)
		}
		return
	}
	c.name(key)
	c.dst = c.doc.AppendCompact(c.dst, m)
}

// limit writes a numeric bound. The boolean exclusiveMinimum of the old
// dialects makes minimum exclusive.
func (c *schemaWriter) limit(key string, m rawjson.Node, s *survey) {
	switch {
	case key[0] == 'e' && c.doc.Kind(m) == rawjson.Bool:
		return
	case !c.isNumber(m):
		c.loosen(m, key+" ignored: not a number")
		return
	case key == "minimum" && s.exclusiveMin:
		key = "exclusiveMinimum"
	case key == "maximum" && s.exclusiveMax:
		key = "exclusiveMaximum"
	}
	c.name(key)
	c.dst = append(c.dst, c.doc.Raw(m)...)
}

// count writes a non-negative integer keyword, or multipleOf.
func (c *schemaWriter) count(key string, m rawjson.Node) {
	raw := c.doc.Raw(m)
	if key == "multipleOf" {
		if f, err := strconv.ParseFloat(string(raw), 64); c.isNumber(m) && err == nil && f > 0 {
			c.name(key)
			c.dst = append(c.dst, raw...)
			return
		}
	} else if whole, ok := wholeNumber(raw); ok && c.isNumber(m) {
		c.name(key)
		c.dst = strconv.AppendInt(c.dst, whole, 10)
		return
	}
	c.loosen(m, key+" ignored: "+excerpt(raw)+" is not a valid value")
}

// wholeNumber reads a non-negative integer; in JSON Schema 1.0 is one.
func wholeNumber(raw []byte) (whole int64, ok bool) {
	if whole, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return whole, whole >= 0
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < 0 || f >= 1<<53 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// isNumber reports whether m is a number within the range of a double.
func (c *schemaWriter) isNumber(m rawjson.Node) bool {
	return c.doc.Kind(m) == rawjson.Number && rawjson.Check(c.doc.Raw(m)) == nil
}

func (c *schemaWriter) flag(key string, m rawjson.Node) {
	if c.doc.IsTrue(m) {
		c.name(key)
		c.dst = append(c.dst, "true"...)
	}
}

// excerpt returns the beginning of a value, for a message.
func excerpt(raw []byte) string {
	const most = 40
	if len(raw) > most {
		return string(bytes.ToValidUTF8(raw[:most], nil)) + "…"
	}
	return string(raw)
}

// meansItems reports whether the enum of an array belongs to its items: none of
// its values is an array, so nothing could match, and each is a possible item.
// Many documents of version 2.0 have this mistake.
func (c *schemaWriter) meansItems(enum, items rawjson.Node) bool {
	if c.doc.Kind(enum) != rawjson.Array || c.doc.Len(enum) == 0 {
		return false
	}
	kind := c.doc.Get(items, "type")
	if items != rawjson.None && (c.doc.Kind(items) != rawjson.Object || c.doc.Kind(kind) != rawjson.String) {
		return false
	}
	for m := c.doc.First(items); m != rawjson.None; m = c.doc.Next(m) {
		switch c.doc.Key(m) {
		case "type", "format", "description", "title", "pattern", "minLength", "maxLength", "minimum", "maximum", "default", "example":
		default:
			return false
		}
	}
	for e := c.doc.First(enum); e != rawjson.None; e = c.doc.Next(e) {
		var names []string
		switch c.doc.Kind(e) {
		case rawjson.String:
			names = []string{"string"}
		case rawjson.Bool:
			names = []string{"boolean"}
		case rawjson.Number:
			names = []string{"number", "integer"}
		default:
			return false
		}
		if items != rawjson.None && !c.doc.IsStr(kind, names[0]) && !c.doc.IsStr(kind, names[len(names)-1]) {
			return false
		}
	}
	return true
}

// enumOfItems adds the enum of an array to its items, which were just written.
func (c *schemaWriter) enumOfItems(s *survey) {
	end := len(c.dst) - 1
	if s.itemsEnum == rawjson.None || end < 1 || c.dst[end] != '}' || rawjson.Check(c.doc.Raw(s.itemsEnum)) != nil {
		return
	}
	empty := c.dst[end-1] == '{'
	if c.dst = c.dst[:end]; !empty {
		c.dst = append(c.dst, ',')
	}
	c.dst = append(c.dst, `"enum":`...)
	c.enumList(s.itemsEnum, false)
	c.dst = append(c.dst, '}')
}
