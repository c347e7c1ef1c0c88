// Package yaml converts a YAML document to JSON bytes and records the line of
// each of them.
//
// It does not know what the document describes, and it decodes nothing into Go
// values. It preserves the order of mappings, the text of numbers and the text
// of keys.
//
// It is at the beginning of the path of a description: after it everything is
// JSON. It is the only package that imports the YAML library.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// MaxSize is the largest size of a document in bytes. The library needs about
// ten times as much memory.
const MaxSize = 64 << 20

// Error is what is wrong with a document, and on which line.
type Error struct {
	Line    int // from 1
	Message string
}

// Error formats e as "line N: what".
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Result is a document as JSON.
type Result struct {
	JSON  []byte // one value, without white space and without duplicate keys
	Notes []Note // what was lost, at most 100

	marks []mark // sorted by offset
}

// Note is something in the document that is lost in the JSON.
type Note struct {
	Line int // from 1
	What string
}

// mark records that the JSON from offset on, up to the next mark, comes from
// line.
type mark struct{ offset, line int }

// Line returns the line, from 1, of the JSON at the offset. Values of an alias
// or a merge key have the line of their anchor.
func (r Result) Line(offset int) int {
	i, found := slices.BinarySearchFunc(r.marks, offset, func(m mark, o int) int { return m.offset - o })
	if !found {
		i--
	}
	if i < 0 {
		return 1
	}
	return r.marks[i].line
}

// ToJSON reads a YAML stream of one document by the core schema of YAML 1.2,
// with two differences that descriptions need. Keys are always text: `200:` is
// "200". And a plain scalar is a number only if its text is a JSON number:
// octal and hexadecimal numbers, infinities and dates are strings. on, off, yes
// and no are strings too.
//
// Of duplicate keys the last one applies, with a note. Nesting is limited to
// [rawjson.MaxDepth], and the expansion of aliases in proportion to the size.
// The error is an *[Error].
func ToJSON(src []byte) (Result, error) {
	if len(src) > MaxSize {
		return Result{}, &Error{1, fmt.Sprintf("a YAML document has at most %d bytes, this one %d", MaxSize, len(src))}
	}
	if err := checkUTF8(src); err != nil {
		return Result{}, err
	}
	root, err := load(src)
	if err != nil {
		return Result{}, err
	}
	lines := bytes.Count(src, []byte{'\n'}) + bytes.Count(src, []byte{'\r'}) + 1
	c := converter{budget: 20*len(src) + 1<<20, lines: lines}
	c.out.JSON = make([]byte, 0, len(src)+len(src)/4)
	if err := c.value(root, 0); err != nil {
		return Result{}, err
	}
	return c.out, nil
}

// checkUTF8 rejects bytes that are not UTF-8: the library does as well, but
// always reports line 1. UTF-16 begins with its byte order mark and is left to
// the library.
func checkUTF8(src []byte) error {
	if utf8.Valid(src) || bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return nil
	}
	line := 1
	for rest := src; ; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n <= 1 {
			return &Error{line, "not UTF-8"}
		}
		if r == '\n' {
			line++
		}
		rest = rest[n:]
	}
}

// load reads the one document of a stream.
func load(src []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		return nil, loadError(err)
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF), err == nil && (doc.Kind != yaml.DocumentNode || len(doc.Content) == 0):
		return nil, &Error{1, "the document is empty"}
	case err != nil:
		return nil, loadError(err)
	}
	switch err := loader.Load(&second); {
	case err == nil:
		return nil, &Error{max(1, second.Line), "a second document begins; there must be only one"}
	case !errors.Is(err, io.EOF):
		return nil, loadError(err)
	}
	return doc.Content[0], nil
}

// loadError translates an error of the library.
func loadError(err error) *Error {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return &Error{1, err.Error()}
	}
	what := load.Message
	if load.ContextMsg != "" {
		what += ", " + load.ContextMsg
	}
	return &Error{max(1, load.Mark.Line), what}
}

// depthError is the error for too deep nesting.
func depthError(n *yaml.Node) error {
	return &Error{max(1, n.Line), fmt.Sprintf("nested deeper than %d, or an alias inside itself", rawjson.MaxDepth)}
}

// aliasError is the error for aliases that expand the document out of
// proportion.
func aliasError(n *yaml.Node) error {
	return &Error{max(1, n.Line), "aliases expand to too much"}
}
