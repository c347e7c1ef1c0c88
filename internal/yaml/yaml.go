// Package yaml turns a YAML document into JSON bytes and remembers from which
// line each of them came.
//
// It does not know what the document describes, and it decodes nothing into
// Go values. What one could lose on the way stays: the order of mappings, the
// text of numbers, the text of keys.
//
// It stands at the very beginning of the path of a description: behind it
// there is only JSON. It is the one room that knows the YAML library.
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

// MaxSize is the number of bytes that a document may have. The library needs
// some ten times as much memory as its input has bytes.
const MaxSize = 64 << 20

// Error says what is wrong with a document, and where.
type Error struct {
	Line int // from 1
	What string
}

// Error formats e as "line N: what".
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Result is a document as JSON.
type Result struct {
	JSON  []byte // one value, without white space and without duplicate keys
	Notes []Note // what was lost, at most 100

	marks []mark // sorted by offset
}

// Note is something in the document that the JSON does not show.
type Note struct {
	Line int // from 1
	What string
}

// mark says that the JSON from offset on, up to the next mark, comes from line.
type mark struct{ offset, line int }

// Line returns the line, from 1, that the JSON at the offset comes from. What
// was taken over by an alias or a merge key has the line where it was written.
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

// ToJSON reads a YAML stream of one document as the core schema of YAML 1.2
// has it, with two differences that descriptions need. Keys are always text:
// `200:` is "200". And a plain scalar is a number only where its text is a
// number of JSON: octal and hexadecimal numbers, infinities and dates are
// strings. on, off, yes and no are strings too.
//
// Of duplicate keys the last one counts, with a note. Nesting is limited to
// [rawjson.MaxDepth], and what aliases expand to in proportion to the size.
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

// checkUTF8 refuses bytes that are not UTF-8: the library does, but in line 1.
// UTF-16 begins with its byte order mark and is left to the library.
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

// loadError puts an error of the library into our words.
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

// depthError is where the nesting passes what JSON readers take.
func depthError(n *yaml.Node) error {
	return &Error{max(1, n.Line), fmt.Sprintf("nested deeper than %d, or an alias inside itself", rawjson.MaxDepth)}
}

// aliasError is where aliases have grown the document out of proportion.
func aliasError(n *yaml.Node) error {
	return &Error{max(1, n.Line), "aliases expand to too much"}
}
