package ecmaregexp

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxGroups and maxNesting bound the groups of a pattern.
const (
	maxGroups  = 1000
	maxNesting = 200
)

// parser reads a pattern by the grammar of ECMA-262.
type parser struct {
	src     string
	i       int
	lenient bool // accept unambiguous syntax of annex B
	groups  int
	names   []string // of the groups, from 1
	depth   int
	backs   []*term
	failed  *Error
}

// parse returns the term of a pattern and its number of groups.
func parse(src string) (*term, int, error) {
	if len(src) > longest || !utf8.ValidString(src) {
		return nil, 0, &Error{Message: "too long, or not UTF-8"}
	}
	p := &parser{src: src}
	n := p.whole()
	if p.failed != nil {
		strict := p.failed
		if p = (&parser{src: src, lenient: true}); p.whole() == nil || p.failed != nil {
			return nil, 0, strict
		}
		p = &parser{src: src, lenient: true}
		n = p.whole()
	}
	return n, p.groups, nil
}

func (p *parser) whole() *term {
	n := p.alternatives()
	if p.i < len(p.src) {
		p.fail("an unmatched closing parenthesis")
	}
	for _, b := range p.backs {
		if b.name != "" {
			if b.group = slices.Index(p.names, b.name) + 1; b.group == 0 {
				p.fail("a reference to an unknown group")
			}
		}
		if b.group > p.groups {
			p.fail("a reference to an unknown group")
		}
	}
	return n
}

// fail records the first error and ends parsing.
func (p *parser) fail(what string) {
	if p.failed == nil {
		p.failed = &Error{p.i, what}
	}
	p.i = len(p.src)
}

func (p *parser) peek() byte {
	if p.i < len(p.src) {
		return p.src[p.i]
	}
	return 0
}

// accept skips text if it is next.
func (p *parser) accept(text string) bool {
	if !strings.HasPrefix(p.src[p.i:], text) {
		return false
	}
	p.i += len(text)
	return true
}

func (p *parser) alternatives() *term {
	list := []*term{p.sequence()}
	for p.accept("|") {
		list = append(list, p.sequence())
	}
	if len(list) == 1 {
		return list[0]
	}
	return &term{kind: kindAlt, sub: list}
}

func (p *parser) sequence() *term {
	n := &term{kind: kindCat}
	for p.i < len(p.src) && p.peek() != '|' && p.peek() != ')' {
		from := p.groups + 1
		t := p.term()
		if t == nil {
			return n
		}
		n.sub = append(n.sub, p.quantified(t, from))
	}
	return n
}

// term reads an assertion or an atom.
func (p *parser) term() *term {
	c := p.peek()
	switch c {
	case '^':
		p.i++
		return &term{kind: kindBegin}
	case '$':
		p.i++
		return &term{kind: kindEnd}
	case '(':
		return p.group()
	case '.':
		p.i++
		return &term{kind: kindSet, set: dot}
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.fail("nothing to repeat")
		return nil
	case '{', '}', ']':
		_, _, quantifier := p.braces()
		if !p.lenient || quantifier {
			p.fail("an unescaped bracket")
			return nil
		}
	}
	r, n := utf8.DecodeRuneInString(p.src[p.i:])
	p.i += n
	return &term{kind: kindSet, set: one(r)}
}

// quantified reads the quantifier after an atom whose groups begin at from.
func (p *parser) quantified(t *term, from int) *term {
	low, high := 0, -1
	switch c := p.peek(); c {
	case '*':
		p.i++
	case '+':
		p.i++
		low = 1
	case '?':
		p.i++
		high = 1
	case '{':
		n := 0
		var ok bool
		if low, high, ok = p.bounds(&n); !ok {
			return t
		}
		p.i += n
		if high >= 0 && low > high {
			p.fail("a repeat whose minimum exceeds its maximum")
		}
	default:
		return t
	}
	switch t.kind {
	case kindBegin, kindEnd, kindEdge, kindNotEdge:
		p.fail("an assertion cannot be repeated")
	case kindLook:
		if !p.lenient || t.behind {
			p.fail("an assertion cannot be repeated")
		}
	default:
	}
	return &term{kind: kindRepeat, sub: []*term{t}, min: low, max: high, lazy: p.accept("?"), from: from, to: p.groups}
}

func (p *parser) braces() (low, high int, ok bool) {
	n := 0
	return p.bounds(&n)
}

// bounds parses {n}, {n,} or {n,m}, of which n is the length.
func (p *parser) bounds(n *int) (low, high int, ok bool) {
	if p.peek() != '{' {
		return 0, 0, false
	}
	inside, _, closed := strings.Cut(p.src[p.i+1:], "}")
	a, b, two := strings.Cut(inside, ",")
	if !closed || !number(a) || two && b != "" && !number(b) {
		return 0, 0, false
	}
	*n = len(inside) + 2
	low = atoi(a)
	switch {
	case !two:
		high = low
	case b == "":
		high = -1
	default:
		high = atoi(b)
	}
	return low, high, true
}

func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// atoi parses a number; it caps numbers larger than any text.
func atoi(s string) int {
	const most = 1 << 30
	n, err := strconv.Atoi(s)
	if err != nil {
		return most
	}
	return min(n, most)
}

// group reads a group or assertion in parentheses.
func (p *parser) group() *term {
	if p.depth++; p.depth > maxNesting {
		p.fail("nested too deep")
		return nil
	}
	defer func() { p.depth-- }()
	n := &term{kind: kindLook}
	switch {
	case p.accept("(?:"):
		inner := p.alternatives()
		p.close()
		return &term{kind: kindCat, sub: []*term{inner}}
	case p.accept("(?="):
	case p.accept("(?!"):
		n.negative = true
	case p.accept("(?<="):
		n.behind = true
	case p.accept("(?<!"):
		n.behind, n.negative = true, true
	default:
		return p.capture()
	}
	n.sub = []*term{p.alternatives()}
	p.close()
	return n
}

func (p *parser) capture() *term {
	name := ""
	if p.accept("(?") {
		if p.peek() != '<' {
			p.fail("a group of a kind that ECMA-262 does not have")
			return nil
		}
		if name = p.name(); name == "" {
			return nil
		}
		if slices.Contains(p.names, name) {
			p.fail("duplicate group name")
		}
	} else {
		p.i++
	}
	p.groups++
	if p.groups > maxGroups {
		p.fail("too many groups")
	}
	p.names = append(p.names, name)
	n := &term{kind: kindGroup, group: p.groups}
	n.sub = []*term{p.alternatives()}
	p.close()
	return n
}

func (p *parser) close() {
	if p.failed == nil && !p.accept(")") {
		p.fail("an unclosed parenthesis")
	}
}

// name reads <name>.
func (p *parser) name() string {
	name, _, closed := strings.Cut(p.src[min(p.i+1, len(p.src)):], ">")
	if p.peek() != '<' || !closed || !identifier(name) {
		p.fail("a group needs a name")
		return ""
	}
	p.i += len(name) + 2
	return name
}

func identifier(name string) bool {
	for i, r := range name {
		if r == '$' || r == '_' || unicode.IsLetter(r) {
			continue
		}
		if i == 0 || !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}
