package openapi

import "github.com/tenon-mcp/tenon/internal/rawjson"

// lineSchema reads the schema of a stream of JSON lines. Before 3.2 there was no
// word for its items: some documents describe the list that they make, others
// one of them. Of a list only the items count, because it arrives in parts.
func (o *operation) lineSchema(v value, dir direction) []byte {
	d := o.api.doc
	looks := maxLooks
	switch d.describesList(v, &looks) {
	case sometimes:
		f := d.convert(v, dir)
		either := objectSchema(f.body)
		doc := append(append([]byte(`{"type":"array","anyOf":[{"items":`), either...), "},"...)
		return assemble(append(append(doc, either...), "]}"...), f.deps)
	case always:
		if list := d.follow(v); list.get("items").ok() {
			return listOf(d.convert(list.get("items"), dir))
		}
		return o.api.standalone(v, dir)
	default:
		return listOf(d.convert(v, dir))
	}
}

func listOf(items fragment) []byte {
	return assemble(append(append([]byte(`{"type":"array","items":`), objectSchema(items.body)...), '}'), items.deps)
}

// how often the values of a schema are of some kind.
type often uint8

const (
	never often = iota
	sometimes
	always
)

func oftenOf(some, others bool) often {
	switch {
	case !some:
		return never
	case others:
		return sometimes
	}
	return always
}

// describesList tells whether the values of a schema are lists. looks bounds how
// many schemas are looked into.
func (d *document) describesList(v value, looks *int) often {
	if *looks--; *looks < 0 {
		return sometimes
	}
	v = d.follow(v)
	switch t := v.get("type"); {
	case t.kind() == rawjson.String:
		return oftenOf(t.str() == "array", false)
	case t.kind() == rawjson.Array:
		lists, others := false, false
		for _, one := range t.each() {
			lists = lists || one.str() == "array"
			others = others || one.str() != "array" && one.str() != "null"
		}
		return oftenOf(lists, others)
	case v.get("items").ok() && !v.get("properties").ok():
		return always
	}
	is := never
	for _, part := range v.get("allOf").each() {
		is = max(is, d.describesList(part, looks))
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		lists, others := false, false
		for _, branch := range v.get(key).each() {
			one := d.describesList(branch, looks)
			lists, others = lists || one != never, others || one != always
		}
		is = max(is, oftenOf(lists, others))
	}
	return is
}
