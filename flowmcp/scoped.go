package flowmcp

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// scoped finds out which texts a piece of JavaScript leads to, by the variables
// of each scope: a name that another function has for something of its own leads
// nowhere. What a call hands over is not followed.
type scoped struct {
	declared map[*js.Var][]js.INode
}

func newScoped(n js.INode) *scoped {
	s := &scoped{declared: map[*js.Var][]js.INode{}}
	js.Walk(s, n)
	return s
}

// Enter collects declarations.
func (s *scoped) Enter(n js.INode) js.IVisitor {
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
func (*scoped) Exit(js.INode) {}

func (s *scoped) declare(v *js.Var, n js.INode) {
	v = linked(v)
	s.declared[v] = append(s.declared[v], n)
}

func linked(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

// from returns the first of the texts in want that n leads to; empty: none.
func (s *scoped) from(n js.INode, want []string) string {
	texts, seen := map[string]bool{}, map[*js.Var]bool{}
	todo := []js.INode{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for text := range names(n) {
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

// used collects the variables in a tree.
type used map[*js.Var]bool

// Enter looks at one node.
func (u used) Enter(n js.INode) js.IVisitor {
	if v, ok := n.(*js.Var); ok {
		u[linked(v)] = true
	}
	return u
}

// Exit does nothing: it makes used a visitor.
func (used) Exit(js.INode) {}

func variables(n js.INode) used {
	u := used{}
	if n != nil {
		js.Walk(u, n)
	}
	return u
}
