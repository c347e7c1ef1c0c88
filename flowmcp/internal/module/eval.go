package flowmcp

import (
	"fmt"
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// maxNodes bounds the values of one file: a few bytes of text can be one.
const maxNodes = 1 << 19

// evaluator turns the syntax tree of pure data into values. What is no literal
// becomes an invalid value and a report; nothing is ever called.
type evaluator struct {
	m      *module
	at     int // offset of the last token that was seen
	nodes  int
	report func(at int, path, what string)
	lax    bool // JSON.stringify of a literal is a value too
	named  bool // the name of a constant of the file is its value
	inside []string
	laxed  func(at int, path string)
}

func (e *evaluator) bad(path, what string) *node {
	e.report(e.at, path, what)
	return &node{at: e.at}
}

func (e *evaluator) seen(token []byte) int {
	if at := e.m.offset(token); at >= 0 {
		e.at = at
	}
	return e.at
}

// value evaluates one expression.
func (e *evaluator) value(x js.IExpr, path string) *node {
	if e.nodes++; e.nodes > maxNodes {
		if e.nodes == maxNodes+1 {
			e.report(e.at, path, fmt.Sprintf("holds more than %d values", maxNodes))
		}
		return &node{at: e.at}
	}
	switch x := x.(type) {
	case *js.GroupExpr:
		return e.value(x.X, path)
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
		e.seen(x.Data)
		if n := e.constant(string(x.Data), path); n != nil {
			return n
		}
		return e.bad(path, fmt.Sprintf("is no literal: the name %s", x.Data))
	}
	return e.bad(path, "is no literal: "+noun(x))
}

// constant is the value of a constant of the file; nil: it is none that counts.
func (e *evaluator) constant(name, path string) *node {
	if !e.named || slices.Contains(e.inside, name) {
		return nil
	}
	for _, s := range e.m.ast.List {
		d, isVar := s.(*js.VarDecl)
		if !isVar || d.TokenType != js.ConstToken {
			continue
		}
		value, _ := declared(d, name)
		if x, ok := value.(js.IExpr); ok {
			e.inside = append(e.inside, name)
			defer func() { e.inside = e.inside[:len(e.inside)-1] }()
			return e.value(x, path)
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

func (e *evaluator) literal(x *js.LiteralExpr, path string) *node {
	n := &node{at: e.seen(x.Data)}
	switch {
	case x.TokenType == js.StringToken:
		n.kind, n.text = stringKind, unquote(x.Data[1:len(x.Data)-1])
	case js.IsNumeric(x.TokenType):
		text, ok := numberText(string(x.Data))
		if !ok {
			return e.bad(path, "is no number that JSON can carry")
		}
		n.kind, n.text = numberKind, text
	case x.TokenType == js.TrueToken, x.TokenType == js.FalseToken:
		n.kind, n.text = boolKind, string(x.Data)
	case x.TokenType == js.NullToken:
		n.kind = nullKind
	default:
		return e.bad(path, "is no literal of JSON: "+string(x.Data))
	}
	return n
}

func (e *evaluator) array(x *js.ArrayExpr, path string) *node {
	n := &node{kind: arrayKind, at: e.at}
	for i, el := range x.List {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case el.Spread:
			n.items = append(n.items, e.bad(at, "is spread from another value"))
		case el.Value == nil:
			n.items = append(n.items, e.bad(at, "is left out"))
		default:
			n.items = append(n.items, e.value(el.Value, at))
		}
	}
	return n
}

func (e *evaluator) object(x *js.ObjectExpr, path string) *node {
	n := &node{kind: objectKind, at: e.at}
	index := map[string]int{}
	for _, p := range x.List {
		key, value := e.member(p, path)
		if i, twice := index[key]; twice {
			n.items[i] = value
			continue
		}
		index[key] = len(n.keys)
		n.keys = append(n.keys, key)
		n.items = append(n.items, value)
	}
	return n
}

func (e *evaluator) member(p js.Property, path string) (string, *node) {
	name := nameOf(p)
	if p.Spread || name == nil || name.IsComputed() {
		what := "has a computed key"
		if p.Spread {
			what = "is spread from another value"
		}
		return fmt.Sprintf("[%d]", e.at), e.bad(path, what)
	}
	key := e.key(name.Literal)
	at := path + "." + key
	switch {
	case key == "__proto__":
		return key, e.bad(at, "sets a prototype")
	case p.Init != nil:
		return key, e.bad(at, "is no literal")
	}
	value := e.value(p.Value, at)
	return key, value
}

// nameOf is the name of a member; nil: it has none. A method has its own.
func nameOf(p js.Property) *js.PropertyName {
	if method, ok := p.Value.(*js.MethodDecl); ok && method.Name.Private == nil {
		return &method.Name.PropertyName
	}
	return p.Name
}

// key is the name of a member. The parser strips the quotes where the rest
// could be a name or a number: then the text counts as it stands.
func (e *evaluator) key(l js.LiteralExpr) string {
	at := e.seen(l.Data)
	quoted := at > 0 && at < len(e.m.source) && (e.m.source[at-1] == '"' || e.m.source[at-1] == '\'')
	switch {
	case l.TokenType == js.StringToken:
		return unquote(l.Data[1 : len(l.Data)-1])
	case js.IsNumeric(l.TokenType) && !quoted:
		if text, ok := numberText(string(l.Data)); ok {
			return text
		}
	}
	return unquote(l.Data)
}

func (e *evaluator) unary(x *js.UnaryExpr, path string) *node {
	if x.Op != js.NegToken && x.Op != js.PosToken {
		e.value(x.X, path)
		return e.bad(path, "is no literal: an operator")
	}
	n := e.value(x.X, path)
	if !n.is(numberKind) {
		if n.is(invalidKind) {
			return n
		}
		return e.bad(path, "is no literal: a sign before "+n.kind.String())
	}
	if x.Op == js.NegToken {
		n.text = negate(n.text)
	}
	return n
}

func (e *evaluator) template(x *js.TemplateExpr, path string) *node {
	e.seen(x.Tail)
	if x.Tag != nil || len(x.List) > 0 || len(x.Tail) < 2 {
		return e.bad(path, "is no literal: a template with expressions")
	}
	return &node{kind: stringKind, text: unquote(normalBreaks(x.Tail[1 : len(x.Tail)-1])), at: e.at}
}

// call allows one thing that real files do: JSON.stringify of a literal.
func (e *evaluator) call(x *js.CallExpr, path string) *node {
	dot, ok := x.X.(*js.DotExpr)
	if !ok || dot.X.String() != "JSON" || dot.Y.String() != "stringify" || len(x.Args.List) != 1 || x.Args.List[0].Rest {
		return e.bad(path, "is no literal: a call")
	}
	if v, ok := dot.X.(*js.Var); ok {
		e.seen(v.Data)
	}
	at := e.at
	if !e.lax {
		return e.bad(path, "is no literal: a call of JSON.stringify")
	}
	n := e.value(x.Args.List[0].Value, path)
	if !n.valid() {
		return n
	}
	e.laxed(at, path)
	return &node{kind: stringKind, text: string(n.appendJSON(nil)), at: at}
}
