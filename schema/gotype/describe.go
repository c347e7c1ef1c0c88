package gotype

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// describer writes schemas of plans. Keywords are in alphabetical order,
// members in the order of their declaration.
type describer struct {
	o      ForOptions
	names  map[*plan]string // of definitions
	taken  map[string]bool
	queue  []*plan          // named definitions not written yet
	bodies map[*plan][]byte // of provided schemas
	bundle publish.Bundle   // their definitions
}

func newDescriber(o ForOptions, b *planner) (*describer, error) {
	d := &describer{o: o, bodies: map[*plan][]byte{}}
	for _, p := range b.provided {
		body, err := d.bundle.Add(p.doc)
		if err != nil {
			return nil, typeError(p.typ.String(), "%v", err)
		}
		d.bodies[p] = body
	}
	return d, nil
}

// document writes the schema of p with the definitions it needs.
func (d *describer) document(p *plan, r *rules, title string) []byte {
	d.names, d.taken, d.queue = map[*plan]string{}, map[string]bool{}, nil
	for _, def := range d.bundle.Defs {
		d.taken[def.Name] = true
	}
	k := d.describe(p, r, title)
	var defs []keywordText
	for len(d.queue) > 0 {
		next := d.queue[0]
		d.queue = d.queue[1:]
		defs = append(defs, keywordText{d.names[next], d.describe(next, nil, d.title(next.label)).text()})
	}
	for _, def := range d.bundle.Defs {
		defs = append(defs, keywordText{def.Name, string(def.Text)})
	}
	if len(defs) > 0 {
		slices.SortFunc(defs, func(a, b keywordText) int { return strings.Compare(a.name, b.name) })
		k.set("$defs", keywords(defs).text())
	}
	return []byte(k.text())
}

// inner writes the schema of p as part of another schema: named types as a
// reference.
func (d *describer) inner(p *plan, r *rules, title string) keywords {
	if p = p.value(); d.o.Form || !p.shared || p.label == "" {
		return d.describe(p, r, title)
	}
	k := keywords{{"$ref", quote("#/$defs/" + d.define(p))}}
	d.annotate(&k, p, r)
	return k
}

// define returns the name of p in $defs.
func (d *describer) define(p *plan) string {
	if name, ok := d.names[p]; ok {
		return name
	}
	name := p.label
	for i := 2; d.taken[name]; i++ {
		name = p.label + "_" + strconv.Itoa(i)
	}
	d.names[p], d.taken[name] = name, true
	d.queue = append(d.queue, p)
	return name
}

// describe writes the schema of p itself.
func (d *describer) describe(p *plan, r *rules, title string) keywords {
	p = p.value()
	k := make(keywords, 0, 8)
	switch p.kind {
	case planNullable, planOptional:
		if inner := p.elem.value(); inner.shared && inner.label != "" {
			title = ""
		}
		k.set("anyOf", orNull(d.inner(p.elem, r.constraints(), "").text()))
		r = r.annotations()
	case planOneOf:
		k.set("anyOf", d.each(p.of))
	case planUnion:
		k.set("anyOf", d.members(p))
	case planProvided:
		return d.provided(p, r)
	case planStruct:
		d.object(&k, p, nil)
	default:
		d.scalar(&k, p, r)
	}
	if p.enum != nil {
		k.set("enum", "["+strings.Join(p.enum, ",")+"]")
	}
	if title != "" {
		k.set("title", quote(title))
	}
	if p.comment != "" && (r == nil || r.doc == "") {
		r = r.described(p.comment)
	}
	d.annotate(&k, p, r)
	return k
}

// described is r with a description.
func (r *rules) described(doc string) *rules {
	with := rules{doc: doc}
	if r != nil {
		with = *r
		with.doc = doc
	}
	return &with
}

// scalar writes everything but structs and unions.
func (d *describer) scalar(k *keywords, p *plan, r *rules) {
	switch p.kind {
	case planBool:
		k.set("type", `"boolean"`)
	case planInt:
		k.set("type", `"integer"`)
		bounds(k, p.typ)
	case planFloat:
		k.set("type", `"number"`)
	case planString, planText:
		k.set("type", `"string"`)
	case planBytes:
		k.set("type", `"string"`)
		k.set("contentEncoding", `"base64"`)
	case planTime:
		k.set("type", `"string"`)
		k.set("format", `"date-time"`)
	case planNull:
		k.set("type", `"null"`)
	case planList, planArray:
		k.set("type", `"array"`)
		k.set("items", d.inner(p.elem, r.within(), "").text())
		if p.kind == planArray {
			k.set("minItems", strconv.Itoa(p.length))
			k.set("maxItems", strconv.Itoa(p.length))
		}
	case planTuple:
		k.set("type", `"array"`)
		k.set("prefixItems", d.each(p.of))
		k.set("minItems", strconv.Itoa(len(p.of)))
		k.set("maxItems", strconv.Itoa(len(p.of)))
	case planMap:
		k.set("type", `"object"`)
		values := d.inner(p.elem, r.within(), "").text()
		if values == "{}" {
			values = "true"
		}
		k.set("additionalProperties", values)
		switch {
		case p.key.enum != nil:
			k.set("propertyNames", `{"enum":[`+strings.Join(p.key.enum, ",")+`]}`)
		case p.key.kind == planInt:
			k.set("propertyNames", `{"pattern":"^-?[0-9]+$"}`)
		}
	default: // planRaw: any JSON
	}
}

func (d *describer) each(of []*plan) string {
	texts := make([]string, len(of))
	for i, p := range of {
		texts[i] = d.inner(p, nil, "").text()
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// object writes a struct. The tag of a union comes first.
func (d *describer) object(k *keywords, p *plan, tag *keywordText) {
	var properties keywords
	var required []string
	if tag != nil {
		properties, required = append(properties, *tag), append(required, quote(tag.name))
	}
	for i := range p.fields {
		f := &p.fields[i]
		properties = append(properties, keywordText{f.name, d.field(f).text()})
		if !f.optional {
			required = append(required, quote(f.name))
		}
	}
	k.set("type", `"object"`)
	k.set("properties", properties.text())
	if len(required) > 0 {
		k.set("required", "["+strings.Join(required, ",")+"]")
	}
	if d.o.Arguments && !d.o.Form {
		k.set("additionalProperties", "false")
	}
}

// field writes the schema of a member.
func (d *describer) field(f *planField) keywords {
	title := d.title(memberTitle(f.name))
	p := f.plan
	if f.quoted {
		return d.quoted(f, title)
	}
	if f.droppable() && !d.o.Arguments || d.o.Form && p.nullable() {
		p = p.elem
	}
	k := d.inner(p, f.rules, title)
	if d.o.Arguments && !d.o.Form && f.optional && p.nullable() && f.rules.value == "" {
		k.set("default", "null")
	}
	return k
}

// quoted writes the schema of a member whose value is encoded in a string.
func (d *describer) quoted(f *planField, title string) keywords {
	var k keywords
	p := target(f.plan)
	k.set("type", `"string"`)
	switch p.kind {
	case planInt:
		k.set("pattern", `"^-?(0|[1-9][0-9]*)$"`)
	case planFloat:
		k.set("pattern", `"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"`)
	case planBool:
		k.set("enum", `["true","false"]`)
	default:
	}
	if f.plan.nullable() && !f.droppable() {
		k = keywords{{"anyOf", orNull(k.text())}}
	}
	if title != "" {
		k.set("title", quote(title))
	}
	d.annotate(&k, p, f.rules)
	return k
}

// provided writes the schema that the type provides.
func (d *describer) provided(p *plan, r *rules) keywords {
	k := keywords{}
	if doc, err := rawjson.Parse(d.bodies[p]); err == nil && doc.Kind(doc.Root()) == rawjson.Object {
		for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
			k = append(k, keywordText{doc.Key(m), string(doc.Raw(m))})
		}
	} else {
		k.set("allOf", "["+string(d.bodies[p])+"]")
	}
	d.annotate(&k, p, r)
	return k
}

// annotate writes the keywords from the tags of a field.
func (d *describer) annotate(k *keywords, p *plan, r *rules) {
	var doc string
	if r != nil {
		doc = r.doc
		for _, c := range r.keywords {
			k.set(c.name, c.raw)
		}
		if r.enum != nil {
			k.set("enum", "["+strings.Join(r.enum, ",")+"]")
		}
		if r.examples != nil {
			k.set("examples", "["+strings.Join(r.examples, ",")+"]")
		}
		if r.value != "" {
			k.set("default", r.value)
		}
	}
	if p.note != "" {
		doc = strings.TrimSpace(doc + " In " + p.note + ".")
	}
	if doc != "" {
		k.set("description", quote(doc))
	}
}

// constraints returns the rules that apply to the value of a pointer,
// annotations those that apply to the union with null.
func (r *rules) constraints() *rules {
	if r == nil {
		return nil
	}
	return &rules{keywords: r.keywords, enum: r.enum, each: r.each}
}

func (r *rules) annotations() *rules {
	if r == nil {
		return nil
	}
	return &rules{doc: r.doc, examples: r.examples, value: r.value}
}

func (r *rules) within() *rules {
	if r == nil {
		return nil
	}
	return r.each
}

// checkValues checks that the values in the tags are valid against their
// schemas.
func (d *describer) checkValues(all []valued) error {
	for _, v := range all {
		f := planField{plan: v.plan, quoted: v.quoted, rules: &rules{keywords: v.rules.keywords, enum: v.rules.enum, each: v.rules.each}}
		holder := &plan{kind: planStruct, fields: []planField{f}}
		holder.fields[0].name = "value"
		if wrong := d.checkValue(holder, v.rules, "value"); wrong != "" {
			return typeError(v.path, "%s", wrong)
		}
		if each := v.rules.each; each != nil {
			elem := &plan{kind: planStruct, fields: []planField{{name: "value", plan: target(v.plan).elem, rules: each}}}
			if wrong := d.checkValue(elem, &rules{enum: each.enum, examples: each.examples, value: each.value}, "value"); wrong != "" {
				return typeError(v.path, "%s", wrong)
			}
		}
	}
	return nil
}

func (d *describer) checkValue(holder *plan, r *rules, name string) (wrong string) {
	texts := slices.Concat(r.enum, r.examples)
	if r.value != "" {
		texts = append(texts, r.value)
	}
	for _, text := range texts {
		if err := rawjson.Check([]byte(text)); err != nil {
			return text + " in the tag check is not JSON: " + err.Error()
		}
	}
	s, err := schema.Compile(d.document(holder, nil, ""), schema.Options{AssertFormat: true})
	if err != nil {
		return err.Error()
	}
	for _, text := range texts {
		if found := s.Validate([]byte(`{"` + name + `":` + text + `}`)); found != nil {
			return text + " in the tag check is not valid: expected " + found[0].Expected
		}
	}
	return ""
}

// compileChoices compiles the schemas that tell which type of a OneOf an
// argument is.
func (d *describer) compileChoices(choices []*plan) error {
	for _, p := range choices {
		for _, part := range p.of {
			s, err := schema.Compile(d.document(part, nil, ""), schema.Options{AssertFormat: true})
			if err != nil {
				return typeError(p.typ.String(), "%v", err)
			}
			p.fits = append(p.fits, s)
		}
	}
	return nil
}

// title returns s, or nothing where titles are not wanted.
func (d *describer) title(s string) string {
	if d.o.NoTitles {
		return ""
	}
	return s
}
