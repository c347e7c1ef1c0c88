package jsonpath

import (
	"bytes"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// expr is a logical expression of a filter.
type expr any

type (
	either  struct{ list []expr } // ||
	both    struct{ list []expr } // &&
	not     struct{ of expr }
	exists  struct{ query query }
	compare struct {
		left, right operand
		op          string
	}
	test struct{ call call } // a function with a logical result
)

// query is a path inside of a filter.
type query struct {
	fromRoot bool // "$"; else "@"
	segments []segment
	singular bool // names and indexes only: at most one node
}

// operand is a literal, a singular query or the value of a function.
type operand struct {
	literal *literal
	query   *query
	call    *call
}

// literal is a value in the query.
type literal struct{ value value }

// call is a function extension (RFC 9535 §2.4).
type call struct {
	name string
	args []operand
	re   *regexp.Regexp // of match and search with a literal pattern
}

// value is a JSON value or, with kind Invalid, Nothing.
type value struct {
	kind rawjson.Kind
	raw  []byte // as in the source
	text string // of a string
	yes  bool
}

func (e *evaluation) holds(x expr, at rawjson.Node) bool {
	switch x := x.(type) {
	case either:
		for _, y := range x.list {
			if e.holds(y, at) {
				return true
			}
		}
		return false
	case both:
		for _, y := range x.list {
			if !e.holds(y, at) {
				return false
			}
		}
		return true
	case not:
		return !e.holds(x.of, at)
	case exists:
		return len(e.nodes(&x.query, at)) > 0
	case compare:
		return compareValues(e.value(x.left, at), e.value(x.right, at), x.op)
	case test:
		return e.matches(&x.call, at)
	}
	return false
}

func (e *evaluation) nodes(q *query, at rawjson.Node) []rawjson.Node {
	if q.fromRoot {
		at = e.root
	}
	return e.walk([]rawjson.Node{at}, q.segments)
}

func (e *evaluation) value(o operand, at rawjson.Node) value {
	switch {
	case o.literal != nil:
		return o.literal.value
	case o.query != nil:
		if nodes := e.nodes(o.query, at); len(nodes) == 1 {
			return e.valueOf(nodes[0])
		}
		return value{}
	case o.call != nil:
		return e.result(o.call, at)
	}
	return value{}
}

func (e *evaluation) valueOf(n rawjson.Node) value {
	v := value{kind: e.doc.Kind(n), raw: e.doc.Raw(n), yes: e.doc.IsTrue(n)}
	if v.kind == rawjson.String {
		v.text = e.doc.Str(n)
	}
	return v
}

// result evaluates length, count and value.
func (e *evaluation) result(c *call, at rawjson.Node) value {
	switch c.name {
	case "length":
		v := e.value(c.args[0], at)
		switch v.kind {
		case rawjson.String:
			return number(utf8.RuneCountInString(v.text))
		case rawjson.Array, rawjson.Object:
			if doc, err := rawjson.Parse(v.raw); err == nil {
				return number(doc.Len(doc.Root()))
			}
		}
		return value{}
	case "count":
		return number(len(e.nodes(c.args[0].query, at)))
	case "value":
		return e.value(c.args[0], at)
	}
	return value{}
}

func number(n int) value {
	return value{kind: rawjson.Number, raw: strconv.AppendInt(nil, int64(n), 10)}
}

// matches evaluates match and search.
func (e *evaluation) matches(c *call, at rawjson.Node) bool {
	text, pattern := e.value(c.args[0], at), e.value(c.args[1], at)
	if text.kind != rawjson.String || pattern.kind != rawjson.String {
		return false
	}
	re := c.re
	if re == nil {
		if re = compilePattern(pattern.text, c.name == "match"); re == nil {
			return false
		}
	}
	return re.MatchString(text.text)
}

// compilePattern translates an I-Regexp (RFC 9485), in which a dot matches
// anything but a line break. nil: it is invalid.
func compilePattern(text string, whole bool) *regexp.Regexp {
	var b strings.Builder
	class := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteString(text[i-1 : i+1])
		case c == '[' && !class:
			class = true
			b.WriteByte(c)
		case c == ']':
			class = false
			b.WriteByte(c)
		case c == '.' && !class:
			b.WriteString(`[^\n\r]`)
		default:
			b.WriteByte(c)
		}
	}
	text = b.String()
	if whole {
		text = "^(?:" + text + ")$"
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return re
}

// compareValues follows RFC 9535 §2.3.5.2.2.
func compareValues(a, b value, op string) bool {
	switch op {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "<":
		return less(a, b)
	case ">":
		return less(b, a)
	case "<=":
		return less(a, b) || equal(a, b)
	case ">=":
		return less(b, a) || equal(a, b)
	}
	return false
}

func equal(a, b value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case rawjson.Number:
		x, y := rational(a.raw), rational(b.raw)
		return x != nil && y != nil && x.Cmp(y) == 0
	case rawjson.String:
		return a.text == b.text
	case rawjson.Bool:
		return a.yes == b.yes
	case rawjson.Array, rawjson.Object:
		x, errX := rawjson.AppendCanonical(nil, a.raw)
		y, errY := rawjson.AppendCanonical(nil, b.raw)
		return errX == nil && errY == nil && bytes.Equal(x, y)
	}
	return true // null, or nothing on both sides
}

func less(a, b value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case rawjson.Number:
		x, y := rational(a.raw), rational(b.raw)
		return x != nil && y != nil && x.Cmp(y) < 0
	case rawjson.String:
		return a.text < b.text
	}
	return false
}

// rational parses a number exactly; nil if it has too many digits.
func rational(raw []byte) *big.Rat {
	const maxExponent = 400
	text := string(raw)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(text[i+1:])
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}
