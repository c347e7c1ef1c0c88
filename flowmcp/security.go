package flowmcp

import (
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// A file must not reach for anything that it was not given. The syntax tree is
// what counts: a quote in a regular expression fools a scan of the text. The
// words of the format's literal list that stand in comments, strings or longer
// names are told as information.
//
// This is defence in depth. What contains a handler is the engine, which has
// none of these things.

// forbiddenName is the code for a free name that is forbidden.
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

// literalPatterns is the format's list for a scan of the raw text.
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

// scan walks the syntax tree and reports what a file must not use.
type scan struct {
	c    *checker
	at   int
	seen map[[2]int]bool // code's number and line: one report each
}

func (c *checker) checkSecurity() {
	s := &scan{c: c, seen: map[[2]int]bool{}}
	js.Walk(s, c.m.ast)
	s.literals()
	if c.list {
		js.Walk(&listScan{scan: s}, c.m.ast)
	}
}

// Enter looks at one node.
func (s *scan) Enter(n js.INode) js.IVisitor {
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
			s.hit("SEC001", s.c.or(Warning), "a dynamic import")
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
			s.hit("SEC004", s.c.or(Warning), "the member constructor, which leads to Function")
		}
	case *js.IndexExpr:
		if y, ok := n.Y.(*js.LiteralExpr); ok && y.TokenType == js.StringToken && unquote(y.Data[1:len(y.Data)-1]) == "constructor" {
			s.place(y.Data)
			s.hit("SEC004", s.c.or(Warning), "the member constructor, which leads to Function")
		}
	}
	return s
}

// Exit does nothing: it makes scan a visitor.
func (s *scan) Exit(js.INode) {}

// free is the name of a variable that nothing in the file declares.
func free(v *js.Var) string {
	for v.Link != nil {
		v = v.Link
	}
	if v.Decl != js.NoDecl {
		return ""
	}
	return unquote(v.Data)
}

func (s *scan) name(v *js.Var) {
	s.place(v.Data)
	name := free(v)
	code := forbiddenName(name)
	if code == "" {
		return
	}
	severity := Fatal
	switch code {
	case "SEC100", "SEC015", "SEC016": // the reference lets them pass and real files use them
		severity = s.c.or(Warning)
	}
	s.hit(code, severity, "the global "+name)
}

func (s *scan) place(token []byte) {
	if at := s.c.m.offset(token); at >= 0 {
		s.at = at
	}
}

func (s *scan) hit(code string, severity Severity, what string) {
	if s.c.list {
		what, code = what+" ("+code+")", "SEC204"
	}
	if s.once(code, s.at) {
		s.c.add(s.at, Finding{Code: code, Severity: severity, Path: "file", Message: "uses " + what})
	}
}

func (s *scan) once(code string, at int) bool {
	number := 0
	for _, digit := range code[3:] {
		number = number*10 + int(digit-'0')
	}
	key := [2]int{number, s.c.m.line(at)}
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	return true
}

// literals tells the hits of the literal list that are no use of the thing.
func (s *scan) literals() {
	text := string(s.c.m.source)
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
				s.c.add(from+i, Finding{Code: code, Severity: Info, Path: "file", Message: "the words " + strconv.Quote(p[0]) + " stand in a comment, a string or a longer name"})
			}
			from += i + len(p[0])
		}
	}
}
