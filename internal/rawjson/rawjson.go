// Package rawjson works on JSON as bytes: it finds, checks and rewrites values
// without ever decoding a document into Go values. The text of numbers, the
// order of members and the escapes of strings are kept.
//
// It does not know what the JSON means: no schemas, no protocol, no Go types.
// It follows RFC 8259 and accepts nothing beyond it.
//
// Both paths use it: descriptions are read through a [Doc], and the bytes of a
// call are checked and spliced by the functions of the package.
package rawjson

import (
	"bytes"
	"fmt"
)

// MaxDepth is how deep arrays and objects may nest. Deeper input is rejected as
// a syntax error: it has no use and costs stack.
const MaxDepth = 1000

// SyntaxError is the error of invalid JSON.
type SyntaxError struct {
	Offset  int    // in bytes, from 0
	Message string // what is wrong there, in a few lower-case words
}

// Error formats e as "offset N: what".
func (e *SyntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Message) }

// Position converts an offset into a line and a column, both counted from 1,
// the column in bytes. An offset beyond src means its end.
func Position(src []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(src)))
	before := src[:offset]
	return bytes.Count(before, []byte{'\n'}) + 1, offset - bytes.LastIndexByte(before, '\n')
}
