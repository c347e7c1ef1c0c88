package rawjson

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// WithoutMark returns text without the byte order mark that some services and
// editors put in front of JSON. A parser may ignore it (RFC 8259 §8.1).
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// Check reports whether src is JSON that every parser interprets in the same
// way: one value of RFC 8259, valid UTF-8, nested at most [MaxDepth] deep, no
// escape of a lone surrogate, no duplicate keys, no number beyond the range of
// a double (the rules of I-JSON, RFC 7493). The error is a *[SyntaxError].
func Check(src []byte) error {
	return check(src, checker{strict: true})
}

// checkSyntax reports whether [Parse] accepts src.
func checkSyntax(src []byte) error { return check(src, checker{}) }

func check(src []byte, c checker) error {
	if uint64(len(src)) >= math.MaxUint32 {
		return &SyntaxError{Offset: len(src), Message: "larger than 4 GiB"}
	}
	c.src = src
	if c.space(); !c.value() || !c.end() {
		return c.err
	}
	return nil
}

// checker reads a value and keeps only the keys of the open objects: the first
// few in an array, so that ordinary input allocates nothing.
type checker struct {
	lexer
	strict bool
	count  int
	few    [64]token
	many   []token // replaces few once it is full
}

// keys returns the keys that were kept.
func (c *checker) keys() []token {
	if c.many != nil {
		return c.many[:c.count]
	}
	return c.few[:c.count]
}

// keep adds a key.
func (c *checker) keep(t token) {
	switch {
	case c.many != nil:
		c.many = append(c.many[:c.count], t)
	case c.count == len(c.few):
		c.many = append(append(make([]token, 0, 4*len(c.few)), c.few[:]...), t)
	default:
		c.few[c.count] = t
	}
	c.count++
}

func (c *checker) value() bool {
	switch c.peek() {
	case '"':
		t, ok := c.text()
		return ok && c.strictText(t)
	case '{':
		return c.object()
	case '[':
		return c.array()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		start := c.pos
		return c.number() && c.strictNumber(start)
	}
	return c.unexpected("a value")
}

func (c *checker) object() bool {
	if !c.enter() {
		return false
	}
	if c.space(); c.peek() == '}' {
		return c.leave()
	}
	for base := c.count; ; {
		if !c.key(base) || !c.value() {
			return false
		}
		c.space()
		switch c.peek() {
		case ',':
			c.pos++
			c.space()
		case '}':
			return c.unique(base) && c.leave()
		default:
			return c.unexpected("a comma or a closing brace")
		}
	}
}

// key reads a key with its colon. The keys of the same object begin at base.
func (c *checker) key(base int) bool {
	if c.peek() != '"' {
		return c.unexpected("a key")
	}
	t, ok := c.text()
	if !ok || !c.strictText(t) {
		return false
	}
	if c.space(); c.peek() != ':' {
		return c.unexpected("a colon")
	}
	c.pos++
	c.space()
	if !c.strict {
		return true
	}
	if c.count-base < scanLimit {
		for _, other := range c.keys()[base:] {
			if c.same(other, t) {
				return c.fail(int(t.start)-1, "duplicate key")
			}
		}
	}
	c.keep(t)
	return true
}

// unique finds duplicates in a big object, whose keys were not compared one by
// one, and removes its keys.
func (c *checker) unique(base int) bool {
	keys := c.keys()[base:]
	c.count = base
	if len(keys) <= scanLimit {
		return true
	}
	slices.SortFunc(keys, func(a, b token) int {
		return cmp.Or(bytes.Compare(c.plain(a), c.plain(b)), cmp.Compare(a.start, b.start))
	})
	for i := 1; i < len(keys); i++ {
		if c.same(keys[i-1], keys[i]) {
			return c.fail(int(keys[i].start)-1, "duplicate key")
		}
	}
	return true
}

func (c *checker) array() bool {
	if !c.enter() {
		return false
	}
	if c.space(); c.peek() == ']' {
		return c.leave()
	}
	for {
		if !c.value() {
			return false
		}
		c.space()
		switch c.peek() {
		case ',':
			c.pos++
			c.space()
		case ']':
			return c.leave()
		default:
			return c.unexpected("a comma or a closing bracket")
		}
	}
}

// same reports whether two keys are the same string.
func (c *checker) same(a, b token) bool {
	if a.escaped || b.escaped {
		return bytes.Equal(c.plain(a), c.plain(b))
	}
	return a.end-a.start == b.end-b.start && bytes.Equal(c.src[a.start:a.end], c.src[b.start:b.end])
}

// plain returns an unescaped key.
func (c *checker) plain(t token) []byte {
	b := c.src[t.start:t.end]
	if t.escaped {
		return AppendUnescaped(nil, b)
	}
	return b
}

// strictText rejects escapes of lone surrogates.
func (c *checker) strictText(t token) bool {
	if !c.strict || !t.escaped {
		return true
	}
	b := c.src[t.start:t.end]
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			i++
			continue
		}
		n := 2
		if b[i+1] == 'u' {
			first, _ := hex4(b[i+2:])
			var r rune
			if r, n = codePoint(b[i:]); r == utf8.RuneError && utf16.IsSurrogate(first) {
				return c.fail(int(t.start)+i, "half of a surrogate pair")
			}
		}
		i += n
	}
	return true
}

// strictNumber rejects what a double cannot hold. The largest has 309 digits,
// so a short number without an exponent need not be parsed.
func (c *checker) strictNumber(start int) bool {
	text := c.src[start:c.pos]
	if !c.strict || len(text) < 309 && bytes.IndexByte(text, 'e') < 0 && bytes.IndexByte(text, 'E') < 0 {
		return true
	}
	if _, err := strconv.ParseFloat(string(text), 64); err != nil {
		return c.fail(start, "number beyond the range of a double")
	}
	return true
}
