package flowmcp

import (
	"regexp"
	"slices"
	"strings"
)

// textMark is a place that belongs into the text of a skill or a prompt.
var textMark = regexp.MustCompile(`\{\{\s*(tool|resource|skill|prompt|input):[^{}]*\}\}`)

// checkPlaces looks for the places of skills and prompts in main, where nobody
// fills them in: there marks stand for arguments, server parameters and the
// fields of lists, and a list may have one of these names.
func (c *checker) checkPlaces(f *file) {
	for i, key := range f.main.keysOrNone() {
		c.checkPlacesIn(f, f.main.items[i], "main."+key)
	}
}

func (c *checker) checkPlacesIn(f *file, n *node, path string) {
	m := textMark.FindStringSubmatch(n.str())
	_, isList := f.lists[slices.Concat(m, []string{"", ""})[1]]
	switch {
	case m != nil && !isList && !strings.HasSuffix(path, ".z.primitive"): // there it is a list that is not declared
		c.loose("PH004", n, path, "the place %s belongs into the content of a skill or a prompt; here nothing is put in", m[0])
	case n.is(arrayKind):
		for i, item := range n.items {
			c.checkPlacesIn(f, item, index(path, i))
		}
	default:
		n.members(func(key string, value *node) { c.checkPlacesIn(f, value, path+"."+key) })
	}
}
