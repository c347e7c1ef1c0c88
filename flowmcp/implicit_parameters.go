package flowmcp

import "regexp"

// markPattern is how real files write a mark of their own.
var markPattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// asked is the name of the argument that a bare mark in a value stands for,
// such as {{CITY}}; empty: for none. The mark names no server parameter. Where
// the tool's own cases give it a value only the caller can mean it, and the
// first of them says its name: that of the mark or, where the mark is the whole
// value, the parameter's key. One that no case gives is an argument where the
// tool has others that are, and where it may be left out.
func (t *route) asked(p *parameter, name, value string) string {
	if !t.file.callers || !markPattern.MatchString(name) || name == userMark {
		return ""
	}
	whole := value == "{{"+name+"}}"
	for _, test := range t.tests.list() {
		switch {
		case test.get(name).there():
			return name
		case whole && test.get(p.key).there():
			return p.key
		}
	}
	if whole && p.z.optional && t.asks {
		return p.key
	}
	return ""
}

// asks reports whether the tool's cases give a value for a bare mark.
func asks(t *route, parameters *node) bool {
	for _, n := range parameters.list() {
		position := n.get("position")
		value, p := position.get("value").str(), &parameter{key: position.get("key").str()}
		for _, m := range placeholder.FindAllStringSubmatch(value, -1) {
			if !t.file.server[m[1]] && t.asked(p, m[1], value) != "" {
				return true
			}
		}
	}
	return false
}
