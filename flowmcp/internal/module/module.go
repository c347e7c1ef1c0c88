// Package module parses ECMAScript modules and evaluates the pure data in them.
//
// It does not know schema files, their rules or their findings: it reports what
// is not a literal to a func of the caller. It executes no code.
//
// It is the first step of reading a FlowMCP file: bytes → [Module] → [Node].
package module

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/internal/charset"
)

// MaxFile limits a schema file or shared list. The largest public one has 154
// KB. The parser limits the nesting of statements and expressions.
const MaxFile = 2 << 20

// Module is the syntax tree of one file. It is never executed.
type Module struct {
	Source []byte
	AST    *js.AST
	lines  []int // offsets of line starts
}

// SyntaxError reports why a file is not a valid ECMAScript module.
type SyntaxError struct {
	Line    int
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Parse parses source. The module keeps a copy, because tokens of the
// tree are slices of it.
func Parse(source []byte) (m *Module, err error) {
	if len(source) > MaxFile {
		return nil, &SyntaxError{1, fmt.Sprintf("the file is larger than %d bytes", MaxFile)}
	}
	if i := slices.Index(source, 0); i >= 0 {
		return nil, &SyntaxError{1 + strings.Count(string(source[:i]), "\n"), "the file contains a NUL byte"}
	}
	source = charset.ToValidUTF8(source)
	m = &Module{Source: append(make([]byte, 0, len(source)+1), source...), lines: []int{0}}
	for i, b := range source {
		if b == '\n' {
			m.lines = append(m.lines, i+1)
		}
	}
	defer func() {
		if p := recover(); p != nil { // no panic of the parser is known; untrusted bytes must not end the process
			m, err = nil, &SyntaxError{1, "the file cannot be parsed"}
		}
	}()
	m.AST, err = js.Parse(parse.NewInputBytes(m.Source), js.Options{})
	if err != nil {
		return nil, asSyntaxError(err)
	}
	return m, nil
}

func asSyntaxError(err error) *SyntaxError {
	if at, ok := errors.AsType[*parse.Error](err); ok {
		return &SyntaxError{at.Line, at.Message}
	}
	return &SyntaxError{1, err.Error()}
}

// Offset returns the offset of a token in the file, or -1 for tokens from
// elsewhere. The tree has no positions, but its tokens are slices of the
// source.
func (m *Module) Offset(token []byte) int {
	if len(token) == 0 {
		return -1
	}
	at := int(reflect.ValueOf(token).Pointer()) - int(reflect.ValueOf(m.Source).Pointer())
	if at < 0 || at >= len(m.Source) {
		return -1
	}
	return at
}

// Line returns the line of an offset, starting at 1.
func (m *Module) Line(at int) int {
	if m == nil || at < 0 {
		return 0
	}
	return sort.SearchInts(m.lines, at+1)
}

// Export returns the value that is exported under name, in a declaration or
// an export list, and the offset of its name. A function can be a declaration.
func (m *Module) Export(name string) (value js.INode, at int) {
	local := m.listed(name)
	for _, s := range m.AST.List {
		if e, ok := s.(*js.ExportStmt); ok && !e.Default && e.Module == nil {
			if v, token := Declared(e.Decl, name); v != nil {
				return v, m.Offset(token)
			}
		} else if local != "" {
			if v, token := Declared(s, local); v != nil {
				return v, m.Offset(token)
			}
		}
	}
	return nil, -1
}

// listed returns the local name of what an export list exports under name.
func (m *Module) listed(name string) string {
	for _, s := range m.AST.List {
		e, ok := s.(*js.ExportStmt)
		if !ok || e.Module != nil {
			continue
		}
		for _, a := range e.List {
			if string(a.Binding) != name {
				continue
			}
			if a.Name != nil {
				return string(a.Name)
			}
			return name
		}
	}
	return ""
}

// Declared returns the value that decl gives to name, and the name's token.
func Declared(decl js.INode, name string) (value js.INode, token []byte) {
	switch d := decl.(type) {
	case *js.FuncDecl:
		if d.Name != nil && string(d.Name.Data) == name {
			return d, d.Name.Data
		}
	case *js.VarDecl:
		for _, b := range d.List {
			if v, ok := b.Binding.(*js.Var); ok && string(v.Data) == name && b.Default != nil {
				return b.Default, v.Data
			}
		}
	}
	return nil, nil
}
