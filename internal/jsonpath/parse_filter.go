package jsonpath

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// or reads a logical expression, the loosest binding first.
func (p *parser) or() expr {
	if p.depth++; p.depth > maxNesting {
		p.fail("the filter is nested too deeply")
		return nil
	}
	defer func() { p.depth-- }()
	list := []expr{p.and()}
	for p.more("||") {
		list = append(list, p.and())
	}
	if len(list) == 1 {
		return list[0]
	}
	return either{list}
}

func (p *parser) and() expr {
	list := []expr{p.basic()}
	for p.more("&&") {
		list = append(list, p.basic())
	}
	if len(list) == 1 {
		return list[0]
	}
	return both{list}
}

// more takes an operator with the white space around it.
func (p *parser) more(operator string) bool {
	before := p.i
	p.space()
	if p.message == "" && p.take(operator) {
		p.space()
		return true
	}
	if p.message == "" {
		p.i = before
	}
	return false
}

func (p *parser) basic() expr {
	if p.take("!") {
		p.space()
		if p.peek() == '(' {
			return not{p.parenthesis()}
		}
		return not{p.test()}
	}
	if p.peek() == '(' {
		return p.parenthesis()
	}
	return p.comparisonOrTest()
}

func (p *parser) parenthesis() expr {
	p.take("(")
	p.space()
	x := p.or()
	p.space()
	if !p.take(")") {
		p.fail(`")" is missing`)
	}
	return x
}

// test reads an existence test, or a function with a logical result.
func (p *parser) test() expr { return p.asTest(p.operand()) }

func (p *parser) asTest(o operand) expr {
	switch {
	case o.query != nil:
		return exists{*o.query}
	case o.call != nil && o.call.logical():
		return test{*o.call}
	}
	p.fail("a test is a query or a function with a logical result")
	return nil
}

func (p *parser) comparisonOrTest() expr {
	left := p.operand()
	before := p.i
	p.space()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.message != "" || !p.take(op) {
			continue
		}
		p.space()
		right := p.operand()
		if !left.comparable() || !right.comparable() {
			p.fail("only a literal, a query for one place, or the value of a function can be compared")
		}
		return compare{left, right, op}
	}
	if p.message == "" {
		p.i = before
	}
	return p.asTest(left)
}

// comparable reports whether an operand is a single value.
func (o operand) comparable() bool {
	switch {
	case o.query != nil:
		return o.query.singular
	case o.call != nil:
		return !o.call.logical()
	}
	return o.literal != nil
}

func (p *parser) operand() operand {
	if v, ok := p.literalValue(); ok {
		return operand{literal: &literal{v}}
	}
	if c := p.peek(); c == '@' || c == '$' {
		p.i++
		q := &query{fromRoot: c == '$', segments: p.segments()}
		q.singular = singular(q.segments)
		return operand{query: q}
	}
	return p.function()
}

func singular(segments []segment) bool {
	for _, s := range segments {
		if s.descend || len(s.selectors) != 1 || s.selectors[0].kind != byName && s.selectors[0].kind != byIndex {
			return false
		}
	}
	return true
}

func (c *call) logical() bool { return c.name == "match" || c.name == "search" }

// function reads a call of one of the functions of RFC 9535 §2.4 and checks the
// types of its arguments.
func (p *parser) function() operand {
	start := p.i
	for p.i < len(p.text) && (p.text[p.i] >= 'a' && p.text[p.i] <= 'z' || p.i > start && (p.text[p.i] == '_' || p.text[p.i] >= '0' && p.text[p.i] <= '9')) {
		p.i++
	}
	c := &call{name: p.text[start:p.i]}
	if c.name == "" || !p.take("(") {
		p.i = start
		p.fail("a literal, a query or a function is missing")
		return operand{}
	}
	p.space()
	for p.message == "" && p.peek() != ')' {
		c.args = append(c.args, p.operand())
		p.space()
		if p.peek() == ')' {
			break
		}
		if !p.take(",") {
			p.fail(`"," or ")" is missing`)
		}
		p.space()
	}
	p.take(")")
	p.check(c)
	return operand{call: c}
}

func (p *parser) check(c *call) {
	if p.message != "" {
		return
	}
	wants, known := map[string]string{"length": "v", "count": "n", "value": "n", "match": "vv", "search": "vv"}[c.name]
	switch {
	case !known:
		p.fail("the function " + c.name + " is not known")
		return
	case len(c.args) != len(wants):
		p.fail("the function " + c.name + " has another number of arguments")
		return
	}
	for i, a := range c.args {
		if wants[i] == 'v' && !a.comparable() || wants[i] == 'n' && a.query == nil {
			p.fail("the function " + c.name + " cannot take such an argument")
			return
		}
	}
	if l := c.args[len(c.args)-1].literal; c.logical() && l != nil && l.value.kind == rawjson.String {
		c.re = compilePattern(l.value.text, strings.HasPrefix(c.name, "match"))
	}
}
