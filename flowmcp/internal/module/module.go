package flowmcp

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// maxFile bounds a schema file or shared list. The largest public one has
// 154 KB. The parser bounds how deep statements and expressions nest.
const maxFile = 2 << 20

// module is the syntax tree of one file. Nothing of it is ever executed.
type module struct {
	source []byte
	ast    *js.AST
	lines  []int // offsets of the lines' first bytes
}

// syntaxError says where a file is no ECMAScript module.
type syntaxError struct {
	line int
	what string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.what) }

// parseModule reads source. The module keeps a copy of it, because the tree's
// texts are parts of the bytes.
func parseModule(source []byte) (m *module, err error) {
	if len(source) > maxFile {
		return nil, &syntaxError{1, fmt.Sprintf("the file is larger than %d bytes", maxFile)}
	}
	if i := slices.Index(source, 0); i >= 0 {
		return nil, &syntaxError{1 + strings.Count(string(source[:i]), "\n"), "a byte 0 stands in the file"}
	}
	source = egress.ToValidUTF8(source)
	m = &module{source: append(make([]byte, 0, len(source)+1), source...), lines: []int{0}}
	for i, b := range source {
		if b == '\n' {
			m.lines = append(m.lines, i+1)
		}
	}
	defer func() {
		if p := recover(); p != nil { // the parser has none that we know; foreign bytes must not end the process
			m, err = nil, &syntaxError{1, "the file cannot be parsed"}
		}
	}()
	m.ast, err = js.Parse(parse.NewInputBytes(m.source), js.Options{})
	if err != nil {
		return nil, asSyntaxError(err)
	}
	return m, nil
}

func asSyntaxError(err error) *syntaxError {
	if at, ok := errors.AsType[*parse.Error](err); ok {
		return &syntaxError{at.Line, at.Message}
	}
	return &syntaxError{1, err.Error()}
}

// offset is where a token's bytes stand in the file; -1: they are not from it.
// The tree has no positions, but its texts are parts of the source.
func (m *module) offset(token []byte) int {
	if len(token) == 0 {
		return -1
	}
	at := int(reflect.ValueOf(token).Pointer()) - int(reflect.ValueOf(m.source).Pointer())
	if at < 0 || at >= len(m.source) {
		return -1
	}
	return at
}

// line is the line of an offset, counted from 1.
func (m *module) line(at int) int {
	if m == nil || at < 0 {
		return 0
	}
	return sort.SearchInts(m.lines, at+1)
}

// exported finds the value that is exported under name, in a declaration or a
// list, and where its name stands. A function may be a declaration.
func (m *module) exported(name string) (value js.INode, at int) {
	local := m.listed(name)
	for _, s := range m.ast.List {
		if e, ok := s.(*js.ExportStmt); ok && !e.Default && e.Module == nil {
			if v, token := declared(e.Decl, name); v != nil {
				return v, m.offset(token)
			}
		} else if local != "" {
			if v, token := declared(s, local); v != nil {
				return v, m.offset(token)
			}
		}
	}
	return nil, -1
}

// listed is the local name of what an export list exports under name.
func (m *module) listed(name string) string {
	for _, s := range m.ast.List {
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

// declared returns the value that decl gives to name, and the name's token.
func declared(decl js.INode, name string) (value js.INode, token []byte) {
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
