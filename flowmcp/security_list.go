package flowmcp

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// listScan reports the code in the file of a shared list, which must hold a
// table and nothing else. Nothing of it is run here: what stands outside the
// table costs the list by the letter only.
type listScan struct{ *scan }

// Enter looks at one node.
func (s *listScan) Enter(n js.INode) js.IVisitor {
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

func (s *listScan) function(async bool, code, what string) {
	if async {
		code, what = "SEC202", what+" with async"
	}
	s.code(code, what)
}

// code reports code. What the table holds was reported when it was read.
func (s *listScan) code(code, what string) {
	if !s.once(code, s.at) {
		return
	}
	line := s.c.m.line(s.at)
	i := slices.IndexFunc(s.c.findings, func(f Finding) bool { return f.Code == "SEC019" && f.Line == line })
	if i >= 0 {
		s.c.findings[i].Code, s.c.findings[i].Message = code, "holds "+what
		return
	}
	s.c.add(s.at, Finding{Code: code, Severity: s.c.or(Warning), Path: "file", Message: "holds " + what})
}

// listCode is the code for a file that names a list with these findings.
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
