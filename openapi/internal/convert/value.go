package openapi

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// typeKeyword writes type. Types that JSON Schema does not know are left out;
// the file of version 2.0 is a string of bytes.
func (c *converter) typeKeyword(m rawjson.Node, s *survey) {
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
		c.loosen(m, "type is left out: "+excerpt(c.doc.Raw(m))+" is no type")
	}
}

func (c *converter) typeName(t string, nullable bool) {
	c.name("type")
	if nullable {
		c.dst = append(append(append(c.dst, `["`...), t...), `","null"]`...)
		return
	}
	c.dst = append(append(append(c.dst, '"'), t...), '"')
}

func (c *converter) typeList(m rawjson.Node, s *survey) {
	var types []string
	add := func(t string) {
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		t := typeOf(c.doc.Raw(e))
		if t == "" {
			c.loosen(e, "type is left out: "+excerpt(c.doc.Raw(e))+" is no type")
			return
		}
		add(t)
	}
	if s.nullable && len(types) > 0 {
		add("null")
	}
	switch len(types) {
	case 0:
		c.loosen(m, "type is left out: it names no type")
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

// typeOf returns the type that a JSON text names, "" if it names none.
func typeOf(raw []byte) string {
	for _, t := range [...]string{"string", "object", "integer", "boolean", "array", "number", "null"} {
		if len(raw) == len(t)+2 && string(raw[1:len(raw)-1]) == t {
			return t
		}
	}
	return ""
}

// enumKeyword writes enum without duplicates, for which validators refuse the
// whole schema.
func (c *converter) enumKeyword(m rawjson.Node, s *survey) {
	if c.doc.Kind(m) != rawjson.Array || c.doc.Len(m) == 0 {
		c.loosen(m, "enum is left out: it is no list with at least one value")
		return
	}
	if err := rawjson.Check(c.doc.Raw(m)); err != nil {
		c.loosen(m, "enum is left out: not every reader of JSON would understand it: "+err.Error())
		return
	}
	if s.ofItems == m {
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

// enumList writes the different values of an enum.
func (c *converter) enumList(m rawjson.Node, nullable bool) {
	c.dst = append(c.dst, '[')
	null := false
	seen := distinct{converter: c}
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

// distinct finds values that are equal. Most lists are short and of simple
// strings, which are compared as they are.
type distinct struct {
	*converter
	few  [16]rawjson.Node
	n    int
	many map[string]struct{}
}

// add reports whether e is not yet there.
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

// canonical is a text that equal values share. Numbers are equal by value, so
// 1 and 1.0 are written as a double writes both.
func (c *converter) canonical(n rawjson.Node) string {
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
			same, _ := rawjson.AppendCanonical(nil, raw) // the enum was checked
			return string(same)
		}
	}
	return string(raw)
}

// formatKeyword writes format for input. Clients assert it, and for a call
// that helps; but an upstream's answer must not be lost to the caller over a
// date without a zone, so for output it goes into the description. The byte of
// the old dialects is how they say base64.
func (c *converter) formatKeyword(m rawjson.Node, s *survey) {
	if c.legacy() && !s.encoded && c.doc.IsStr(m, "byte") {
		c.name("contentEncoding")
		c.dst = append(c.dst, `"base64"`...)
	}
	if !c.dir.goesOut() {
		c.text("format", m)
	}
}

func (c *converter) formatNote(format rawjson.Node) string {
	return "(format: " + c.doc.Str(format) + ")"
}

func (c *converter) descriptionKeyword(m rawjson.Node, s *survey) {
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
func (c *converter) text(key string, m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.String {
		c.note(m, key+" is left out: it is no string")
		return
	}
	c.name(key)
	c.appendText(m)
}

// appendText writes a string. Escapes are written anew: the source may hold
// half a surrogate pair, which no strict reader takes.
func (c *converter) appendText(m rawjson.Node) {
	if raw := c.doc.Raw(m); bytes.IndexByte(raw, '\\') < 0 {
		c.dst = append(c.dst, raw...)
		return
	}
	c.dst = rawjson.AppendString(c.dst, c.doc.Str(m))
}

// plainValue writes a keyword that is any value, never looking into it: what
// looks like a reference there is data.
func (c *converter) plainValue(key string, m rawjson.Node) {
	if err := rawjson.Check(c.doc.Raw(m)); err != nil {
		what := key + " is left out: not every reader of JSON would understand it: " + err.Error()
		if key == "default" { // which restricts nothing
			c.note(m, what)
		} else {
			c.loosen(m, what)
		}
		return
	}
	c.name(key)
	c.dst = c.doc.AppendCompact(c.dst, m)
}

// limit writes a bound of numbers. The boolean exclusiveMinimum of the old
// dialects says of minimum that it is exclusive.
func (c *converter) limit(key string, m rawjson.Node, s *survey) {
	switch {
	case key[0] == 'e' && c.doc.Kind(m) == rawjson.Bool:
		return
	case !c.isNumber(m):
		c.loosen(m, key+" is left out: it is no number")
		return
	case key == "minimum" && s.exclusiveMin:
		key = "exclusiveMinimum"
	case key == "maximum" && s.exclusiveMax:
		key = "exclusiveMaximum"
	}
	c.name(key)
	c.dst = append(c.dst, c.doc.Raw(m)...)
}

// count writes a keyword that is a whole number, or multipleOf.
func (c *converter) count(key string, m rawjson.Node) {
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
	c.loosen(m, key+" is left out: "+excerpt(raw)+" is no number for it")
}

// wholeNumber reads a number that is whole and not negative; JSON Schema takes
// 1.0 for one.
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

// isNumber reports whether m is a number that a double can hold.
func (c *converter) isNumber(m rawjson.Node) bool {
	return c.doc.Kind(m) == rawjson.Number && rawjson.Check(c.doc.Raw(m)) == nil
}

func (c *converter) flag(key string, m rawjson.Node) {
	if c.doc.IsTrue(m) {
		c.name(key)
		c.dst = append(c.dst, "true"...)
	}
}

// excerpt is the beginning of a value, for a message.
func excerpt(raw []byte) string {
	const most = 40
	if len(raw) > most {
		return string(bytes.ToValidUTF8(raw[:most], nil)) + "…"
	}
	return string(raw)
}
