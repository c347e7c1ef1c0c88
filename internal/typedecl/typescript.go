package typedecl

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// typescriptWords are what TypeScript, or what is declared beside functions and
// types, has the names of.
func typescriptWords() *language {
	return &language{
		reserved: wordSet("break case catch class const continue debugger default delete do else enum export extends false finally for function if import in " +
			"instanceof new null return super switch this throw true try typeof var void while with yield let static await async arguments eval implements " +
			"interface package private protected public any unknown never string number boolean object symbol bigint undefined NaN Infinity"),
		types: wordSet("array record promise string number boolean object date error map set function symbol partial pick omit required readonly exclude " +
			"extract awaited json math server toolerror any unknown never bigint undefined null void intrinsic"),
	}
}

// binding strengths of a type's text.
const (
	atom = iota
	intersection
	alternation
)

// typescript prints types.
type typescript struct {
	*declarations

	short   bool                  // comments are a few words behind members
	compact bool                  // no comments, and objects on one line
	mention func(n *named) string // called with every named type that is printed
}

// TypeScript writes the declarations of a set as a module. source names it for
// people.
func (s *Set) TypeScript(source string) []byte {
	p := &typescript{declarations: s.declare(typescriptWords())}
	p.mention = func(n *named) string { return p.nameOf[n] }
	var b strings.Builder
	b.WriteString("// Tools of " + oneLine(source, maxTag) + ", written by 'tenon types'. Do not edit: run it again.\n")
	b.WriteString("// Needs " + runtimeTypeScript + " beside it, which 'tenon types --out' writes.\n\n")
	b.WriteString("import type { Server } from \"./" + strings.TrimSuffix(runtimeTypeScript, ".ts") + ".js\";\n")
	for _, f := range p.functions {
		b.WriteByte('\n')
		p.function(&b, f)
	}
	for _, n := range p.types {
		b.WriteByte('\n')
		p.declare(&b, n)
	}
	return []byte(b.String())
}

func (p *typescript) function(b *strings.Builder, f *function) {
	given, data := "undefined", "unknown"
	if f.args != nil {
		text, _ := p.typ(f.args, "")
		p.comment(b, "", p.describe(f.args, f.argsNode))
		b.WriteString("export type " + f.argsName + " = " + text + ";\n")
		given = "args"
	}
	if f.data != nil {
		text, _ := p.typ(f.data, "")
		p.comment(b, "", p.describe(f.data, f.dataNode))
		b.WriteString("export type " + f.dataName + " = " + text + ";\n")
		data = f.dataName
	}
	p.comment(b, "", f.about())
	b.WriteString("export function " + f.name + "(server: Server")
	switch {
	case f.args != nil && f.optional:
		b.WriteString(", args: " + f.argsName + " = {}")
	case f.args != nil:
		b.WriteString(", args: " + f.argsName)
	}
	b.WriteString("): Promise<" + data + "> {\n  return server.call<" + data + ">(" + quoted(f.tool.Name) + ", " + given + ", " + within(f, "null") + ");\n}\n")
}

// within names the member that holds the data; null: none is declared.
func within(f *function, null string) string {
	if f.data == nil {
		return null
	}
	return quoted(f.tool.Within)
}

// about is what is said of a function.
func (f *function) about() comment {
	c := comment{text: f.tool.Description}
	if c.text == "" {
		c.text = f.tool.Title
	}
	if f.tool.ReadOnly {
		c.text = strings.TrimSpace(c.text + "\n\nOnly reads.")
	}
	return c
}

// declare writes the declaration of a named type.
func (p *typescript) declare(b *strings.Builder, n *named) {
	t := p.typeOf(n)
	if p.broken[n] {
		t = unknown("the type refers to nothing but itself")
	}
	text, _ := p.typ(t, "")
	p.comment(b, "", p.describe(t, n.node))
	b.WriteString("export type " + p.nameOf[n] + " = " + text + ";\n")
}

// comment writes a comment before a declaration.
func (p *typescript) comment(b *strings.Builder, indent string, c comment) {
	lines := c.lines("@")
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "*/", "*\\/")
	}
	switch {
	case len(lines) == 0:
	case len(lines) == 1 && !strings.HasSuffix(lines[0], "*"):
		b.WriteString(indent + "/** " + lines[0] + " */\n")
	default:
		b.WriteString(indent + "/**\n")
		for _, line := range lines {
			b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
		}
		b.WriteString(indent + " */\n")
	}
}

// typ writes a type, and how strong it binds.
func (p *typescript) typ(t *Type, indent string) (text string, strength int) {
	if t.isAny() {
		return "unknown", atom
	}
	var all []string
	for _, a := range t.alts {
		one, binds := p.alternative(&a, indent)
		if one == "unknown" {
			return one, atom
		}
		if one != "never" && !slices.Contains(all, one) {
			all = append(all, one)
			strength = binds
		}
	}
	switch len(all) {
	case 0:
		return "never", atom
	case 1:
		return all[0], strength
	}
	return strings.Join(all, " | "), alternation
}

func (p *typescript) alternative(a *alternative, indent string) (text string, strength int) {
	switch a.form {
	case nullForm:
		return "null", atom
	case boolForm:
		return "boolean", atom
	case integerForm, numberForm:
		return "number", atom
	case stringForm:
		return "string", atom
	case literalForm:
		return p.literal(a.text), atom
	case arrayForm:
		return p.array(a.array, indent), atom
	case objectForm:
		return p.object(a.object, indent), atom
	case namedForm:
		return p.mention(a.named), atom
	case bothForm:
		return p.both(a.parts, indent)
	case anyForm:
	}
	return "unknown", atom
}

func (p *typescript) literal(text string) string {
	if text[0] == '"' {
		doc, err := rawjson.Parse([]byte(text))
		if err != nil {
			return "string" // unreachable: it was written as JSON
		}
		return quoted(doc.Str(doc.Root()))
	}
	return text
}

// both writes an intersection. What a language cannot say is left out of it.
func (p *typescript) both(parts []*Type, indent string) (text string, strength int) {
	var all []string
	for _, part := range parts {
		one, binds := p.typ(part, indent)
		switch {
		case one == "never":
			return one, atom
		case one == "unknown":
			continue
		case binds > intersection:
			one = "(" + one + ")"
		}
		if strength = max(strength, binds); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	switch len(all) {
	case 0:
		return "unknown", atom
	case 1:
		return all[0], min(strength, intersection)
	}
	return strings.Join(all, " & "), intersection
}

func (p *typescript) array(a *arrayType, indent string) string {
	element := func(t *Type) string {
		text, strength := p.typ(t, indent)
		if strength > atom {
			return "(" + text + ")"
		}
		return text
	}
	switch {
	case len(a.prefix) == 0 && a.rest == nil:
		return "[]"
	case len(a.prefix) == 0:
		return element(a.rest) + "[]"
	}
	all := make([]string, 0, len(a.prefix)+1)
	for i, t := range a.prefix {
		text := element(t)
		if i >= a.min {
			text += "?"
		}
		all = append(all, text)
	}
	if a.rest != nil {
		all = append(all, "..."+element(a.rest)+"[]")
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (p *typescript) object(o *objectType, indent string) string {
	switch {
	case len(o.members) == 0 && o.index == nil && o.closed:
		return "Record<string, never>"
	case len(o.members) == 0 && (o.index == nil || o.index.isAny()):
		return "Record<string, unknown>"
	case len(o.members) == 0:
		text, _ := p.typ(o.index, indent)
		return "{ [key: string]: " + text + " }"
	}
	var b strings.Builder
	inner, end := indent+"  ", "\n"
	if p.compact {
		inner, indent, end = " ", " ", ""
	}
	b.WriteString("{" + end)
	others := &alternatives{}
	if o.index != nil {
		others.add(p.typ(o.index, inner))
	}
	for _, m := range o.members {
		text, strength := p.member(&b, m, inner)
		if o.index == nil {
			continue
		}
		if others.add(text, strength); !m.required {
			others.add("undefined", atom)
		}
	}
	if o.index != nil { // TypeScript wants it to include the types of all members
		b.WriteString(inner + "[key: string]: " + others.text() + ";" + end)
	}
	b.WriteString(indent + "}")
	return b.String()
}

// member writes a member, and returns its type.
func (p *typescript) member(b *strings.Builder, m member, indent string) (text string, strength int) {
	name := m.name
	if !isIdentifier(name) {
		name = quoted(name)
	}
	if !m.required {
		name += "?"
	}
	text, strength = p.typ(m.typ, indent)
	if p.compact {
		b.WriteString(indent + name + ": " + text + ";")
		return text, strength
	}
	about := p.describe(m.typ, m.docs...)
	if !p.short {
		p.comment(b, indent, about)
	}
	b.WriteString(indent + name + ": " + text + ";")
	if p.short {
		b.WriteString(p.remark(about))
	}
	b.WriteByte('\n')
	return text, strength
}

// alternatives are texts of types in a union.
type alternatives struct{ all []string }

func (u *alternatives) add(text string, strength int) {
	if strength == intersection {
		text = "(" + text + ")"
	}
	if text != "never" {
		u.all = appendNew(u.all, text)
	}
}

func (u *alternatives) text() string {
	if slices.Contains(u.all, "unknown") {
		return "unknown"
	}
	slices.SortStableFunc(u.all, func(x, y string) int { // undefined last
		switch {
		case x == "undefined" && y != x:
			return 1
		case y == "undefined" && y != x:
			return -1
		}
		return 0
	})
	return strings.Join(u.all, " | ")
}

// remark is a comment of a few words behind a member.
func (p *typescript) remark(c comment) string {
	var words []string
	if text := firstSentence(c.text); text != "" {
		words = append(words, text)
	}
	for _, tag := range c.tags {
		key, value, _ := strings.Cut(tag, " ")
		switch {
		case key == "default" && len(value) <= 24:
			words = append(words, "default "+value)
		case key == "format" && value != "uri" && value != "date-time":
			words = append(words, value)
		case key == "minimum" || key == "maximum":
			words = append(words, tag)
		}
	}
	if c.deprecated {
		words = append(words, "deprecated")
	}
	if len(c.notes) > 0 {
		words = append(words, c.notes[0])
	}
	if words == nil {
		return ""
	}
	return " // " + strings.Join(words, "; ")
}
