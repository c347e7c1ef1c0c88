package module

import (
	"maps"
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// References computes which names a piece of JavaScript refers to, directly or
// through declarations. It ignores scopes, so it finds too many rather than too
// few.
type References struct {
	declared map[string]map[string]bool // names in the declaration, by declared name
}

// NewReferences collects the declarations in a tree.
func NewReferences(n js.INode) *References {
	r := &References{declared: map[string]map[string]bool{}}
	js.Walk(r, n)
	return r
}

// Enter collects declarations.
func (r *References) Enter(n js.INode) js.IVisitor {
	switch d := n.(type) {
	case *js.FuncDecl:
		if d.Name != nil {
			r.declare(string(d.Name.Data), Names(d))
		}
	case *js.VarDecl:
		for i := range d.List {
			r.bind(&d.List[i])
		}
	}
	return r
}

// bind collects the names that one binding declares. In a destructured object
// each name refers to its own key and to the whole object.
func (r *References) bind(b *js.BindingElement) {
	object, ok := b.Binding.(*js.BindingObject)
	if !ok || object.Rest != nil {
		inside := Names(b)
		for name := range Names(b.Binding) {
			r.declare(name, inside)
		}
		return
	}
	whole := nameSet{}
	if b.Default != nil {
		whole = Names(b.Default)
	}
	for i := range object.List {
		inside := Names(&object.List[i].Value)
		if key := object.List[i].Key; key != nil {
			maps.Copy(inside, Names(key))
		}
		maps.Copy(inside, whole)
		for name := range Names(object.List[i].Value.Binding) {
			r.declare(name, inside)
		}
	}
}

// Exit does nothing: it makes reach a visitor.
func (*References) Exit(js.INode) {}

func (r *References) declare(name string, inside map[string]bool) {
	if r.declared[name] == nil {
		r.declared[name] = map[string]bool{}
	}
	for n := range inside {
		r.declared[name][n] = true
	}
}

// From returns the names of want that n refers to.
func (r *References) From(n js.INode, want []string) []string {
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
	add(Names(n))
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		add(r.declared[name])
	}
	return slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !seen[name] })
}

// nameSet collects the names and strings in a tree.
type nameSet map[string]bool

// Enter visits one node.
func (s nameSet) Enter(n js.INode) js.IVisitor {
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
func (nameSet) Exit(js.INode) {}

func (s nameSet) literal(l js.LiteralExpr) {
	text := l.Data
	if l.TokenType == js.StringToken && len(text) >= 2 {
		text = text[1 : len(text)-1]
	}
	s[string(text)] = true
}

// Names returns the names and strings in a tree.
func Names(n js.INode) map[string]bool {
	s := nameSet{}
	js.Walk(s, n)
	return s
}

// ScopedReferences computes which strings a piece of JavaScript refers to, by scope: a
// variable of the same name in another function does not count. Arguments of
// calls are not followed.
type ScopedReferences struct {
	declared map[*js.Var][]js.INode
}

// NewScopedReferences collects the declarations in a tree, by scope.
func NewScopedReferences(n js.INode) *ScopedReferences {
	s := &ScopedReferences{declared: map[*js.Var][]js.INode{}}
	js.Walk(s, n)
	return s
}

// Enter collects declarations.
func (s *ScopedReferences) Enter(n js.INode) js.IVisitor {
	switch d := n.(type) {
	case *js.FuncDecl:
		if d.Name != nil {
			s.declare(d.Name, d)
		}
	case *js.ClassDecl:
		if d.Name != nil {
			s.declare(d.Name, d)
		}
	case *js.VarDecl:
		for i := range d.List {
			for v := range variables(d.List[i].Binding) {
				s.declare(v, &d.List[i])
			}
		}
	}
	return s
}

// Exit does nothing: it makes scoped a visitor.
func (*ScopedReferences) Exit(js.INode) {}

func (s *ScopedReferences) declare(v *js.Var, n js.INode) {
	v = linked(v)
	s.declared[v] = append(s.declared[v], n)
}

func linked(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

// From returns the first string of want that n refers to, or "".
func (s *ScopedReferences) From(n js.INode, want []string) string {
	texts, seen := map[string]bool{}, map[*js.Var]bool{}
	todo := []js.INode{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for text := range Names(n) {
			texts[text] = true
		}
		for v := range variables(n) {
			if !seen[v] {
				seen[v] = true
				todo = append(todo, s.declared[v]...)
			}
		}
	}
	if i := slices.IndexFunc(want, func(text string) bool { return texts[text] }); i >= 0 {
		return want[i]
	}
	return ""
}

// varSet collects the variables in a tree.
type varSet map[*js.Var]bool

// Enter visits one node.
func (u varSet) Enter(n js.INode) js.IVisitor {
	if v, ok := n.(*js.Var); ok {
		u[linked(v)] = true
	}
	return u
}

// Exit does nothing: it makes used a visitor.
func (varSet) Exit(js.INode) {}

func variables(n js.INode) varSet {
	u := varSet{}
	if n != nil {
		js.Walk(u, n)
	}
	return u
}
