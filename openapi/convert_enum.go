package openapi

import "github.com/tenon-mcp/tenon/internal/rawjson"

// meansItems reports whether the enum of an array belongs to its items: no
// value of it is an array, so nothing could fit, and each is what an item can
// be. Many documents of version 2.0 have it so.
func (c *converter) meansItems(enum, items rawjson.Node) bool {
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
func (c *converter) enumOfItems(s *survey) {
	end := len(c.dst) - 1
	if s.ofItems == rawjson.None || end < 1 || c.dst[end] != '}' || rawjson.Check(c.doc.Raw(s.ofItems)) != nil {
		return
	}
	empty := c.dst[end-1] == '{'
	if c.dst = c.dst[:end]; !empty {
		c.dst = append(c.dst, ',')
	}
	c.dst = append(c.dst, `"enum":`...)
	c.enumList(s.ofItems, false)
	c.dst = append(c.dst, '}')
}
