package typedecl

import (
	"strings"
)

// maxLineDepth bounds how deep a line shows members.
const maxLineDepth = 4

// Line is the type of a schema's values in one line for a model, in about budget bytes:
// {id: int, name, price?: number|null, tags: [string]}. A member without a type is a
// text. What is left out is marked by an ellipsis. advice is that of [NewSet].
func Line(schema []byte, advice bool, budget int) string {
	s := NewSet(advice)
	s.Add(Tool{Name: "t", Data: schema})
	d := s.briefly()
	if len(d.functions) == 0 || d.functions[0].data == nil {
		return ""
	}
	// The deepest level that fits: a type with all its members says more than one
	// member with all of its own.
	line := ""
	for depth := 1; depth <= maxLineDepth; depth++ {
		w := lineWriter{depth: depth, left: budget}
		w.typ(d.functions[0].data, 0)
		if line != "" && w.left < 0 {
			break
		}
		line = w.text.String()
		if !w.cut {
			break
		}
	}
	return line
}

type lineWriter struct {
	text  strings.Builder
	depth int // of members that are shown
	left  int // bytes; below zero members are left out
	cut   bool
	under []*named
}

func (w *lineWriter) write(text string) {
	w.left -= len(text)
	w.text.WriteString(text)
}

func (w *lineWriter) typ(t *Type, depth int) {
	switch {
	case len(t.alts) == 0:
		w.write("never")
	case len(t.alts) > maxAlternatives:
		w.cut = true
		w.write("…")
	default:
		for i := range t.alts {
			if i > 0 {
				w.write("|")
			}
			w.alternative(&t.alts[i], depth)
		}
	}
}

// maxAlternatives bounds those of a type that a line shows.
const maxAlternatives = 12

func (w *lineWriter) alternative(a *alternative, depth int) {
	switch a.form {
	case anyForm:
		w.write("any")
	case nullForm:
		w.write("null")
	case boolForm:
		w.write("bool")
	case integerForm:
		w.write("int")
	case numberForm:
		w.write("number")
	case stringForm:
		w.write("string")
	case literalForm:
		w.write(literal(a.text))
	case arrayForm:
		w.write("[")
		if a.array.rest != nil {
			w.typ(a.array.rest, depth)
		}
		for i, p := range a.array.prefix {
			if i > 0 || a.array.rest != nil {
				w.write(", ")
			}
			w.typ(p, depth)
		}
		w.write("]")
	case objectForm:
		w.object(a.object, depth)
	case namedForm:
		w.named(a.named, depth)
	case bothForm:
		for i, p := range a.parts {
			if i > 0 {
				w.write("&")
			}
			w.typ(p, depth)
		}
	}
}

func (w *lineWriter) named(n *named, depth int) {
	for _, u := range w.under {
		if u == n || n.typ == nil {
			w.cut = true
			w.write("…")
			return
		}
	}
	w.under = append(w.under, n)
	w.typ(n.typ, depth)
	w.under = w.under[:len(w.under)-1]
}

func (w *lineWriter) object(o *objectType, depth int) {
	if depth >= w.depth && (len(o.members) > 0 || o.index != nil) {
		w.cut = true
		w.write("{…}")
		return
	}
	w.write("{")
	for i := range o.members {
		m := &o.members[i]
		if i > 0 {
			w.write(", ")
		}
		if w.left < 0 {
			w.cut = true
			w.write("…")
			break
		}
		w.write(memberName(m.name))
		if !m.required {
			w.write("?")
		}
		if a, ok := m.typ.only(); !ok || a.form != stringForm {
			w.write(": ")
			w.typ(m.typ, depth+1)
		}
	}
	if o.index != nil && !o.index.isAny() {
		if len(o.members) > 0 {
			w.write(", ")
		}
		w.write("*: ")
		w.typ(o.index, depth+1)
	}
	w.write("}")
}

// maxLiteral bounds a literal that a line shows whole.
const maxLiteral = 40

func literal(text string) string {
	if len(text) > maxLiteral {
		return "string"
	}
	return text
}

// memberName quotes a name that is none in programs.
func memberName(name string) string {
	if isIdentifier(name) {
		return name
	}
	return quoted(name)
}
