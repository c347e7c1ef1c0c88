package flowmcp

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// frozenName is what the factory of the handlers gets its shared lists under.
const frozenName = "sharedLists"

// checkFrozen reports where handlers would change a shared list. Lists are
// frozen, so that such a line ends in a TypeError where it changes something.
func (c *checker) checkFrozen() {
	x, at := c.m.exported("handlers")
	if x == nil {
		return
	}
	s := &frozenScan{scan: &scan{c: c, at: max(at, 0), seen: map[[2]int]bool{}}, parts: map[*js.Var]bool{}}
	js.Walk(s, x)
}

// frozenScan follows the lists through the names that they are given.
type frozenScan struct {
	*scan
	parts map[*js.Var]bool // names of a list, of its entries, or of one entry
}

// Enter looks at one node.
func (s *frozenScan) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.Var:
		s.place(n.Data)
	case *js.LiteralExpr:
		s.place(n.Data)
	case *js.VarDecl:
		for _, b := range n.List {
			s.bind(b)
		}
	case *js.BinaryExpr:
		if assigns(n.Op) {
			s.target(n.X, "an assignment to a part of it")
		}
	case *js.UnaryExpr:
		if slices.Contains([]js.TokenType{js.DeleteToken, js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken}, n.Op) {
			s.target(n.X, "a change of a part of it")
		}
	case *js.CallExpr:
		s.call(n)
	}
	return s
}

func assigns(op js.TokenType) bool {
	return slices.Contains([]js.TokenType{
		js.EqToken, js.AddEqToken, js.SubEqToken, js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken,
		js.LtLtEqToken, js.GtGtEqToken, js.GtGtGtEqToken, js.BitAndEqToken, js.BitOrEqToken, js.BitXorEqToken,
		js.AndEqToken, js.OrEqToken, js.NullishEqToken,
	}, op)
}

// bind notes the names that a declaration gives to a list or to a part of one.
func (s *frozenScan) bind(b js.BindingElement) {
	if b.Default == nil || !s.frozen(b.Default) {
		return
	}
	switch names := b.Binding.(type) {
	case *js.Var:
		s.parts[origin(names)] = true
	case *js.BindingObject:
		for _, item := range names.List {
			if v, ok := item.Value.Binding.(*js.Var); ok {
				s.parts[origin(v)] = true
			}
		}
	}
}

func origin(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

// target reports an expression that is changed, where it is a part of a list.
// A name as such may be given another value.
func (s *frozenScan) target(x js.IExpr, how string) {
	inner, ok := holder(x)
	if ok && s.frozen(inner) {
		s.report(x, how)
	}
}

// holder is what x is a member of.
func holder(x js.IExpr) (js.IExpr, bool) {
	switch x := x.(type) {
	case *js.GroupExpr:
		return holder(x.X)
	case *js.DotExpr:
		return x.X, true
	case *js.IndexExpr:
		return x.X, true
	}
	return nil, false
}

// frozen reports whether x is the lists, one of them or an entry: a copy, such
// as filter makes, is not.
func (s *frozenScan) frozen(x js.IExpr) bool {
	switch x := x.(type) {
	case *js.Var:
		v := origin(x)
		return s.parts[v] || unquote(v.Data) == frozenName
	case *js.CallExpr:
		dot, ok := x.X.(*js.DotExpr)
		return ok && slices.Contains([]string{"find", "findLast", "at"}, memberName(dot)) && s.frozen(dot.X)
	}
	inner, ok := holder(x)
	return ok && s.frozen(inner)
}

// first is the name that x begins with; nil: with none.
func first(x js.IExpr) *js.Var {
	switch x := x.(type) {
	case *js.Var:
		return x
	case *js.CallExpr:
		return first(x.X)
	}
	if inner, ok := holder(x); ok {
		return first(inner)
	}
	return nil
}

func memberName(x *js.DotExpr) string {
	if y, ok := x.Y.(js.LiteralExpr); ok {
		return string(y.Data)
	}
	return ""
}

// call reports the calls that change what they are called on.
func (s *frozenScan) call(x *js.CallExpr) {
	dot, ok := x.X.(*js.DotExpr)
	if !ok {
		return
	}
	name := memberName(dot)
	switch {
	case slices.Contains([]string{"push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin"}, name):
		if s.frozen(dot.X) {
			s.report(x, name+", which changes it; copy it first, such as [ ...list ]")
		}
	case name == "assign" && len(x.Args.List) > 0:
		if s.frozen(x.Args.List[0].Value) {
			s.report(x, "Object.assign to it")
		}
	}
}

func (s *frozenScan) report(x js.IExpr, how string) {
	if v := first(x); v != nil {
		s.place(v.Data)
	}
	if s.once("SEC102", s.at) {
		s.c.add(s.at, Finding{Code: "SEC102", Severity: s.c.or(Warning), Path: "handlers", Message: "a shared list is frozen, and this is " + how})
	}
}
