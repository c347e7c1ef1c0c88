package schema

import (
	"maps"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// discriminator is the keyword of OpenAPI that names the branch of oneOf or
// anyOf that a value is meant for. OpenAPI 3.1 calls it a hint and defines
// validation by JSON Schema alone, to which it is an annotation: whether a value
// fits never hangs on it. It chooses whose violations are reported where no
// branch fits. A value that lacks the property, has no string there or one that
// is not mapped is reported as without it: the violations of all branches.
type discriminator struct {
	property       string
	ofOne, ofAnyOf map[string]int // the position of the branch, by the property's value
}

// choice is a discriminator of one union.
type choice struct {
	property string
	branch   map[string]int
}

func (d *discriminator) one() choice {
	if d == nil {
		return choice{}
	}
	return choice{d.property, d.ofOne}
}

func (d *discriminator) any() choice {
	if d == nil {
		return choice{}
	}
	return choice{d.property, d.ofAnyOf}
}

// discriminator compiles the keyword, nil if it names no branch. It is no part of
// JSON Schema, so one of another form is no error.
func (b *builder) discriminator() *discriminator {
	d := b.c.doc
	name := d.Get(b.tag, "propertyName")
	if d.Kind(name) != rawjson.String {
		return nil
	}
	made := &discriminator{d.Str(name), b.branches("oneOf"), b.branches("anyOf")}
	if len(made.ofOne)+len(made.ofAnyOf) == 0 {
		return nil
	}
	return made
}

// branches finds what the branches of a union are called: by the mapping, which
// has references or names, else by the last segment of their reference. Inline
// branches have no name.
func (b *builder) branches(union string) map[string]int {
	const ambiguous = -1
	d := b.c.doc
	list := d.Get(b.at, union)
	if d.Kind(list) != rawjson.Array {
		return nil
	}
	refs, names := map[string]int{}, map[string]int{}
	i := 0
	for e := d.First(list); e != rawjson.None; e = d.Next(e) {
		if ref := d.Get(e, "$ref"); d.Kind(ref) == rawjson.String {
			text := d.Str(ref)
			name := lastSegment(text)
			_, again := refs[text]
			_, taken := names[name]
			switch {
			case again: // the same schema twice
			case taken:
				refs[text], names[name] = i, ambiguous
			default:
				refs[text], names[name] = i, i
			}
		}
		i++
	}
	branch := maps.Clone(names)
	mapping := d.Get(b.tag, "mapping")
	if d.Kind(mapping) != rawjson.Object {
		mapping = rawjson.None
	}
	for m := d.First(mapping); m != rawjson.None; m = d.Next(m) {
		to := d.Str(m)
		i, ok := names[to]
		if !ok {
			i, ok = refs[to]
		}
		if !ok {
			i = ambiguous // it leads to no branch
		}
		branch[d.Key(m)] = i
	}
	for value, i := range branch {
		if i == ambiguous {
			delete(branch, value)
		}
	}
	return branch
}

// lastSegment is the name that a reference ends with.
func lastSegment(ref string) string {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// meant answers the branch that the value at start is meant for, all branches if
// the value does not tell.
func (r *run) meant(c choice, list []*node, start int) []*node {
	if len(c.branch) == 0 || kindOf(r.b[start]) != isObject {
		return list
	}
	r.i = start
	if !r.plain(isObject, nil) {
		return list
	}
	r.left -= (r.i - start) >> 3
	doc, err := rawjson.Parse(r.b[start:r.i])
	if err != nil {
		return list // cannot be: the syntax was checked
	}
	if i, ok := c.of(doc, doc.Root()); ok {
		return list[i : i+1]
	}
	return list
}

// of answers the position of the branch that a value is meant for.
func (c choice) of(doc *rawjson.Doc, value rawjson.Node) (position int, ok bool) {
	if len(c.branch) == 0 || doc.Kind(value) != rawjson.Object {
		return 0, false
	}
	tag := doc.Get(value, c.property)
	if doc.Kind(tag) != rawjson.String {
		return 0, false
	}
	position, ok = c.branch[doc.Str(tag)]
	return position, ok
}

// discriminators are all of the document, by the addresses that the library gives
// to their schemas.
func (c *compiler) discriminators() map[string]*discriminator {
	var all map[string]*discriminator
	for _, p := range c.all {
		if p.node.logic == nil || p.node.logic.meant == nil {
			continue
		}
		if all == nil {
			all = map[string]*discriminator{}
		}
		tokens := strings.Split(c.pointer(p.at), "/")
		for i, t := range tokens {
			tokens[i] = url.PathEscape(t)
		}
		all[base+"#"+strings.Join(tokens, "/")] = p.node.logic.meant
	}
	return all
}
