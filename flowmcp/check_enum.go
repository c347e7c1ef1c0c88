package flowmcp

import (
	"slices"
)

// enoughValues is how many values of an enum must all be of a list before they
// count as written out from it: two such as 0 and 1, or true and false, are of
// some list anywhere.
const enoughValues = 3

// checkEnum keeps the rule that what a shared list holds is not written out
// again: z.enum names lists, and the values of an enum are not those of one.
func (c *checker) checkEnum(p *parameter, z *node) {
	for i, item := range z.get("enum").list() {
		if m := placeholder.FindString(item.str()); m == "" || m != item.str() {
			c.letter("VAL107", item, index(p.where+".z.enum", i), "must name a field of a shared list, such as {{listName:alias}}")
		}
	}
	if c.shelf == nil || p.z.primitive != "enum" || len(p.z.members) < enoughValues || placeholder.MatchString(z.get("primitive").str()) {
		return
	}
	for _, l := range c.shelf.all() {
		if field := l.holding(p.z.members); field != "" {
			c.letter("VAL107", orElse(z.get("primitive"), z), p.where+".z.primitive", "its %d values all stand in the shared list %s; declare it, with a filter where it has more, and write {{%s:%s}}", len(p.z.members), l.name, l.name, field)
			return
		}
	}
}

// holding is the field of texts that has all these values, alias first; empty:
// there is none.
func (l *list) holding(texts []string) string {
	if l.holds == nil {
		l.holds = map[string]map[string]bool{}
		for _, field := range l.texts {
			l.holds[field] = map[string]bool{}
			for _, value := range (&reference{list: l, entries: l.entries}).values(field) {
				l.holds[field][value] = true
			}
		}
	}
	for _, field := range append([]string{"alias"}, l.texts...) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !l.holds[field][text] }) {
			return field
		}
	}
	return ""
}
