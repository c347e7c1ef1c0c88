package schema

import (
	"maps"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// members writes properties, patternProperties and additionalProperties. Each
// name that the projection mentions becomes a property with all that applied
// to a member of that name, because a pattern or additionalProperties can no
// longer speak of it: it sees more or less of it than of the others.
func (o *narrowed) members() {
	properties, patterns := o.doc.Get(o.at, "properties"), o.doc.Get(o.at, "patternProperties")
	others := o.doc.Get(o.at, "additionalProperties")
	mentioned := slices.Sorted(maps.Keys(o.pick.names))
	o.properties(properties, func(name string) bool { return o.pick.names[name] != nil }, mentioned)
	if o.pick.each == nil {
		if others != rawjson.None { // there is no other member
			o.key("additionalProperties")
			o.dst = append(o.dst, "false"...)
		}
		return
	}
	if o.patterns(patterns, mentioned) && others != rawjson.None {
		o.within("additionalProperties", others, o.pick.each)
	}
}

// properties writes the declared members that are not mentioned, where those
// are selected, and the mentioned ones.
func (o *narrowed) properties(declared rawjson.Node, mentions func(string) bool, mentioned []string) {
	o.key("properties")
	o.dst = append(o.dst, '{')
	empty := len(o.dst)
	begin := func(name string) {
		if len(o.dst) > empty {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(rawjson.AppendString(o.dst, name), ':')
	}
	for c := o.doc.First(declared); c != rawjson.None; c = o.doc.Next(c) {
		switch name := o.doc.Key(c); {
		case mentions(name):
			begin(name)
			o.mentioned(name)
		case o.pick.each != nil:
			begin(name)
			o.dst = o.schema(o.dst, c, o.pick.each)
		}
	}
	for _, name := range mentioned {
		if o.doc.Get(declared, name) == rawjson.None && !o.unheard(name) {
			begin(name)
			o.mentioned(name)
		}
	}
	o.dst = append(o.dst, '}')
}

// unheard reports whether nothing is said about the member of a name.
func (o *narrowed) unheard(name string) bool {
	list, _ := o.applying(name)
	return len(list) == 0 && o.doc.Get(o.at, "additionalProperties") == rawjson.None
}

// mentioned writes all that applies to the member of a name.
func (o *narrowed) mentioned(name string) {
	t := o.pick.member(name)
	list, known := o.applying(name)
	switch {
	case len(list) == 1:
		o.dst = o.schema(o.dst, list[0], t)
		return
	case len(list) == 0 && known:
		if others := o.doc.Get(o.at, "additionalProperties"); others != rawjson.None {
			o.dst = o.schema(o.dst, others, t)
			return
		}
	}
	if len(list) == 0 {
		o.dst = append(o.dst, "{}"...)
		return
	}
	o.dst = append(o.dst, `{"allOf":[`...)
	for i, at := range list {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = o.schema(o.dst, at, t)
	}
	o.dst = append(o.dst, "]}"...)
}

// applying answers the schemas under properties and patternProperties for a
// name. It is not known whether these are all where a pattern cannot be run.
func (o *narrowed) applying(name string) (list []rawjson.Node, known bool) {
	if c := o.doc.Get(o.doc.Get(o.at, "properties"), name); c != rawjson.None {
		list = append(list, c)
	}
	known = true
	patterns := o.doc.Get(o.at, "patternProperties")
	for c := o.doc.First(patterns); c != rawjson.None; c = o.doc.Next(c) {
		switch matched, sure := newMatcher(o.doc.Key(c)).names(name); {
		case !sure:
			known = false
		case matched:
			list = append(list, c)
		}
	}
	return list, known
}

// patterns writes the patterns that speak of no mentioned name. It reports
// whether these are all.
func (o *narrowed) patterns(patterns rawjson.Node, mentioned []string) bool {
	whole := true
	first := true
	for c := o.doc.First(patterns); c != rawjson.None; c = o.doc.Next(c) {
		m := newMatcher(o.doc.Key(c))
		if slices.ContainsFunc(mentioned, func(name string) bool { matched, sure := m.names(name); return matched || !sure }) {
			whole = false
			continue
		}
		if first {
			o.key("patternProperties")
			o.dst = append(o.dst, '{')
		} else {
			o.dst = append(o.dst, ',')
		}
		first = false
		o.dst = append(rawjson.AppendString(o.dst, o.doc.Key(c)), ':')
		o.dst = o.schema(o.dst, c, o.pick.each)
	}
	if !first {
		o.dst = append(o.dst, '}')
	}
	return whole
}
