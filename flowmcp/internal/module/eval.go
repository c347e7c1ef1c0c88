package module

import (
	"fmt"
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// maxNodes limits the values of one file: a value can be as short as two bytes.
const maxNodes = 1 << 19

// Evaluator converts the syntax tree of pure data into values. Anything but a
// literal becomes an invalid value and a report; nothing is ever called.
type Evaluator struct {
	Module         *Module
	Offset         int // offset of the last token visited
	nodes          int
	Report         func(at int, path, what string)
	AllowStringify bool // accept JSON.stringify of a literal
	Constants      bool // accept constants of the file by name
	evaluating     []string
	OnStringify    func(at int, path string)
}

func (e *Evaluator) invalid(path, what string) *Node {
	e.Report(e.Offset, path, what)
	return &Node{Offset: e.Offset}
}

func (e *Evaluator) visit(token []byte) int {
	if at := e.Module.Offset(token); at >= 0 {
		e.Offset = at
	}
	return e.Offset
}

// Value evaluates one expression.
func (e *Evaluator) Value(x js.IExpr, path string) *Node {
	if e.nodes++; e.nodes > maxNodes {
		if e.nodes == maxNodes+1 {
			e.Report(e.Offset, path, fmt.Sprintf("holds more than %d values", maxNodes))
		}
		return &Node{Offset: e.Offset}
	}
	switch x := x.(type) {
	case *js.GroupExpr:
		return e.Value(x.X, path)
	case *js.LiteralExpr:
		return e.literal(x, path)
	case *js.ArrayExpr:
		return e.array(x, path)
	case *js.ObjectExpr:
		return e.object(x, path)
	case *js.UnaryExpr:
		return e.unary(x, path)
	case *js.TemplateExpr:
		return e.template(x, path)
	case *js.CallExpr:
		return e.call(x, path)
	case *js.Var:
		e.visit(x.Data)
		if n := e.constant(string(x.Data), path); n != nil {
			return n
		}
		return e.invalid(path, fmt.Sprintf("is not a literal: the name %s", x.Data))
	}
	return e.invalid(path, "is not a literal: "+noun(x))
}

// constant returns the value of a constant of the file, or nil.
func (e *Evaluator) constant(name, path string) *Node {
	if !e.Constants || slices.Contains(e.evaluating, name) {
		return nil
	}
	for _, s := range e.Module.AST.List {
		d, isVar := s.(*js.VarDecl)
		if !isVar || d.TokenType != js.ConstToken {
			continue
		}
		value, _ := Declared(d, name)
		if x, ok := value.(js.IExpr); ok {
			e.evaluating = append(e.evaluating, name)
			defer func() { e.evaluating = e.evaluating[:len(e.evaluating)-1] }()
			return e.Value(x, path)
		}
	}
	return nil
}

func noun(x js.IExpr) string {
	switch x.(type) {
	case *js.ArrowFunc, *js.FuncDecl, *js.MethodDecl:
		return "a function"
	case *js.BinaryExpr, *js.CondExpr, *js.CommaExpr:
		return "an expression with operators"
	case *js.NewExpr:
		return "a new object"
	case *js.DotExpr, *js.IndexExpr:
		return "a member of another object"
	case *js.ClassDecl:
		return "a class"
	}
	return "an expression"
}

func (e *Evaluator) literal(x *js.LiteralExpr, path string) *Node {
	n := &Node{Offset: e.visit(x.Data)}
	switch {
	case x.TokenType == js.StringToken:
		n.Kind, n.Text = String, Unquote(x.Data[1:len(x.Data)-1])
	case js.IsNumeric(x.TokenType):
		text, ok := NumberText(string(x.Data))
		if !ok {
			return e.invalid(path, "is a number that JSON cannot represent")
		}
		n.Kind, n.Text = Number, text
	case x.TokenType == js.TrueToken, x.TokenType == js.FalseToken:
		n.Kind, n.Text = Bool, string(x.Data)
	case x.TokenType == js.NullToken:
		n.Kind = Null
	default:
		return e.invalid(path, "is not a literal of JSON: "+string(x.Data))
	}
	return n
}

func (e *Evaluator) array(x *js.ArrayExpr, path string) *Node {
	n := &Node{Kind: Array, Offset: e.Offset}
	for i, el := range x.List {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case el.Spread:
			n.Items = append(n.Items, e.invalid(at, "is spread from another value"))
		case el.Value == nil:
			n.Items = append(n.Items, e.invalid(at, "is left out"))
		default:
			n.Items = append(n.Items, e.Value(el.Value, at))
		}
	}
	return n
}

func (e *Evaluator) object(x *js.ObjectExpr, path string) *Node {
	n := &Node{Kind: Object, Offset: e.Offset}
	index := map[string]int{}
	for _, p := range x.List {
		key, value := e.member(p, path)
		if i, twice := index[key]; twice {
			n.Items[i] = value
			continue
		}
		index[key] = len(n.Keys)
		n.Keys = append(n.Keys, key)
		n.Items = append(n.Items, value)
	}
	return n
}

func (e *Evaluator) member(p js.Property, path string) (string, *Node) {
	name := NameOf(p)
	if p.Spread || name == nil || name.IsComputed() {
		what := "has a computed key"
		if p.Spread {
			what = "is spread from another value"
		}
		return fmt.Sprintf("[%d]", e.Offset), e.invalid(path, what)
	}
	key := e.Key(name.Literal)
	at := path + "." + key
	switch {
	case key == "__proto__":
		return key, e.invalid(at, "sets a prototype")
	case p.Init != nil:
		return key, e.invalid(at, "is not a literal")
	}
	value := e.Value(p.Value, at)
	return key, value
}

// NameOf returns the name of a member or a method, or nil.
func NameOf(p js.Property) *js.PropertyName {
	if method, ok := p.Value.(*js.MethodDecl); ok && method.Name.Private == nil {
		return &method.Name.PropertyName
	}
	return p.Name
}

// Key returns the name of a member. The parser strips quotes where the rest
// could be a name or a number; then the text is used unchanged.
func (e *Evaluator) Key(l js.LiteralExpr) string {
	at := e.visit(l.Data)
	quoted := at > 0 && at < len(e.Module.Source) && (e.Module.Source[at-1] == '"' || e.Module.Source[at-1] == '\'')
	switch {
	case l.TokenType == js.StringToken:
		return Unquote(l.Data[1 : len(l.Data)-1])
	case js.IsNumeric(l.TokenType) && !quoted:
		if text, ok := NumberText(string(l.Data)); ok {
			return text
		}
	}
	return Unquote(l.Data)
}

func (e *Evaluator) unary(x *js.UnaryExpr, path string) *Node {
	if x.Op != js.NegToken && x.Op != js.PosToken {
		e.Value(x.X, path)
		return e.invalid(path, "is not a literal: an operator")
	}
	n := e.Value(x.X, path)
	if !n.Is(Number) {
		if n.Is(Invalid) {
			return n
		}
		return e.invalid(path, "is not a literal: a sign before "+n.Kind.String())
	}
	if x.Op == js.NegToken {
		n.Text = Negate(n.Text)
	}
	return n
}

func (e *Evaluator) template(x *js.TemplateExpr, path string) *Node {
	e.visit(x.Tail)
	if x.Tag != nil || len(x.List) > 0 || len(x.Tail) < 2 {
		return e.invalid(path, "is not a literal: a template with expressions")
	}
	return &Node{Kind: String, Text: Unquote(normalBreaks(x.Tail[1 : len(x.Tail)-1])), Offset: e.Offset}
}

// call accepts JSON.stringify of a literal, which real files use.
func (e *Evaluator) call(x *js.CallExpr, path string) *Node {
	dot, ok := x.X.(*js.DotExpr)
	if !ok || dot.X.String() != "JSON" || dot.Y.String() != "stringify" || len(x.Args.List) != 1 || x.Args.List[0].Rest {
		return e.invalid(path, "is not a literal: a call")
	}
	if v, ok := dot.X.(*js.Var); ok {
		e.visit(v.Data)
	}
	at := e.Offset
	if !e.AllowStringify {
		return e.invalid(path, "is not a literal: a call of JSON.stringify")
	}
	n := e.Value(x.Args.List[0].Value, path)
	if !n.Valid() {
		return n
	}
	e.OnStringify(at, path)
	return &Node{Kind: String, Text: string(n.AppendJSON(nil)), Offset: at}
}

// Members calls each for the members with static names.
func (e *Evaluator) Members(x *js.ObjectExpr, each func(key string, value js.INode)) {
	for _, p := range x.List {
		if name := NameOf(p); !p.Spread && name != nil && !name.IsComputed() {
			each(e.Key(name.Literal), p.Value)
		}
	}
}
