package typedecl

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Bounds of a schema.
const (
	maxNesting = 64 // schemas within each other; what is deeper is unknown
	maxPrefix  = 32 // elements of a list that have types of their own
)

// builder reads the schemas of one document. A schema is read once.
type builder struct {
	doc    *rawjson.Doc
	types  map[rawjson.Node]*Type
	names  map[rawjson.Node]*named
	advice bool // a second alternative that accepts anything is advice, and is left out

	meets   int                // how many types were joined
	meeting map[[2]*named]bool // are being joined
}

func newBuilder(doc *rawjson.Doc, advice bool) *builder {
	return &builder{doc: doc, types: map[rawjson.Node]*Type{}, names: map[rawjson.Node]*named{}, advice: advice, meeting: map[[2]*named]bool{}}
}

// schema reads the schema at n.
func (b *builder) schema(n rawjson.Node, depth int) *Type {
	if t := b.types[n]; t != nil {
		return t
	}
	t := b.read(n, depth)
	b.types[n] = t
	return t
}

func (b *builder) read(n rawjson.Node, depth int) *Type {
	switch {
	case b.doc.Kind(n) == rawjson.Bool && b.doc.IsTrue(n):
		return anything()
	case b.doc.Kind(n) == rawjson.Bool:
		return nothing()
	case b.doc.Kind(n) != rawjson.Object:
		return unknown("what stands here is not a schema")
	case depth > maxNesting:
		return unknown("the schema is nested too deep")
	}
	t := b.own(n, depth)
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		if ref := b.doc.Get(n, keyword); ref != rawjson.None {
			t = b.meet(t, b.reference(ref))
		}
	}
	all := b.doc.Get(n, "allOf")
	for c := b.doc.First(all); c != rawjson.None; c = b.doc.Next(c) {
		t = b.meet(t, b.schema(c, depth+1))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches := b.branches(b.doc.Get(n, keyword)); branches != nil {
			types := make([]*Type, len(branches))
			for i, c := range branches {
				types[i] = b.schema(c, depth+1)
			}
			t = b.meet(t, union(types...))
		}
	}
	return t
}

// branches are the schemas of a union, without advice.
func (b *builder) branches(list rawjson.Node) (all []rawjson.Node) {
	for c := b.doc.First(list); c != rawjson.None; c = b.doc.Next(c) {
		all = append(all, c)
	}
	if b.advice && len(all) == 2 && b.acceptsAnything(all[1]) {
		return all[:1]
	}
	return all
}

// acceptsAnything reports whether a schema names every type, or nothing at all.
func (b *builder) acceptsAnything(n rawjson.Node) bool {
	if ref := b.target(b.doc.Get(n, "$ref")); ref != rawjson.None && b.doc.Len(n) == 1 {
		n = ref
	}
	const types = 7 // of JSON, with integer
	return b.doc.Kind(n) == rawjson.Object && (b.doc.Len(n) == 0 || b.doc.Len(b.doc.Get(n, "type")) == types)
}

// target finds the schema of a reference.
func (b *builder) target(ref rawjson.Node) rawjson.Node {
	fragment, ok := strings.CutPrefix(b.doc.Str(ref), "#/")
	if !ok {
		return rawjson.None
	}
	pointer, ok := schemadoc.UnescapeFragment("/" + fragment)
	if !ok {
		return rawjson.None
	}
	return b.doc.Pointer(pointer)
}

// reference is the named type of the schema that is referred to.
func (b *builder) reference(ref rawjson.Node) *Type {
	n := b.target(ref)
	switch b.doc.Kind(n) {
	case rawjson.Bool:
		return b.schema(n, 0)
	case rawjson.Object:
	default:
		return unknown("the schema refers to " + strconv.Quote(b.doc.Str(ref)) + ", which is not there")
	}
	d := b.names[n]
	if d == nil {
		text := b.doc.Str(ref)
		d = &named{node: n, wish: text[strings.LastIndexByte(text, '/')+1:]}
		if plain, ok := schemadoc.UnescapeFragment(d.wish); ok {
			d.wish = strings.ReplaceAll(strings.ReplaceAll(plain, "~1", "/"), "~0", "~")
		}
		b.names[n] = d
	}
	return of(alternative{form: namedForm, named: d})
}

// typeOf is the type that d names; nil while that is being built.
func (b *builder) typeOf(d *named) *Type {
	switch {
	case d.doing:
		return nil
	case d.typ == nil:
		d.doing = true
		d.typ = b.schema(d.node, 0)
		d.doing = false
	}
	return d.typ
}

// own is what the keywords of a schema say without its subschemas that apply to
// the same value.
func (b *builder) own(n rawjson.Node, depth int) *Type {
	kinds := b.kinds(b.doc.Get(n, "type"))
	if values := b.values(n, kinds); values != nil {
		return values
	}
	var object *objectType
	var array *arrayType
	if b.has(n, "properties", "required", "additionalProperties", "patternProperties") && (kinds == nil || slices.Contains(kinds, "object")) {
		object = b.object(n, depth)
	}
	if b.has(n, "items", "prefixItems") && (kinds == nil || slices.Contains(kinds, "array")) {
		array = b.array(n, depth)
	}
	if kinds == nil {
		if object == nil && array == nil {
			return anything()
		}
		return of(alternative{form: anyForm, object: object, array: array})
	}
	t := &Type{}
	for _, kind := range kinds {
		a, ok := ofKind(kind, object, array)
		if !ok {
			return unknown("the schema has a type that JSON does not have")
		}
		if a.form != objectForm || !b.impossible(a.object) {
			t.alts = appendAlternative(t.alts, a)
		}
	}
	return t
}

// has reports whether a schema has one of these keywords.
func (b *builder) has(n rawjson.Node, keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { return b.doc.Get(n, k) != rawjson.None })
}

// ofKind is the alternative of a type; nil: nothing more is said of objects, or of
// arrays.
func ofKind(kind string, object *objectType, array *arrayType) (a alternative, ok bool) {
	switch kind {
	case "null":
		a.form = nullForm
	case "boolean":
		a.form = boolForm
	case "integer":
		a.form = integerForm
	case "number":
		a.form = numberForm
	case "string":
		a.form = stringForm
	case "array":
		a.form, a.array = arrayForm, array
		if array == nil {
			a.array = &arrayType{rest: anything()}
		}
	case "object":
		a.form, a.object = objectForm, object
		if object == nil {
			a.object = &objectType{}
		}
	default:
		return a, false
	}
	return a, true
}

// impossible reports whether a member is required that can have no value.
func (b *builder) impossible(o *objectType) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return m.required && m.typ.isNever() })
}

// kinds are the types that a schema names; nil: it names none.
func (b *builder) kinds(n rawjson.Node) (all []string) {
	if b.doc.Kind(n) == rawjson.String {
		return []string{b.doc.Str(n)}
	}
	for c := b.doc.First(n); c != rawjson.None; c = b.doc.Next(c) {
		all = append(all, b.doc.Str(c))
	}
	return all
}

// values are those of const or enum that the types allow; nil: there is neither.
func (b *builder) values(n rawjson.Node, kinds []string) *Type {
	var list []rawjson.Node
	if c := b.doc.Get(n, "const"); c != rawjson.None {
		list = append(list, c)
	} else if enum := b.doc.Get(n, "enum"); b.doc.Kind(enum) == rawjson.Array {
		for c := b.doc.First(enum); c != rawjson.None; c = b.doc.Next(c) {
			list = append(list, c)
		}
	} else {
		return nil
	}
	var all []*Type
	seen := map[string]bool{}
	for _, v := range list {
		raw := string(rawjson.AppendEqualityKey(nil, b.doc.Raw(v)))
		if seen[raw] || kinds != nil && !slices.ContainsFunc(kinds, func(kind string) bool { return b.isKind(v, kind) }) {
			continue
		}
		seen[raw] = true
		all = append(all, of(b.value(v)))
	}
	t := &Type{} // each value once: appendAlternative would compare them all with each other
	for _, v := range all {
		t.alts = append(t.alts, v.alts...)
	}
	return t
}

// isKind reports whether a value is of a type.
func (b *builder) isKind(v rawjson.Node, kind string) bool {
	switch b.doc.Kind(v) {
	case rawjson.Null:
		return kind == "null"
	case rawjson.Bool:
		return kind == "boolean"
	case rawjson.String:
		return kind == "string"
	case rawjson.Array:
		return kind == "array"
	case rawjson.Object:
		return kind == "object"
	case rawjson.Number:
		d := rawjson.ParseDecimal(b.doc.Raw(v))
		return kind == "number" || kind == "integer" && d.IsInteger()
	case rawjson.Invalid:
	}
	return false
}

// value is the type of one value.
func (b *builder) value(v rawjson.Node) alternative {
	switch b.doc.Kind(v) {
	case rawjson.Array:
		a := &arrayType{min: b.doc.Len(v)}
		for c := b.doc.First(v); c != rawjson.None; c = b.doc.Next(c) {
			a.prefix = append(a.prefix, of(b.value(c)))
		}
		return alternative{form: arrayForm, array: a}
	case rawjson.Object:
		o := &objectType{closed: true}
		for c := b.doc.First(v); c != rawjson.None; c = b.doc.Next(c) {
			if o.find(b.doc.Key(c)) < 0 {
				o.members = append(o.members, member{name: b.doc.Key(c), typ: of(b.value(c)), required: true})
			}
		}
		return alternative{form: objectForm, object: o}
	case rawjson.String:
		if bytes.Contains(b.doc.Raw(v), []byte(`\ud`)) || bytes.Contains(b.doc.Raw(v), []byte(`\uD`)) { // perhaps half of a pair
			return alternative{form: stringForm}
		}
		return alternative{form: literalForm, text: string(rawjson.AppendString(nil, b.doc.Str(v)))}
	case rawjson.Number:
		if text, ok := numeral(b.doc.Raw(v)); ok {
			return alternative{form: literalForm, text: text}
		}
		return alternative{form: numberForm}
	}
	return alternative{form: literalForm, text: string(b.doc.Raw(v))}
}

// numeral writes a number as every language reads it; not ok: it has more digits
// than a double, or is far from 1.
func numeral(raw []byte) (text string, ok bool) {
	d := rawjson.ParseDecimal(raw)
	const digits, farthest = 15, 18
	if d.Len() > digits || d.Point > farthest || d.Point < -farthest {
		return "", false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return "", false
	}
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64), true
}

// object reads what a schema says of objects.
func (b *builder) object(n rawjson.Node, depth int) *objectType {
	o := &objectType{}
	extra := b.doc.Get(n, "additionalProperties")
	patterns := b.doc.Get(n, "patternProperties")
	var index []*Type
	for c := b.doc.First(patterns); c != rawjson.None; c = b.doc.Next(c) {
		index = append(index, b.schema(c, depth+1))
	}
	forbids := b.doc.Kind(extra) == rawjson.Bool && !b.doc.IsTrue(extra)
	if extra != rawjson.None && !forbids {
		index = append(index, b.schema(extra, depth+1))
	}
	switch {
	case forbids && len(index) == 0:
		o.closed = true
	case extra != rawjson.None:
		o.index = union(index...)
	}
	required := map[string]bool{}
	list := b.doc.Get(n, "required")
	for c := b.doc.First(list); c != rawjson.None; c = b.doc.Next(c) {
		required[b.doc.Str(c)] = true
	}
	declared := map[string]bool{}
	props := b.doc.Get(n, "properties")
	for c := b.doc.First(props); c != rawjson.None; c = b.doc.Next(c) {
		name := b.doc.Key(c)
		if declared[name] || b.doc.Get(props, name) != c { // of two of a name the last one counts
			continue
		}
		declared[name] = true
		o.members = append(o.members, member{name: name, typ: b.schema(c, depth+1), required: required[name], docs: []rawjson.Node{c}})
	}
	for c := b.doc.First(list); c != rawjson.None; c = b.doc.Next(c) {
		name := b.doc.Str(c)
		if declared[name] || b.doc.Kind(c) != rawjson.String {
			continue
		}
		declared[name] = true
		o.members = append(o.members, member{name: name, typ: b.beside(anything(), o), required: true})
	}
	return o
}

// array reads what a schema says of arrays.
func (b *builder) array(n rawjson.Node, depth int) *arrayType {
	a := &arrayType{rest: anything()}
	items, first := b.doc.Get(n, "items"), b.doc.Get(n, "prefixItems")
	if b.doc.Kind(items) == rawjson.Array { // as drafts before 2020-12 have it
		first, items = items, b.doc.Get(n, "additionalItems")
	}
	if items != rawjson.None {
		if a.rest = b.schema(items, depth+1); a.rest.isNever() {
			a.rest = nil
		}
	}
	for c := b.doc.First(first); c != rawjson.None; c = b.doc.Next(c) {
		a.prefix = append(a.prefix, b.schema(c, depth+1))
	}
	if least := b.doc.Get(n, "minItems"); b.doc.Kind(least) == rawjson.Number {
		d := rawjson.ParseDecimal(b.doc.Raw(least))
		a.min = max(0, d.Int())
	}
	if len(a.prefix) > maxPrefix {
		if a.rest != nil {
			a.prefix = append(a.prefix, a.rest)
		}
		a.rest, a.prefix, a.min = union(a.prefix...), nil, 0
	}
	return a
}
