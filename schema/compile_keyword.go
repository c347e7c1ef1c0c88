package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// builder compiles one schema object.
type builder struct {
	c          *compiler
	n          *node
	at         rawjson.Node
	properties []memberRule
	required   rawjson.Node // 0: absent (the root is not a keyword)
	tag        rawjson.Node // discriminator; 0: absent
}

// keyword compiles one member of a schema object.
func (b *builder) keyword(m rawjson.Node) {
	key := b.c.doc.KeyText(m)
	if !b.assertion(key, m) && !b.applicator(key, m) {
		b.annotation(key, m)
	}
}

// assertion compiles the keywords that constrain the value itself.
func (b *builder) assertion(key []byte, m rawjson.Node) bool {
	switch string(key) {
	case "type":
		b.types(m)
	case "enum":
		b.enum(m)
	case "const":
		b.exact().constant = newValueSet([][]byte{b.c.doc.Raw(m)})
	case "format":
		b.format(m)
	case "required":
		if b.names(m) {
			b.required = m
		}
	case "minLength":
		b.text().min = b.whole(m)
	case "maxLength":
		b.text().max = b.whole(m)
	case "minItems":
		b.array().min = b.whole(m)
	case "maxItems":
		b.array().max = b.whole(m)
	case "minProperties":
		b.object().min = b.whole(m)
	case "maxProperties":
		b.object().max = b.whole(m)
	case "minimum":
		b.bound(m, false, false)
	case "maximum":
		b.bound(m, true, false)
	case "exclusiveMinimum":
		b.bound(m, false, true)
	case "exclusiveMaximum":
		b.bound(m, true, true)
	case "multipleOf":
		b.multiple(m)
	case "pattern":
		b.pattern(m)
	case "uniqueItems":
		b.kind(m, rawjson.Bool, "a boolean")
		b.array().unique = b.c.doc.IsTrue(m)
	default:
		return false
	}
	return true
}

// applicator compiles the keywords that contain other schemas.
func (b *builder) applicator(key []byte, m rawjson.Node) bool {
	switch string(key) {
	case "properties":
		b.members(m)
	case "patternProperties":
		b.patterns(m)
	case "additionalProperties":
		o := b.object()
		o.additional = b.c.schema(m)
		o.forbidden = b.c.doc.Kind(m) == rawjson.Bool && !b.c.doc.IsTrue(m)
	case "propertyNames":
		o := b.object()
		o.names, o.hasNames = b.c.schema(m), true
	case "items":
		b.array().items = b.c.schema(m)
	case "prefixItems":
		b.array().prefix = b.list(m)
	case "$ref":
		b.reference(m)
	case "allOf":
		b.logic().all = append(b.logic().all, b.list(m)...)
	case "anyOf":
		b.logic().any = append(b.logic().any, b.list(m))
	case "oneOf":
		b.logic().one = b.list(m)
	case "not":
		l := b.logic()
		l.not, l.hasNot = b.c.schema(m), true
	case "if":
		l := b.logic()
		l.cond, l.hasIf = b.c.schema(m), true
	case "then":
		b.logic().then = b.c.schema(m)
	case "else":
		b.logic().alt = b.c.schema(m)
	case "$defs":
		b.each(m)
	default:
		return false
	}
	return true
}

// annotation checks the keywords that do not constrain values, and those that
// are left to the fallback validator. Unknown keywords are annotations.
func (b *builder) annotation(key []byte, m rawjson.Node) {
	switch string(key) {
	case "title", "description", "contentEncoding", "contentMediaType", "$comment", "$schema":
		b.kind(m, rawjson.String, "a string")
	case "deprecated", "readOnly", "writeOnly":
		b.kind(m, rawjson.Bool, "a boolean")
	case "examples":
		b.kind(m, rawjson.Array, "a list")
	case "contentSchema":
		b.c.schema(m)
	case "$vocabulary":
		b.kind(m, rawjson.Object, "an object")
	case "discriminator":
		b.tag = m
	case "$id":
		b.id(m)
	case "$anchor", "$dynamicAnchor":
		b.anchor(m)
	case "$dynamicRef":
		b.kind(m, rawjson.String, "a string")
		b.c.needsFallback(string(key))
	case "contains", "unevaluatedItems", "unevaluatedProperties":
		b.c.needsFallback(string(key))
		b.c.schema(m)
	case "dependentSchemas":
		b.c.needsFallback(string(key))
		b.each(m)
	case "dependentRequired":
		b.c.needsFallback(string(key))
		b.dependent(m)
	case "dependencies":
		b.c.needsFallback(string(key))
	case "minContains", "maxContains":
		b.whole(m)
	}
}

// finish combines keywords that depend on each other.
func (b *builder) finish() {
	if len(b.properties) > 0 || b.required != 0 {
		b.object().members = newMembers(b.properties, b.requiredNames(), b.c.seed)
	}
	if b.tag != 0 && b.n.logic != nil {
		b.n.logic.discriminator = b.discriminator()
	}
	if l := b.n.logic; l != nil && !l.hasIf {
		l.then, l.alt = nil, nil
	}
}

func (b *builder) requiredNames() [][]byte {
	if b.required == 0 {
		return nil
	}
	names := make([][]byte, 0, b.c.doc.Len(b.required))
	for e := b.c.doc.First(b.required); e != rawjson.None; e = b.c.doc.Next(e) {
		names = append(names, b.c.decoded(e))
	}
	return names
}

func (b *builder) text() *textRules {
	if b.n.text == nil {
		b.n.text = &textRules{max: -1}
	}
	return b.n.text
}

func (b *builder) number() *numberRules {
	if b.n.number == nil {
		b.n.number = &numberRules{}
	}
	return b.n.number
}

func (b *builder) array() *arrayRules {
	if b.n.array == nil {
		b.n.array = &arrayRules{max: -1}
	}
	return b.n.array
}

func (b *builder) object() *objectRules {
	if b.n.object == nil {
		b.n.object = &objectRules{max: -1}
	}
	return b.n.object
}

func (b *builder) exact() *exactRules {
	if b.n.exact == nil {
		b.n.exact = &exactRules{}
	}
	return b.n.exact
}

func (b *builder) logic() *logicRules {
	if b.n.logic == nil {
		b.n.logic = &logicRules{}
	}
	return b.n.logic
}

// kind rejects a keyword whose value has another type.
func (b *builder) kind(m rawjson.Node, want rawjson.Kind, words string) bool {
	if b.c.doc.Kind(m) != want {
		b.c.fail(m, "must be %s", words)
	}
	return b.c.err == nil
}

// list compiles a list of schemas, which must not be empty.
func (b *builder) list(m rawjson.Node) []*node {
	if !b.kind(m, rawjson.Array, "a list of schemas") {
		return nil
	}
	list := make([]*node, 0, b.c.doc.Len(m))
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		list = append(list, b.c.schema(e))
	}
	if len(list) == 0 {
		b.c.fail(m, "must not be empty")
	}
	return list
}

// each compiles the schemas of an object of schemas.
func (b *builder) each(m rawjson.Node) {
	if !b.kind(m, rawjson.Object, "an object of schemas") {
		return
	}
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		b.c.schema(e)
	}
}

func (b *builder) members(m rawjson.Node) {
	if !b.kind(m, rawjson.Object, "an object of schemas") {
		return
	}
	b.object()
	b.properties = make([]memberRule, 0, b.c.doc.Len(m)+2)
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		b.properties = append(b.properties, memberRule{
			name: plainName(b.c.doc.RawKey(e)), node: b.c.schema(e), declared: true,
		})
	}
}
