package flowmcp

import (
	"maps"
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// builtIn are the libraries that every realm has: those of Node that need no
// outside.
func builtIn() []string {
	return []string{"zlib", "crypto", "buffer", "path", "url", "util", "querystring", "events", "stream", "string_decoder", "assert"}
}

// reach finds out which names a piece of JavaScript leads to: those that stand
// in it, those that stand where they are declared, and so on. It goes by names
// alone, so it finds rather too many than too few.
type reach struct {
	declared map[string]map[string]bool // names in the declaration of a name
}

func newReach(n js.INode) *reach {
	r := &reach{declared: map[string]map[string]bool{}}
	js.Walk(r, n)
	return r
}

// Enter collects declarations.
func (r *reach) Enter(n js.INode) js.IVisitor {
	switch d := n.(type) {
	case *js.FuncDecl:
		if d.Name != nil {
			r.declare(string(d.Name.Data), names(d))
		}
	case *js.VarDecl:
		for i := range d.List {
			r.bind(&d.List[i])
		}
	}
	return r
}

// bind collects the names that one binding declares. Of an object that is taken
// apart each leads to what stands beside it and to the object, not to the
// others.
func (r *reach) bind(b *js.BindingElement) {
	object, ok := b.Binding.(*js.BindingObject)
	if !ok || object.Rest != nil {
		inside := names(b)
		for name := range names(b.Binding) {
			r.declare(name, inside)
		}
		return
	}
	whole := named{}
	if b.Default != nil {
		whole = names(b.Default)
	}
	for i := range object.List {
		inside := names(&object.List[i].Value)
		if key := object.List[i].Key; key != nil {
			maps.Copy(inside, names(key))
		}
		maps.Copy(inside, whole)
		for name := range names(object.List[i].Value.Binding) {
			r.declare(name, inside)
		}
	}
}

// Exit does nothing: it makes reach a visitor.
func (*reach) Exit(js.INode) {}

func (r *reach) declare(name string, inside map[string]bool) {
	if r.declared[name] == nil {
		r.declared[name] = map[string]bool{}
	}
	for n := range inside {
		r.declared[name][n] = true
	}
}

// from returns those of the names in want that n leads to.
func (r *reach) from(n js.INode, want []string) []string {
	seen := map[string]bool{}
	todo := []string{}
	add := func(all map[string]bool) {
		for name := range all {
			if !seen[name] {
				seen[name] = true
				todo = append(todo, name)
			}
		}
	}
	add(names(n))
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		add(r.declared[name])
	}
	return slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !seen[name] })
}

// named collects the names and texts in a tree.
type named map[string]bool

// Enter looks at one node.
func (s named) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.Var:
		s[string(n.Data)] = true
	case *js.LiteralExpr:
		s.literal(*n)
	case js.LiteralExpr:
		s.literal(n)
	case *js.PropertyName:
		s.literal(n.Literal)
	case *js.BindingObject:
		for _, item := range n.List {
			if item.Key != nil {
				s.literal(item.Key.Literal)
			}
		}
	}
	return s
}

// Exit does nothing: it makes named a visitor.
func (named) Exit(js.INode) {}

func (s named) literal(l js.LiteralExpr) {
	text := l.Data
	if l.TokenType == js.StringToken && len(text) >= 2 {
		text = text[1 : len(text)-1]
	}
	s[string(text)] = true
}

func names(n js.INode) map[string]bool {
	s := named{}
	js.Walk(s, n)
	return s
}
