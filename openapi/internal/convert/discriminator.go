package openapi

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// discriminator writes which branch of oneOf or anyOf a value is meant for, with
// every value of the property that names a branch: those of the mapping, and the
// last segments of the references. By OpenAPI 3.1 it is a hint, and validation is
// that of JSON Schema alone; so it is in what values are checked against, where it
// chooses which violations are told, and not in what is published. Nor is it
// published as const on the property: a Cat whose kind is "dog", or something
// that is not mapped, fits the schema of the document, and what is published must
// not refuse what the document accepts.
//
// The discriminator of 2.0 is the name of a property and has no branches.
func (c *converter) discriminator(n rawjson.Node) {
	hint := c.doc.Get(n, "discriminator")
	property := c.doc.Get(hint, "propertyName")
	if c.doc.Kind(hint) != rawjson.Object || c.doc.Kind(property) != rawjson.String {
		return
	}
	k := kinds{converter: c, branches: map[value]value{}, refs: map[string]value{}, of: map[string]value{}}
	for _, union := range []string{"oneOf", "anyOf"} {
		k.implicit(c.doc.Get(n, union))
	}
	if len(k.refs) == 0 {
		return
	}
	k.explicit(c.doc.Get(hint, "mapping"))
	c.name("discriminator")
	c.dst = append(c.dst, `{"propertyName":`...)
	c.appendText(property)
	c.dst = append(c.dst, `,"mapping":{`...)
	for _, kind := range slices.Sorted(maps.Keys(k.of)) {
		c.comma()
		c.dst = append(rawjson.AppendString(c.dst, kind), ':')
		to := "" // what names no branch must not be taken for the name of one
		if target := k.of[kind]; target.ok() {
			to = "#/$defs/" + c.definition(target, c.dir).name
		}
		c.dst = rawjson.AppendString(c.dst, to)
	}
	c.dst = append(c.dst, "}}"...)
}

// kinds are the values of a discriminator's property.
type kinds struct {
	*converter
	branches map[value]value  // the schemas that the branches refer to, by those that they are other names of
	refs     map[string]value // the same by the texts of the references
	of       map[string]value // by value; not ok: it names no branch
}

// implicit gives each branch of a union the name that its reference ends with,
// unless another has the same.
func (k *kinds) implicit(union rawjson.Node) {
	if k.doc.Kind(union) != rawjson.Array {
		return
	}
	for e := k.doc.First(union); e != rawjson.None; e = k.doc.Next(e) {
		ref := value{k.file, k.doc.Get(e, "$ref")}
		if ref.kind() != rawjson.String {
			continue // inline: it has no name
		}
		target, err := k.targetOf(ref)
		if err != nil {
			continue // reported where the reference is written
		}
		text := ref.str()
		name := text[strings.LastIndexByte(text, '/')+1:]
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		k.refs[text] = target
		if aliased := k.aliased(target); !k.branches[aliased].ok() {
			k.branches[aliased] = target
		}
		if other, taken := k.of[name]; taken && other != target {
			target = value{}
		}
		k.of[name] = target
	}
}

// explicit reads the mapping. Its values are names of components, or references
// that are compared with those of the branches: no file is read because of them.
func (k *kinds) explicit(mapping rawjson.Node) {
	if k.doc.Kind(mapping) != rawjson.Object {
		return
	}
	for m := k.doc.First(mapping); m != rawjson.None; m = k.doc.Next(m) {
		k.of[k.doc.Key(m)] = k.branch(value{k.file, m})
	}
}

// branch is the schema of a branch that a value of a mapping stands for. The
// mapping may name it by another name of the same schema.
func (k *kinds) branch(to value) value {
	text := to.str()
	for _, root := range []value{{k.file, k.doc.Root()}, k.root} {
		if named := root.get("components").get("schemas").get(text); named.ok() {
			if branch := k.branches[k.aliased(named)]; branch.ok() {
				return branch
			}
		}
	}
	if target, ok := k.refs[text]; ok {
		return target
	}
	if strings.HasPrefix(text, "#") {
		if target, err := k.resolveIn(to, text); err == nil {
			return k.branches[k.aliased(target)]
		}
	}
	return value{}
}

// maxAliases bounds how many names of one schema lead to each other.
const maxAliases = 100

// aliased is the schema that v is only another name of, or v itself: a reference
// within the file, or allOf of nothing else, and beside it nothing that says more.
func (k *kinds) aliased(v value) value {
	for range maxAliases {
		ref := v.get("$ref")
		if all := v.get("allOf"); ref.kind() != rawjson.String && all.kind() == rawjson.Array && all.len() == 1 && onlyNames(v, "allOf") {
			for _, one := range all.each() {
				ref, v = one.get("$ref"), one
			}
		}
		if ref.kind() != rawjson.String || !strings.HasPrefix(ref.str(), "#") || !k.legacy() && !onlyNames(v, "$ref") {
			break
		}
		target, err := k.resolveIn(ref, ref.str())
		if err != nil {
			break
		}
		v = target
	}
	return v
}

// onlyNames reports whether a schema has no keyword but this one and annotations.
func onlyNames(v value, keyword string) bool {
	for key := range v.each() {
		switch key {
		case keyword, "$comment", "title", "summary", "description", "deprecated", "example", "examples", "default", "readOnly", "writeOnly", "xml", "externalDocs":
		default:
			if !strings.HasPrefix(key, "x-") {
				return false
			}
		}
	}
	return true
}
