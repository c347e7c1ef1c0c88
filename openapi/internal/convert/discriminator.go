package convert

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// discriminator writes which branch of oneOf or anyOf a value is for,
// with every value of the property that names a branch: those of the mapping,
// and the last segments of the references. In OpenAPI 3.1 it is a hint, and
// validation is that of JSON Schema alone; so it is only in the schema for
// validation, where it selects which violations are reported, and is not
// published. Nor is it published as const on the property: a Cat whose kind is
// "dog", or a value that is not mapped, matches the schema of the document, and
// the published schema must not reject what the document accepts.
//
// The discriminator of 2.0 is the name of a property and has no branches.
func (c *schemaWriter) discriminator(n rawjson.Node) {
	hint := c.doc.Get(n, "discriminator")
	property := c.doc.Get(hint, "propertyName")
	if c.doc.Kind(hint) != rawjson.Object || c.doc.Kind(property) != rawjson.String {
		return
	}
	k := discriminatorMapping{schemaWriter: c, branches: map[document.Value]document.Value{}, refs: map[string]document.Value{}, byValue: map[string]document.Value{}}
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
	for _, kind := range slices.Sorted(maps.Keys(k.byValue)) {
		c.comma()
		c.dst = append(rawjson.AppendString(c.dst, kind), ':')
		to := "" // a name that maps to no branch must not be taken for the name of one
		if target := k.byValue[kind]; target.OK() {
			to = "#/$defs/" + c.definition(target, c.dir).Name
		}
		c.dst = rawjson.AppendString(c.dst, to)
	}
	c.dst = append(c.dst, "}}"...)
}

// discriminatorMapping are the values of a discriminator's property.
type discriminatorMapping struct {
	*schemaWriter
	branches map[document.Value]document.Value // the schemas that branches refer to, by the schema behind all aliases
	refs     map[string]document.Value         // the same by the text of the reference
	byValue  map[string]document.Value         // by value of the property; not ok: it names no branch
}

// implicit maps the last segment of each branch's reference to the branch,
// unless two branches share it.
func (k *discriminatorMapping) implicit(union rawjson.Node) {
	if k.doc.Kind(union) != rawjson.Array {
		return
	}
	for e := k.doc.First(union); e != rawjson.None; e = k.doc.Next(e) {
		ref := document.Value{File: k.file, Node: k.doc.Get(e, "$ref")}
		if ref.Kind() != rawjson.String {
			continue // inline: it has no name
		}
		target, err := k.Target(ref)
		if err != nil {
			continue // reported where the reference is written
		}
		text := ref.Str()
		name := text[strings.LastIndexByte(text, '/')+1:]
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		k.refs[text] = target
		if aliased := k.aliased(target); !k.branches[aliased].OK() {
			k.branches[aliased] = target
		}
		if other, taken := k.byValue[name]; taken && other != target {
			target = document.Value{}
		}
		k.byValue[name] = target
	}
}

// explicit reads the mapping. Its values are names of components, or references
// that are compared with those of the branches: they never load a file.
func (k *discriminatorMapping) explicit(mapping rawjson.Node) {
	if k.doc.Kind(mapping) != rawjson.Object {
		return
	}
	for m := k.doc.First(mapping); m != rawjson.None; m = k.doc.Next(m) {
		k.byValue[k.doc.Key(m)] = k.branch(document.Value{File: k.file, Node: m})
	}
}

// branch returns the branch that a mapping value names. The mapping may use
// another alias of the same schema.
func (k *discriminatorMapping) branch(to document.Value) document.Value {
	text := to.Str()
	for _, root := range []document.Value{{File: k.file, Node: k.doc.Root()}, k.Root} {
		if named := root.Get("components").Get("schemas").Get(text); named.OK() {
			if branch := k.branches[k.aliased(named)]; branch.OK() {
				return branch
			}
		}
	}
	if target, ok := k.refs[text]; ok {
		return target
	}
	if strings.HasPrefix(text, "#") {
		if target, err := k.ResolveIn(to, text); err == nil {
			return k.branches[k.aliased(target)]
		}
	}
	return document.Value{}
}

// maxAliases bounds how many aliases of a schema are followed.
const maxAliases = 100

// aliased returns the schema that v is only an alias of, or v itself. An alias
// is a reference within the file, or an allOf with one, without other
// restrictions beside it.
func (k *discriminatorMapping) aliased(v document.Value) document.Value {
	for range maxAliases {
		ref := v.Get("$ref")
		if all := v.Get("allOf"); ref.Kind() != rawjson.String && all.Kind() == rawjson.Array && all.Len() == 1 && isOnlyAlias(v, "allOf") {
			for _, one := range all.Each() {
				ref, v = one.Get("$ref"), one
			}
		}
		if ref.Kind() != rawjson.String || !strings.HasPrefix(ref.Str(), "#") || !k.Legacy() && !isOnlyAlias(v, "$ref") {
			break
		}
		target, err := k.ResolveIn(ref, ref.Str())
		if err != nil {
			break
		}
		v = target
	}
	return v
}

// isOnlyAlias reports whether a schema has no keyword except this one and
// annotations.
func isOnlyAlias(v document.Value, keyword string) bool {
	for key := range v.Each() {
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
