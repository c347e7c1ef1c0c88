// Package ecmaregexp runs the regular expressions of ECMA-262 as JSON Schema
// uses them: with the u flag and no other, unanchored.
//
// A pattern is parsed by the grammar of the language. If it is regular in the
// formal sense, it is translated to RE2, with every set of characters as
// defined by ECMA-262, and runs in linear time. Look-around, back references
// and repeats too large for RE2 run in a backtracking matcher that counts its
// steps, so that the caller's budget bounds it, not a clock.
//
// It does not know schemas. The validator calls it for pattern and
// patternProperties. Texts are UTF-8.
package ecmaregexp

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
)

const (
	// MaxSize bounds a pattern, counted in instructions and ranges of
	// characters: few bytes can ask for very many.
	MaxSize = 20_000
	// longest is the length in bytes of the longest accepted pattern.
	longest = 64 << 10
)

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	Source string // as given to Compile
	Size   int    // in instructions and ranges of characters

	re   *regexp.Regexp
	prog *program // where RE2 cannot run it
}

// Error is the reason why a pattern cannot be run.
type Error struct {
	Offset  int // in bytes, from 0
	Message string
}

// Error formats e as "offset N: what".
func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Message) }

// Compile compiles a pattern. Beyond the grammar of the u flag it accepts
// unambiguous syntax of the grammar without flags (ECMA-262, annex B): escapes
// of punctuation, and literal braces and brackets.
func Compile(src string) (*Pattern, error) {
	n, groups, err := parse(src)
	if err != nil {
		return nil, err
	}
	p := &Pattern{Source: src, Size: n.size()}
	if n.regular() && p.Size <= MaxSize {
		text := string(n.appendRE2(nil))
		if _, err := syntax.Parse(text, syntax.Perl); err == nil {
			p.re, err = regexp.Compile(text)
			if err == nil {
				return p, nil
			}
		}
	}
	if p.Size = n.steps(); p.Size > MaxSize {
		return nil, &Error{Message: "too large"}
	}
	p.prog = newProgram(n, groups)
	return p, nil
}

// Valid reports whether Compile accepts a pattern.
func Valid(src string) bool {
	n, _, err := parse(src)
	return err == nil && n.steps() <= MaxSize
}

// FromRE2 compiles a pattern in the syntax of RE2.
func FromRE2(src string) (*Pattern, error) {
	size, err := SizeRE2(src)
	if err != nil {
		return nil, err
	}
	p := &Pattern{Source: src, Size: size}
	if p.Size > MaxSize {
		return nil, &Error{Message: "too large"}
	}
	p.re, err = regexp.Compile(src)
	return p, err
}

// SizeRE2 returns the size of a pattern in the syntax of RE2.
func SizeRE2(src string) (int, error) {
	tree, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return sizeRE2(tree), nil
}

// Linear reports whether matching takes time linear in the text.
func (p *Pattern) Linear() bool { return p.re != nil }

// Match reports whether the pattern matches somewhere in text. It subtracts the
// cost from left; done is false if that is not enough.
func (p *Pattern) Match(text []byte, left *int) (matched, done bool) {
	if p.re != nil {
		if *left -= len(text) * (1 + p.Size/16); *left < 0 {
			return false, false
		}
		return p.re.Match(text), true
	}
	return p.prog.match(text, left)
}

// sizeRE2 estimates the size of a compiled pattern of RE2.
func sizeRE2(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+sizeRE2(sub), 2*MaxSize)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1), 2*MaxSize)
	}
	return n
}

// kind is what a term of a pattern is.
type kind uint8

const (
	kindCat    kind = iota // concatenation; without sub: the empty text
	kindAlt                // alternation
	kindSet                // one character
	kindGroup              // capturing group
	kindRepeat             // sub[0] from min to max times
	kindBegin
	kindEnd
	kindEdge    // \b
	kindNotEdge // \B
	kindLook    // look-ahead or look-behind of sub[0]
	kindBack    // back reference
)

// term is a part of a pattern.
type term struct {
	kind     kind
	sub      []*term
	set      set
	group    int // of kindGroup and kindBack
	name     string
	min, max int // of kindRepeat; max < 0: no limit
	lazy     bool
	behind   bool // of kindLook
	negative bool
	from, to int // of kindRepeat: the groups in it
}

// regular reports whether RE2 supports everything that a pattern uses.
func (t *term) regular() bool {
	if t.kind == kindLook || t.kind == kindBack {
		return false
	}
	return !slices.ContainsFunc(t.sub, func(s *term) bool { return !s.regular() })
}

// steps is size without the repeats, which the backtracking matcher counts at
// run time.
func (t *term) steps() int {
	n := 1 + len(t.set)
	for _, s := range t.sub {
		n += s.steps()
	}
	return n
}

// size estimates the size of a pattern compiled for RE2, which expands repeats.
func (t *term) size() int {
	n := 1 + len(t.set)
	for _, s := range t.sub {
		n = min(n+s.size(), 2*MaxSize)
	}
	if t.kind == kindRepeat {
		n = min(n*min(max(t.min, t.max, 1), MaxSize), 2*MaxSize)
	}
	return n
}

// appendRE2 writes the term for RE2.
func (t *term) appendRE2(dst []byte) []byte {
	switch t.kind {
	case kindCat:
		for _, s := range t.sub {
			dst = s.appendRE2(dst)
		}
	case kindAlt:
		dst = append(dst, "(?:"...)
		for i, s := range t.sub {
			if i > 0 {
				dst = append(dst, '|')
			}
			dst = s.appendRE2(dst)
		}
		dst = append(dst, ')')
	case kindSet:
		dst = t.set.appendRE2(dst)
	case kindGroup:
		dst = append(t.sub[0].appendRE2(append(dst, "(?:"...)), ')')
	case kindRepeat:
		dst = append(t.sub[0].appendRE2(append(dst, "(?:"...)), ')')
		switch {
		case t.max < 0:
			dst = fmt.Appendf(dst, "{%d,}", t.min)
		default:
			dst = fmt.Appendf(dst, "{%d,%d}", t.min, t.max)
		}
	case kindBegin:
		dst = append(dst, `\A`...)
	case kindEnd:
		dst = append(dst, `\z`...)
	case kindEdge:
		dst = append(dst, `\b`...)
	case kindNotEdge:
		dst = append(dst, `\B`...)
	case kindLook, kindBack:
	}
	return dst
}
