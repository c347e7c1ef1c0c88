package flowmcp

import (
	"slices"
	"strings"
)

// idKinds are what a name in full can be of.
func idKinds() []string {
	return []string{"tool", "resource", "prompt", "list", "skill", "selection", "agent"}
}

// checkID keeps the rules of names in full, namespace/kind/name, where one of a
// kind must stand; an empty kind is any. A folder may stand in front, with a
// colon. false: it names nothing, so that nothing needs to be looked for.
func (c *checker) checkID(at *node, path, kind, id string) bool {
	if source, rest, ok := strings.Cut(id, ":"); ok && !strings.Contains(source, "/") {
		id = rest
	}
	parts := strings.Split(id, "/")
	switch last := len(parts) - 1; {
	case last == 0 || last > 2:
		c.loose("ID001", at, path, "%q is no name of the form namespace/kind/name", id)
	case !namespacePattern.MatchString(parts[0]):
		c.loose("ID002", at, path, "the namespace of %q must match %s", id, namespacePattern)
	case parts[last] == "":
		c.loose("ID004", at, path, "%q has no name behind its last slash", id)
	case last == 2 && !slices.Contains(idKinds(), parts[1]):
		c.loose("ID003", at, path, "the kind of %q must be one of %s", id, strings.Join(idKinds(), ", "))
	case last == 2 && kind != "" && parts[1] != kind:
		c.loose("ID003", at, path, "%q must name a %s here", id, kind)
	case last == 1:
		c.letter("ID005", at, path, "%q leaves the kind out; write it in full", id)
		return true
	default:
		return true
	}
	return false
}

// checkOuterID does so where a bare name would be one of the own namespace: it
// is found, and the format wants it in full.
func (c *checker) checkOuterID(at *node, path, kind, scope, id string) bool {
	if id == "" || strings.Contains(id, "/") {
		return c.checkID(at, path, kind, id)
	}
	c.letter("ID006", at, path, "%q must be written in full: %s", id, idOf(kind, scope, id))
	return true
}

// checkMarkID does so for a name in a text, which may be bare, and may leave
// out the kind that stands in front of it.
func (c *checker) checkMarkID(at *node, path, kind, name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		return true
	}
	if len(parts) == 2 {
		name = parts[0] + "/" + kind + "/" + parts[1]
	}
	return c.checkID(at, path, kind, name)
}
