package schema

import (
	"maps"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// discriminator is the keyword of OpenAPI that names the branch of oneOf or
// anyOf that a value belongs to. OpenAPI 3.1 calls it a hint and defines
// validation by JSON Schema alone, where it is an annotation: it never decides
// whether a value is valid. It selects the branch whose violations are reported
// where no branch is satisfied. Where the property is absent, not a string or
// not mapped, the violations of all branches are reported.
type discriminator struct {
	property       string
	ofOne, ofAnyOf map[string]int // index of the branch by the property's value
}

// choice is a discriminator applied to one union.
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

// discriminator compiles the keyword; nil if it names no branch. JSON Schema
// does not define it, so an ill-formed one is not an error.
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

// branches returns the names of a union's branches: by the mapping, which has
// references or names, else by the last segment of their reference. Inline
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
			i = ambiguous // not a branch
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

// lastSegment returns the last segment of a reference.
func lastSegment(ref string) string {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// selectedBranch returns the branch that the discriminator selects for the value at
// start, all branches if it selects none.
func (r *validation) selectedBranch(c choice, list []*node, start int) []*node {
	if len(c.branch) == 0 || rawjson.KindOf(r.B[start]) != rawjson.IsObject {
		return list
	}
	r.I = start
	if !r.plain(rawjson.IsObject, nil) {
		return list
	}
	r.left -= (r.I - start) >> 3
	doc, err := rawjson.Parse(r.B[start:r.I])
	if err != nil {
		return list // unreachable: the syntax was checked
	}
	if i, ok := c.of(doc, doc.Root()); ok {
		return list[i : i+1]
	}
	return list
}

// of returns the index of the branch that a value selects.
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

// discriminators returns the discriminators of the document by the URLs that
// the library gives to their schemas.
func (c *compiler) discriminators() map[string]*discriminator {
	var all map[string]*discriminator
	for _, p := range c.all {
		if p.node.logic == nil || p.node.logic.discriminator == nil {
			continue
		}
		if all == nil {
			all = map[string]*discriminator{}
		}
		tokens := strings.Split(c.pointer(p.at), "/")
		for i, t := range tokens {
			tokens[i] = url.PathEscape(t)
		}
		all[base+"#"+strings.Join(tokens, "/")] = p.node.logic.discriminator
	}
	return all
}
