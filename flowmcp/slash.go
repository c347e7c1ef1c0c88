package flowmcp

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// takesSlash reports whether a value of an insert parameter is a part of a path
// and not a segment: the format's reference writes every value as it is, and
// some files count on it. What the file itself shows decides: a case, a member
// of an enum, a default or a fixed value has a slash, or a pattern names one.
func (t *route) takesSlash(p *parameter) bool {
	has := func(text string) bool { return strings.Contains(text, "/") }
	if !p.user() {
		return slices.ContainsFunc(p.pieces, func(x piece) bool { return x.kind == literalPiece && has(x.text) })
	}
	for _, name := range p.arguments() {
		if slices.ContainsFunc(t.tests.list(), func(test *node) bool { return has(test.get(name).str()) }) {
			return true
		}
	}
	return slices.ContainsFunc(p.z.members, has) || has(plainText(p.z.fallback)) || slices.ContainsFunc(p.z.patterns, namesSlash)
}

// namesSlash reports whether a pattern has a slash, itself or in a class that
// lists it. A class of everything but a few, such as [^?], names none.
func namesSlash(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	var named func(re *syntax.Regexp) bool
	named = func(re *syntax.Regexp) bool {
		if re.Op == syntax.OpLiteral {
			return slices.Contains(re.Rune, '/')
		}
		return re.Op == syntax.OpCharClass && listsSlash(re.Rune) || slices.ContainsFunc(re.Sub, named)
	}
	return named(tree)
}

// listsSlash reports whether the ranges of a class have the slash, and an end.
func listsSlash(ranges []rune) bool {
	in, open := false, false
	for i := 0; i+1 < len(ranges); i += 2 {
		in = in || ranges[i] <= '/' && '/' <= ranges[i+1]
		open = open || ranges[i+1] == unicode.MaxRune
	}
	return in && !open
}
