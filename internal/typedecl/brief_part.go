package typedecl

import (
	"fmt"
	"slices"
	"strings"
)

// Types that are too large are written in part. What of them is left out has a path: the
// name of the type and those of members, with dots between them. Lists, maps and
// alternatives have no part in it: TYPE.MEMBER is the member of whatever is in them.

// some writes as much of a type as fits. What is left out of objects is named; values of
// an enum become their type.
func (p *briefer) some(path string, t *Type, most int) string {
	if t.isAny() {
		return "unknown"
	}
	var all []string
	used, values := 0, 0
	add := func(text string) {
		if !slices.Contains(all, text) {
			all = append(all, text)
			used += len(text) + len(" | ")
		}
	}
	for i := range t.alts {
		a := &t.alts[i]
		known := len(p.queue)
		text := p.compactly(of(*a))
		switch {
		case used+len(text) <= most:
		case a.form == literalForm:
			values++
			text = kindOf(a.text)
		default:
			p.queue = p.queue[:known] // what is not shown mentions nothing
			text = p.part(path, a, max(most-used, minPart))
		}
		add(text)
	}
	text := strings.Join(all, " | ")
	if values > 0 {
		text += fmt.Sprintf(" /* %d values are not shown */", values)
	}
	return text
}

// minPart is what a part of a type has at least, in bytes: where each of many
// alternatives is large, they are more than fits, and the budget grows.
const minPart = 200

// kindOf is the type of a literal.
func kindOf(literal string) string {
	switch literal[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// part writes as much of an alternative as fits.
func (p *briefer) part(path string, a *alternative, most int) string {
	switch a.form {
	case objectForm:
		return p.someMembers(path, a.object, most)
	case arrayForm:
		if a.array.rest != nil && len(a.array.prefix) == 0 {
			return "(" + p.some(path, a.array.rest, most) + ")[]"
		}
		inside := slices.Clone(a.array.prefix)
		if a.array.rest != nil {
			inside = append(inside, a.array.rest)
		}
		return "(" + p.some(path, union(inside...), most) + ")[]" // a list of any of them
	case bothForm:
		var all []string
		for _, t := range a.parts {
			all = append(all, "("+p.some(path, t, most/len(a.parts))+")")
		}
		return strings.Join(all, " & ")
	default:
		return "unknown"
	}
}

// someMembers writes as many members of an object as fit, those that are required first,
// and names the others, as many of them as the budget has space for.
func (p *briefer) someMembers(path string, o *objectType, most int) string {
	if len(o.members) == 0 && o.index != nil {
		return "{ [key: string]: " + p.some(path, o.index, most) + " }"
	}
	members := slices.Clone(o.members)
	slices.SortStableFunc(members, func(x, y member) int {
		switch {
		case x.required == y.required:
			return 0
		case x.required:
			return -1
		}
		return 1
	})
	var b, more strings.Builder
	b.WriteString("{\n")
	left, cut := 0, false
	for _, m := range members {
		var one strings.Builder
		known := len(p.queue)
		p.compact = true
		p.member(&one, m, "  ")
		p.compact = false
		if b.Len()+one.Len() <= most*2/3 {
			b.WriteString(one.String() + "\n")
			continue
		}
		p.queue = p.queue[:known]
		left++
		p.left = append(p.left, path+"."+m.name)
		if cut = cut || b.Len()+more.Len() >= most; !cut {
			more.WriteString(" " + listed(m.name))
		}
	}
	if left > 0 {
		if cut {
			more.WriteString(" …")
		}
		fmt.Fprintf(&b, "  // and %d more, ask for %s.NAME:%s\n", left, path, more.String())
	}
	b.WriteString("}")
	return b.String()
}

// listed is the name of a member in a list of names with spaces between them.
func listed(name string) string {
	if one := oneLine(name, len(name)); one != name || strings.ContainsAny(name, " \t") || name == "" {
		return quoted(name)
	}
	return name
}

// below declares a member that was asked for by its path, below a type that is called of.
func (p *briefer) below(path, of string, t *Type) bool {
	rest, ok := strings.CutPrefix(path, of+".")
	if !ok || t == nil {
		return false
	}
	name, found := of, t
	for found != nil && rest != "" {
		var member string
		if member, found = memberAt(found, rest); found != nil {
			name += pascal(member)
			rest = strings.TrimPrefix(rest[len(member):], ".")
		}
	}
	if found == nil {
		return false
	}
	p.full(name, path, found)
	return true
}

// memberAt finds the member that a path begins with, the longest if several do: names
// have dots, too.
func memberAt(t *Type, path string) (name string, typ *Type) {
	var all []*Type
	eachMember(t, func(m *member) {
		rest, ok := strings.CutPrefix(path, m.name)
		switch {
		case !ok || rest != "" && rest[0] != '.' || len(m.name) < len(name) || m.name == "":
		case m.name == name:
			all = append(all, m.typ)
		default:
			name, all = m.name, []*Type{m.typ}
		}
	})
	if all == nil {
		return "", nil
	}
	return name, union(all...)
}

// eachMember visits the members of the objects in a type, also in lists, maps and
// alternatives, but not in types that have a name.
func eachMember(t *Type, visit func(*member)) {
	if t == nil {
		return
	}
	for _, a := range t.alts {
		if a.object != nil {
			for i := range a.object.members {
				visit(&a.object.members[i])
			}
			eachMember(a.object.index, visit)
		}
		if a.array != nil {
			for _, element := range a.array.prefix {
				eachMember(element, visit)
			}
			eachMember(a.array.rest, visit)
		}
		for _, part := range a.parts {
			eachMember(part, visit)
		}
	}
}
