package argnames

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxSteps bounds the walk over a call's arguments and the schema beside them.
const maxSteps = 1 << 20

// Restore renames published names in arguments back to the original names. Only
// properties of the schema are renamed: the keys of free-form objects stay.
// invalid names two arguments that are the same one with different values; what
// is not a JSON object, or not strict JSON, is left to the validation.
func (n *Names) Restore(args []byte) (restored []byte, invalid string) {
	if n == nil || !n.mayHold(args) || rawjson.Check(args) != nil {
		return args, ""
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return args, ""
	}
	r := restorer{walker: walker{Names: n}, args: doc, out: make([]byte, 0, len(args)+16)}
	r.value(doc.Root(), []rawjson.Node{n.schema.Root()})
	switch {
	case r.invalid != "":
		return args, r.invalid
	case r.steps > maxSteps:
		return args, "too many to rename"
	case !r.changed:
		return args, ""
	}
	return r.out, ""
}

// mayHold is fast and may be wrong in favor of true.
func (n *Names) mayHold(args []byte) bool {
	if bytes.Contains(args, []byte(`\u`)) {
		return true
	}
	for as := range n.original {
		if bytes.Contains(args, []byte(as)) {
			return true
		}
	}
	return false
}

// restorer rewrites arguments.
type restorer struct {
	walker
	args    *rawjson.Doc
	out     []byte
	changed bool
	invalid string
}

// value writes v, to which schemas apply.
func (r *restorer) value(v rawjson.Node, schemas []rawjson.Node) {
	kind := r.args.Kind(v)
	if len(schemas) == 0 || r.steps > maxSteps || kind != rawjson.Object && kind != rawjson.Array {
		r.out = append(r.out, r.args.Raw(v)...)
		return
	}
	schemas = r.all(schemas)
	if kind == rawjson.Object {
		r.object(v, schemas)
		return
	}
	r.out = append(r.out, '[')
	index := 0
	for e := r.args.First(v); e != rawjson.None; e = r.args.Next(e) {
		if index > 0 {
			r.out = append(r.out, ',')
		}
		r.value(e, r.element(schemas, index))
		index++
	}
	r.out = append(r.out, ']')
}

func (r *restorer) object(v rawjson.Node, schemas []rawjson.Node) {
	r.out = append(r.out, '{')
	first := true
	for m := r.args.First(v); m != rawjson.None; m = r.args.Next(m) {
		key := r.args.Key(m)
		if own := r.original[key]; own != "" && r.declares(schemas, own) {
			r.changed = true
			if both := r.args.Get(v, own); both != rawjson.None {
				if !bytes.Equal(r.args.Raw(both), r.args.Raw(m)) {
					r.invalid = key + " and " + own + ", which differ"
				}
				continue
			}
			key = own
		}
		if !first {
			r.out = append(r.out, ',')
		}
		first = false
		r.out = append(rawjson.AppendString(r.out, key), ':')
		r.value(m, r.member(schemas, key))
	}
	r.out = append(r.out, '}')
}

// walker finds the schemas that apply to a location.
type walker struct {
	*Names
	steps int
	known map[rawjson.Node][]rawjson.Node // results of all for one schema
}

// all returns schemas with the targets of their references and their subschemas
// that apply to the same value.
func (w *walker) all(schemas []rawjson.Node) []rawjson.Node {
	if len(schemas) == 1 {
		if known, ok := w.known[schemas[0]]; ok {
			w.steps++
			return known
		}
	}
	var found []rawjson.Node
	seen := make(map[rawjson.Node]bool, len(schemas))
	add := func(s rawjson.Node) {
		if w.steps++; s != rawjson.None && !seen[s] {
			seen[s] = true
			found = append(found, s)
		}
	}
	for _, s := range schemas {
		add(s)
	}
	for i := 0; i < len(found) && w.steps <= maxSteps; i++ {
		w.combined(found[i], add)
	}
	if len(schemas) == 1 {
		if w.known == nil {
			w.known = map[rawjson.Node][]rawjson.Node{}
		}
		w.known[schemas[0]] = found
	}
	return found
}

// combined visits the target of the reference of s and its subschemas that
// apply to the same value.
func (w *walker) combined(s rawjson.Node, add func(rawjson.Node)) {
	if ref := w.schema.Str(w.schema.Get(s, "$ref")); strings.HasPrefix(ref, "#") {
		add(w.schema.Pointer(ref[1:]))
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "dependentSchemas"} {
		for c := w.schema.First(w.schema.Get(s, key)); c != rawjson.None; c = w.schema.Next(c) {
			add(c)
		}
	}
	for _, key := range []string{"if", "then", "else"} {
		add(w.schema.Get(s, key))
	}
}

// declares reports whether one of schemas declares a property.
func (w *walker) declares(schemas []rawjson.Node, name string) bool {
	return slices.ContainsFunc(schemas, func(s rawjson.Node) bool {
		w.steps++
		return w.schema.Get(w.schema.Get(s, "properties"), name) != rawjson.None
	})
}

// member returns the schemas of a member.
func (w *walker) member(schemas []rawjson.Node, name string) (inside []rawjson.Node) {
	for _, s := range schemas {
		w.steps++
		if p := w.schema.Get(w.schema.Get(s, "properties"), name); p != rawjson.None {
			inside = append(inside, p)
			continue
		}
		for p := w.schema.First(w.schema.Get(s, "patternProperties")); p != rawjson.None; p = w.schema.Next(p) {
			w.steps++
			inside = append(inside, p)
		}
		for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
			if p := w.schema.Get(s, key); w.schema.Kind(p) == rawjson.Object {
				inside = append(inside, p)
			}
		}
	}
	return inside
}

// element returns the schemas of an element of an array.
func (w *walker) element(schemas []rawjson.Node, index int) (inside []rawjson.Node) {
	for _, s := range schemas {
		w.steps++
		for _, key := range []string{"prefixItems", "items"} {
			list := w.schema.Get(s, key)
			if w.schema.Kind(list) == rawjson.Object {
				inside = append(inside, list)
				continue
			}
			i := 0
			for p := w.schema.First(list); p != rawjson.None && i <= index; p = w.schema.Next(p) {
				if i == index {
					inside = append(inside, p)
				}
				i++
				w.steps++
			}
		}
		for _, key := range []string{"contains", "unevaluatedItems", "additionalItems"} {
			if p := w.schema.Get(s, key); w.schema.Kind(p) == rawjson.Object {
				inside = append(inside, p)
			}
		}
	}
	return inside
}
