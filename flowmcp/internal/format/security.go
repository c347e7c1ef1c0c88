package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// A file must not access anything that it was not given. Findings are based on
// the syntax tree: a quote in a regular expression would mislead a scan of the
// text. Words of the format's literal list in comments, strings or longer names
// are reported as information.
//
// This is defence in depth. The sandbox contains handlers, and the engine has
// none of these APIs.

// forbiddenName returns the code for a forbidden global, or "".
func forbiddenName(name string) string {
	switch name {
	case "require":
		return "SEC002"
	case "eval":
		return "SEC003"
	case "Function":
		return "SEC004"
	case "process":
		return "SEC006"
	case "child_process":
		return "SEC007"
	case "fs":
		return "SEC008"
	case "globalThis":
		return "SEC011"
	case "global":
		return "SEC012"
	case "__dirname":
		return "SEC013"
	case "__filename":
		return "SEC014"
	case "setTimeout":
		return "SEC015"
	case "setInterval":
		return "SEC016"
	case "fetch", "XMLHttpRequest", "WebSocket":
		return "SEC100"
	}
	return ""
}

// literalPatterns returns the format's list for a scan of the raw text.
func literalPatterns() [][2]string {
	return [][2]string{
		{"import ", "SEC001"},
		{"require(", "SEC002"},
		{"eval(", "SEC003"},
		{"Function(", "SEC004"},
		{"new Function", "SEC005"},
		{"process.", "SEC006"},
		{"child_process", "SEC007"},
		{"fs.", "SEC008"},
		{"node:fs", "SEC009"},
		{"fs/promises", "SEC010"},
		{"globalThis.", "SEC011"},
		{"global.", "SEC012"},
		{"__dirname", "SEC013"},
		{"__filename", "SEC014"},
		{"setTimeout", "SEC015"},
		{"setInterval", "SEC016"},
	}
}

// securityScan walks the syntax tree and reports forbidden constructs.
type securityScan struct {
	c    *checker
	at   int
	seen map[[2]int]bool // code's number and line: one report each
}

func (c *checker) checkSecurity() {
	s := &securityScan{c: c, seen: map[[2]int]bool{}}
	js.Walk(s, c.m.AST)
	s.literals()
	if c.list {
		js.Walk(&listCodeScan{securityScan: s}, c.m.AST)
	}
}

// Enter visits one node.
func (s *securityScan) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ImportStmt:
		s.place(n.Module)
		s.hit("SEC001", Fatal, "an import statement")
	case *js.ExportStmt:
		if n.Module != nil {
			s.place(n.Module)
			s.hit("SEC001", Fatal, "an export of another module")
		}
	case *js.ImportMetaExpr:
		s.hit("SEC001", Fatal, "import.meta")
	case *js.LiteralExpr:
		s.place(n.Data)
		if n.TokenType == js.ImportToken {
			s.hit("SEC001", s.c.strictOr(Warning), "a dynamic import")
		}
	case *js.NewExpr:
		if v, ok := n.X.(*js.Var); ok && free(v) == "Function" {
			s.place(v.Data)
			s.hit("SEC005", Fatal, "new Function")
		}
	case *js.Var:
		s.name(n)
	case *js.DotExpr:
		if y, ok := n.Y.(js.LiteralExpr); ok && string(y.Data) == "constructor" {
			s.place(y.Data)
			s.hit("SEC004", s.c.strictOr(Warning), "the member constructor, which leads to Function")
		}
	case *js.IndexExpr:
		if y, ok := n.Y.(*js.LiteralExpr); ok && y.TokenType == js.StringToken && module.Unquote(y.Data[1:len(y.Data)-1]) == "constructor" {
			s.place(y.Data)
			s.hit("SEC004", s.c.strictOr(Warning), "the member constructor, which leads to Function")
		}
	}
	return s
}

// Exit does nothing: it makes scan a visitor.
func (s *securityScan) Exit(js.INode) {}

// free returns the name of an undeclared variable, or "".
func free(v *js.Var) string {
	for v.Link != nil {
		v = v.Link
	}
	if v.Decl != js.NoDecl {
		return ""
	}
	return module.Unquote(v.Data)
}

func (s *securityScan) name(v *js.Var) {
	s.place(v.Data)
	name := free(v)
	code := forbiddenName(name)
	if code == "" {
		return
	}
	severity := Fatal
	switch code {
	case "SEC100", "SEC015", "SEC016": // allowed by the reference implementation and used by real files
		severity = s.c.strictOr(Warning)
	}
	s.hit(code, severity, "the global "+name)
}

func (s *securityScan) place(token []byte) {
	if at := s.c.m.Offset(token); at >= 0 {
		s.at = at
	}
}

func (s *securityScan) hit(code string, severity Severity, what string) {
	if s.c.list {
		what, code = what+" ("+code+")", "SEC204"
	}
	if s.once(code, s.at) {
		s.c.add(s.at, Finding{Code: code, Severity: severity, Path: "file", Message: "uses " + what})
	}
}

func (s *securityScan) once(code string, at int) bool {
	number := 0
	for _, digit := range code[3:] {
		number = number*10 + int(digit-'0')
	}
	key := [2]int{number, s.c.m.Line(at)}
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	return true
}

// literals reports matches of the literal list that are not uses.
func (s *securityScan) literals() {
	text := string(s.c.m.Source)
	for _, p := range literalPatterns() {
		for from := 0; ; {
			i := strings.Index(text[from:], p[0])
			if i < 0 || len(s.c.findings) >= maxFindings {
				break
			}
			code := p[1]
			if s.c.list {
				code = "SEC204"
			}
			if s.once(code, from+i) {
				s.c.add(from+i, Finding{Code: code, Severity: Info, Path: "file", Message: "the words " + strconv.Quote(p[0]) + " occur in a comment, a string or a longer name"})
			}
			from += i + len(p[0])
		}
	}
}

// listCodeScan reports code in the file of a shared list, which must contain only a
// table. It is never run, so code outside the table is an error in strict mode
// only.
type listCodeScan struct{ *securityScan }

// Enter visits one node.
func (s *listCodeScan) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.Var:
		s.place(n.Data)
	case *js.LiteralExpr:
		s.place(n.Data)
	case *js.PropertyName:
		s.place(n.Literal.Data)
	case *js.FuncDecl:
		s.function(n.Async, "SEC200", "a function")
	case *js.MethodDecl:
		s.place(n.Name.Literal.Data)
		s.function(n.Async, "SEC200", "a method")
	case *js.ArrowFunc:
		s.function(n.Async, "SEC201", "an arrow function")
	case *js.UnaryExpr:
		if n.Op == js.AwaitToken {
			s.code("SEC202", "await")
		}
	case *js.TemplateExpr:
		if len(n.List) > 0 {
			s.place(n.List[0].Value)
			s.code("SEC203", "a template with an expression")
		}
	}
	return s
}

func (s *listCodeScan) function(async bool, code, what string) {
	if async {
		code, what = "SEC202", what+" with async"
	}
	s.code(code, what)
}

// code reports code, unless evaluate has reported it already.
func (s *listCodeScan) code(code, what string) {
	if !s.once(code, s.at) {
		return
	}
	line := s.c.m.Line(s.at)
	i := slices.IndexFunc(s.c.findings, func(f Finding) bool { return f.Code == "SEC019" && f.Line == line })
	if i >= 0 {
		s.c.findings[i].Code, s.c.findings[i].Message = code, "holds "+what
		return
	}
	s.c.add(s.at, Finding{Code: code, Severity: s.c.strictOr(Warning), Path: "file", Message: "holds " + what})
}

// listCode returns the code for a file that uses a list with these findings.
func listCode(findings []Finding) string {
	code := "VAL072"
	for _, f := range findings {
		switch {
		case f.Severity != Fatal:
		case f.Code == "SEC204":
			return "SEC018"
		case strings.HasPrefix(f.Code, "SEC"):
			code = "SEC019"
		}
	}
	return code
}

// listsName is the name under which the factory of the handlers receives its
// shared lists.
const listsName = "sharedLists"

// checkListUse reports where handlers modify a shared list. Lists are frozen, so
// a modification throws a TypeError.
func (c *checker) checkListUse() {
	x, at := c.m.Export("handlers")
	if x == nil {
		return
	}
	s := &listScanner{securityScan: &securityScan{c: c, at: max(at, 0), seen: map[[2]int]bool{}}, parts: map[*js.Var]bool{}}
	js.Walk(s, x)
}

// listScanner follows the lists through the variables that refer to them.
type listScanner struct {
	*securityScan
	parts map[*js.Var]bool // variables that hold a list, its entries, or one entry
}

// Enter visits one node.
func (s *listScanner) Enter(n js.INode) js.IVisitor {
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

// bind records the variables that a declaration binds to a list or a part of
// one.
func (s *listScanner) bind(b js.BindingElement) {
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

// target reports an assignment to a part of a list. Assigning to the variable
// itself is allowed.
func (s *listScanner) target(x js.IExpr, how string) {
	inner, ok := objectOf(x)
	if ok && s.frozen(inner) {
		s.report(x, how)
	}
}

// objectOf returns the object of which x is a member.
func objectOf(x js.IExpr) (js.IExpr, bool) {
	switch x := x.(type) {
	case *js.GroupExpr:
		return objectOf(x.X)
	case *js.DotExpr:
		return x.X, true
	case *js.IndexExpr:
		return x.X, true
	}
	return nil, false
}

// frozen reports whether x is the lists, one list or an entry. A copy, such as
// the result of filter, is not.
func (s *listScanner) frozen(x js.IExpr) bool {
	switch x := x.(type) {
	case *js.Var:
		v := origin(x)
		return s.parts[v] || module.Unquote(v.Data) == listsName
	case *js.CallExpr:
		dot, ok := x.X.(*js.DotExpr)
		return ok && slices.Contains([]string{"find", "findLast", "at"}, memberName(dot)) && s.frozen(dot.X)
	}
	inner, ok := objectOf(x)
	return ok && s.frozen(inner)
}

// first returns the variable at the root of x, or nil.
func first(x js.IExpr) *js.Var {
	switch x := x.(type) {
	case *js.Var:
		return x
	case *js.CallExpr:
		return first(x.X)
	}
	if inner, ok := objectOf(x); ok {
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

// call reports calls of methods that modify their receiver.
func (s *listScanner) call(x *js.CallExpr) {
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

func (s *listScanner) report(x js.IExpr, how string) {
	if v := first(x); v != nil {
		s.place(v.Data)
	}
	if s.once("SEC102", s.at) {
		s.c.add(s.at, Finding{Code: "SEC102", Severity: s.c.strictOr(Warning), Path: "handlers", Message: "a shared list is frozen: this is " + how})
	}
}
