package typedecl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of intersections, which are written out.
const (
	maxWrites = 20_000 // in all
	maxDeep   = 200    // named types by way of others
)

// pythonWords are what Python, or what is declared beside functions and types, has
// the names of.
func pythonWords() *language {
	const words = "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass " +
		"raise return try while with yield match case type annotations bool dict float int list object str server args tenon_runtime none true false"
	return &language{
		reserved: wordSet(words + " None True False Literal Never NotRequired Server TypeAlias TypedDict Union ToolError Any"),
		types:    wordSet(words + " literal never notrequired server typealias typeddict union toolerror any"),
	}
}

// python prints types. Objects have no notation of their own within a type: each is
// a class with a name, which is declared before what mentions it.
type python struct {
	*declarations

	classes strings.Builder        // declared, but not written yet
	known   map[*objectType]string // names of classes
	joined  map[string]*objectType // intersections that are classes, by their parts
	nested  int                    // classes and intersections that are being written
	writes  int                    // intersections that were written out
	never   bool                   // Never is mentioned
	open    map[*named]*Type       // what named types are without named types at their top; nil: it does not end
	deep    int                    // named types that are written out within each other
}

// Python writes the declarations of a set as a module. source names it for people.
func (s *Set) Python(source string) []byte {
	p := &python{declarations: s.declare(pythonWords()), known: map[*objectType]string{}, joined: map[string]*objectType{}, open: map[*named]*Type{}}
	var b strings.Builder
	b.WriteString("# Tools of " + oneLine(source, maxTag) + ", written by 'tenon types'. Do not edit: run it again.\n")
	b.WriteString("# Needs " + runtimePython + " beside it, which 'tenon types --out' writes.\n\n")
	b.WriteString("from __future__ import annotations\n\n")
	var body strings.Builder
	for _, f := range p.functions {
		p.function(&body, f)
	}
	for _, n := range p.types {
		p.declare(&body, n)
	}
	var names []string
	for _, name := range []string{"Literal", "Union"} {
		if strings.Contains(body.String(), name+"[") {
			names = append(names, name)
		}
	}
	if names != nil {
		b.WriteString("from typing import " + strings.Join(names, ", ") + "\n\n")
	}
	if names = nil; p.never {
		names = append(names, "Never")
	}
	for name, used := range map[string]string{"NotRequired": "NotRequired[", "TypeAlias": ": TypeAlias =", "TypedDict": "= TypedDict("} {
		if strings.Contains(body.String(), used) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); names != nil {
		b.WriteString("from typing_extensions import " + strings.Join(names, ", ") + "\n\n")
	}
	if len(p.functions) > 0 {
		b.WriteString("from " + strings.TrimSuffix(runtimePython, ".py") + " import Server\n")
	}
	b.WriteString(body.String())
	return []byte(b.String())
}

func (p *python) function(b *strings.Builder, f *function) {
	given, data := "None", "object"
	if f.args != nil {
		p.alias(b, f.argsName, f.args, p.describe(f.args, f.argsNode))
		given = "args"
	}
	if f.data != nil {
		p.alias(b, f.dataName, f.data, p.describe(f.data, f.dataNode))
		data = f.dataName
	}
	b.WriteString("\n\nasync def " + f.name + "(server: Server")
	switch {
	case f.args != nil && f.optional:
		b.WriteString(", args: " + f.argsName + " | None = None")
	case f.args != nil:
		b.WriteString(", args: " + f.argsName)
	}
	b.WriteString(") -> " + data + ":\n")
	about := f.about()
	p.docstring(b, about.lines(""))
	b.WriteString("    return await server.call(" + quoted(f.tool.Name) + ", " + given + ", " + within(f, "None") + ")\n")
}

// docstring writes the text of a function.
func (p *python) docstring(b *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.ReplaceAll(lines[i], `\`, `\\`), `"""`, `\"\"\"`)
	}
	last := len(lines) - 1
	if strings.HasSuffix(lines[last], `"`) {
		lines[last] += " "
	}
	b.WriteString(`    """` + lines[0])
	for _, line := range lines[1:] {
		b.WriteString(strings.TrimRight("\n    "+line, " "))
	}
	if last > 0 {
		b.WriteString("\n    ")
	}
	b.WriteString(`"""` + "\n")
}

// declare writes the declaration of a named type.
func (p *python) declare(b *strings.Builder, n *named) {
	t := p.typeOf(n)
	if p.broken[n] {
		t = unknown("the type refers to nothing but itself")
	}
	p.alias(b, p.nameOf[n], t, p.describe(t, n.node))
}

// alias declares a type by a name: a class where it is an object, which is then
// not declared twice.
func (p *python) alias(b *strings.Builder, name string, t *Type, c comment) {
	if a, ok := t.only(); ok {
		if o := p.flat(a); o != nil && p.isClass(o) && p.known[o] == "" {
			p.class(o, name, c)
			b.WriteString(p.classes.String())
			p.classes.Reset()
			return
		}
	}
	text := p.typ(t, name)
	b.WriteString(p.classes.String())
	p.classes.Reset()
	b.WriteByte('\n')
	p.comment(b, "", c)
	b.WriteString(name + ": TypeAlias = " + text + "\n")
}

// comment writes a comment of lines.
func (p *python) comment(b *strings.Builder, indent string, c comment) {
	for _, line := range c.lines("") {
		b.WriteString(strings.TrimRight(indent+"#: "+line, " ") + "\n")
	}
}

// flat is the object that an alternative is; nil: it is none. An intersection is
// written out, since Python has none.
func (p *python) flat(a alternative) *objectType {
	switch a.form {
	case objectForm:
		return a.object
	case bothForm:
		key := p.identity(a)
		if o := p.joined[key]; o != nil {
			return o
		}
		if !p.mayWrite() {
			return nil
		}
		if t := p.written(a); t != nil {
			if one, ok := t.only(); ok && one.form == objectForm {
				p.joined[key] = one.object
				return one.object
			}
		}
	default:
	}
	return nil
}

// identity tells intersections apart: by the names of their types, and by the
// objects beside these.
func (p *python) identity(a alternative) string {
	var b strings.Builder
	for _, part := range a.parts {
		for _, one := range part.alts {
			if one.form == namedForm {
				b.WriteString(p.nameOf[one.named] + " ")
			} else {
				fmt.Fprintf(&b, "%p ", part)
			}
		}
		b.WriteString("& ")
	}
	return b.String()
}

// written is an intersection as one type without named types at its top; nil: it
// cannot be written out.
func (p *python) written(a alternative) *Type {
	if p.deep >= maxDeep {
		return nil
	}
	p.deep++
	defer func() { p.deep-- }()
	joined := anything()
	for _, part := range a.parts {
		t := p.opened(part)
		if t == nil {
			return nil
		}
		joined = p.meet(joined, t)
		if one, ok := joined.only(); ok && one.form == bothForm {
			return nil
		}
	}
	return joined
}

// opened is a type with what its named types stand for; nil: that does not end.
func (p *python) opened(t *Type) *Type {
	if p.deep >= maxDeep {
		return nil
	}
	p.deep++
	defer func() { p.deep-- }()
	all := make([]*Type, 0, len(t.alts))
	for _, a := range t.alts {
		one := of(a)
		switch a.form {
		case namedForm:
			if p.broken[a.named] {
				return nil
			}
			known, ok := p.open[a.named]
			if !ok {
				known = p.opened(p.typeOf(a.named))
				p.open[a.named] = known
			}
			one = known
		case bothForm:
			one = p.written(a)
		default:
		}
		if one == nil {
			return nil
		}
		all = append(all, one)
	}
	return union(all...)
}

// isClass reports whether an object has members, or none at all: others are
// dictionaries.
func (p *python) isClass(o *objectType) bool { return len(o.members) > 0 || o.closed }

// class declares an object type.
func (p *python) class(o *objectType, name string, c comment) {
	p.known[o] = name
	p.nested++
	defer func() { p.nested-- }()
	var b strings.Builder
	b.WriteByte('\n')
	p.comment(&b, "", c)
	b.WriteString(name + " = TypedDict(" + quoted(name) + ", {")
	for _, m := range o.members {
		text := p.typ(m.typ, name+pascal(m.name))
		if !m.required {
			text = "NotRequired[" + text + "]"
		}
		b.WriteByte('\n')
		p.comment(&b, "    ", p.describe(m.typ, m.docs...))
		b.WriteString("    " + quoted(m.name) + ": " + text + ",")
	}
	if len(o.members) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte('}')
	if o.index != nil {
		b.WriteString(", extra_items=" + p.typ(o.index, name+"Item"))
	}
	b.WriteString(")\n")
	p.classes.WriteString(b.String())
}

// typ writes a type. Classes that it needs are declared by names that begin with
// wish.
func (p *python) typ(t *Type, wish string) string {
	if t.isAny() {
		return "object"
	}
	var all, literals []string
	for _, a := range t.alts {
		if a.form == literalForm {
			if text := p.literal(a.text); strings.HasPrefix(text, "=") {
				literals = append(literals, text[1:])
				continue
			}
		}
		one := p.alternative(a, wish)
		if one == "object" {
			return one
		}
		if one != "Never" && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	if literals != nil {
		all = append([]string{"Literal[" + strings.Join(literals, ", ") + "]"}, all...)
	}
	switch len(all) {
	case 0:
		p.never = true
		return "Never"
	case 1:
		return all[0]
	}
	return "Union[" + strings.Join(all, ", ") + "]"
}

// literal writes a scalar as it is in Literal, after "="; others by their type.
func (p *python) literal(text string) string {
	switch formOf(text) { //nolint:exhaustive // scalars
	case nullForm:
		return "None"
	case boolForm:
		return "=" + strings.ToUpper(text[:1]) + text[1:]
	case stringForm:
		doc, err := rawjson.Parse([]byte(text))
		if err != nil {
			return "str" // unreachable: it was written as JSON
		}
		return "=" + quoted(doc.Str(doc.Root()))
	case integerForm:
		return "=" + text
	}
	return "float"
}

func (p *python) alternative(a alternative, wish string) string {
	switch a.form {
	case nullForm:
		return "None"
	case boolForm:
		return "bool"
	case integerForm:
		return "int"
	case numberForm:
		return "float"
	case stringForm:
		return "str"
	case literalForm:
		return p.literal(a.text)
	case arrayForm:
		return p.array(a.array, wish)
	case objectForm:
		return p.object(a.object, wish)
	case namedForm:
		return quoted(p.nameOf[a.named])
	case bothForm:
		return p.both(a, wish)
	case anyForm:
	}
	return "object"
}

// both writes what is in all parts; where that is too much, it says only whether it
// is an object.
func (p *python) both(a alternative, wish string) string {
	p.nested++
	defer func() { p.nested-- }()
	if o := p.flat(a); o != nil {
		return p.object(o, wish)
	}
	if p.mayWrite() {
		if t := p.written(a); t != nil {
			return p.typ(t, wish)
		}
	}
	said := slices.DeleteFunc(slices.Clone(a.parts), (*Type).isAny)
	if len(said) == 1 {
		return p.typ(said[0], wish)
	}
	if slices.ContainsFunc(said, func(part *Type) bool { return p.onlyObjects(part, 0) }) {
		return "dict[str, object]"
	}
	return "object"
}

// mayWrite reports whether one more intersection is written out.
func (p *python) mayWrite() bool {
	p.writes++
	return p.nested <= maxExpand && p.writes <= maxWrites
}

// array writes a list. JSON has lists where Python has tuples, and a list has one
// type for all elements.
func (p *python) array(a *arrayType, wish string) string {
	all := a.prefix
	if a.rest != nil {
		all = append(slices.Clip(all), a.rest)
	}
	return "list[" + p.typ(union(all...), wish+"Item") + "]"
}

func (p *python) object(o *objectType, wish string) string {
	if !p.isClass(o) {
		if o.index == nil {
			return "dict[str, object]"
		}
		return "dict[str, " + p.typ(o.index, wish+"Item") + "]"
	}
	if p.known[o] == "" {
		p.class(o, p.free(clipped(wish)), comment{})
	}
	return quoted(p.known[o])
}

// clipped is the beginning of a name that grew with the nesting of types.
func clipped(name string) string {
	const longest = 120
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	return name
}
