package flowmcp

import (
	"slices"
	"strings"
)

// checkTool reads a tool's parameters and keeps its rules.
func (c *checker) checkTool(f *file, t *route, n *node, path string) {
	if !camelPattern.MatchString(t.name) {
		c.loose("VAL030", n, path, "the name is not camelCase")
	}
	n.members(func(key string, value *node) {
		switch key {
		case "method", "path", "description", "parameters", "output", "preload", "tests", "meta", "headers":
		case "async":
			c.info("VAL037", value, path+".async", "is reserved and ignored")
		default:
			c.warn("VAL076", value, path+"."+key, "is not a field of the format")
		}
	})
	if !slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, t.method) {
		c.fault("VAL032", orElse(n.get("method"), n), path+".method", "must be GET, POST, PUT or DELETE")
	}
	switch p := n.get("path"); {
	case !p.is(stringKind):
		c.fault("VAL033", orElse(p, n), path+".path", "must be a string")
	case !strings.HasPrefix(p.text, "/") && p.text != "":
		c.loose("VAL033", p, path+".path", "must start with /")
	}
	if t.text == "" {
		c.fault("VAL034", orElse(n.get("description"), n), path+".description", "is missing or no string")
	}
	c.readParameters(t, n, path)
	t.more = !c.strict && givesMore(t, n)
	c.checkPath(f, t, n, path)
	c.checkOutput(n, path+".output")
	c.checkPreload(t, n.get("preload"), path+".preload")
	if t.meta.there() {
		c.checkMeta(t.meta, path+".meta")
	} else {
		c.letter("VAL100", n, path+".meta", "is missing")
	}
	if c.tests {
		c.checkTests(t, n, path+".tests", toolCases())
	}
	if root := f.main.get("root"); root.is(stringKind) && root.text == "" && !t.handled {
		c.fault("VAL015", root, path, "has neither a root nor a handler to make its request")
	}
}

// readParameters reads the parameters of a tool.
func (c *checker) readParameters(t *route, n *node, path string) {
	list := n.get("parameters")
	if !list.is(arrayKind) {
		c.fault("VAL035", orElse(list, n), path+".parameters", "must be an array")
		return
	}
	t.asks = asks(t, list)
	for i, p := range list.items {
		if read := c.readParameter(t, p, index(path+".parameters", i)); read != nil {
			t.parameters = append(t.parameters, read)
			if read.in == inBody && (t.method == "GET" || t.method == "DELETE") {
				c.dropped("VAL083", p, t, read.where, "a "+t.method+" request has no body")
			}
		}
	}
}

// givesMore reports whether the tool's own test cases give what it does not
// declare. Where they do, handlers read it, or nobody minds: refusing it would
// refuse what the file shows as its use.
func givesMore(t *route, n *node) bool {
	for _, test := range n.get("tests").list() {
		for _, key := range test.keysOrNone() {
			declared := slices.ContainsFunc(t.parameters, func(p *parameter) bool { return slices.Contains(p.arguments(), key) })
			if key != "_description" && !declared {
				return true
			}
		}
	}
	return false
}

// checkPath compares the placeholders of the path with the parameters.
func (c *checker) checkPath(f *file, t *route, n *node, path string) {
	at := n.get("path")
	used := map[string]bool{}
	t.pieces = splitPath(f.main.get("root").str()+t.path, t, f.server)
	for _, p := range t.pieces {
		switch {
		case p.kind == userPiece:
			used[p.text] = true
			if !p.braces {
				c.letter("VAL089", at, path+".path", "writes :%s or {%s} for {{%s}}", p.text, p.text, p.text)
			}
		case p.kind == serverPiece:
			c.letter("VAL086", at, path+".path", "names the server parameter %s in the path", p.text)
		case p.unresolved:
			c.at(at, "VAL084", c.or(handledOr(t, Fatal)), path+".path", "the placeholder "+p.text+" has no insert parameter")
		}
	}
	if len(f.server) > 0 && t.choosesHome() {
		c.warn("SEC106", at, path+".path", "an argument with free text stands in the host of root, and so chooses who gets a server parameter: such calls are refused; an enum, or --auth-origin, says which hosts may")
	}
	for _, p := range t.parameters {
		if p.in == inInsert && !used[p.key] {
			c.dropped("VAL050", at, t, p.where, "the path has no place for "+p.key)
		}
	}
}

// dropped is a parameter that the request has no place for. A handler gets it
// anyway, and may do with it what it wants.
func (c *checker) dropped(code string, at *node, t *route, path, what string) {
	if t.handled {
		c.letter(code, at, path, "%s; its handlers get it", what)
		return
	}
	c.loose(code, at, path, "%s, and it is sent nowhere", what)
}

// handledOr lets a finding be a warning where a handler may repair it.
func handledOr(t *route, s Severity) Severity {
	if t.handled {
		return Warning
	}
	return s
}

// checkPreload keeps the rules of the cache block.
func (c *checker) checkPreload(t *route, n *node, path string) {
	if !n.there() {
		return
	}
	if !n.is(objectKind) {
		c.loose("PRL001", n, path, "must be a plain object")
		return
	}
	if !n.get("enabled").is(boolKind) {
		c.loose("PRL002", orElse(n.get("enabled"), n), path+".enabled", "must be a boolean")
	}
	if ttl := n.get("ttl"); !ttl.is(numberKind) || strings.ContainsAny(ttl.text, "-.e") || ttl.text == "0" {
		c.loose("PRL003", orElse(ttl, n), path+".ttl", "must be a positive integer")
	}
	if d := n.get("description"); d.there() && !d.is(stringKind) {
		c.warn("PRL004", d, path+".description", "must be a string")
	}
	asked, required := false, false
	for _, p := range t.parameters {
		asked = asked || p.user()
		required = required || p.user() && !p.z.optional
	}
	switch {
	case !n.get("enabled").yes():
	case !asked:
		c.info("PRL005", n, path, "the tool takes no arguments, so that one answer is kept for all calls")
	case required && n.get("description").str() == "":
		c.advise("PRL006", n, path+".description", "does not say how the answers of a tool with required arguments are kept: one for each set of arguments")
	}
}

// checkMeta keeps the rules of the MCP block.
func (c *checker) checkMeta(n *node, path string) {
	if !n.is(objectKind) {
		c.loose("VAL100", n, path, "must be a plain object")
		return
	}
	for _, rule := range [][2]string{{"VAL101", "isReadOnly"}, {"VAL102", "isConcurrencySafe"}, {"VAL103", "isDestructive"}, {"VAL106", "alwaysLoad"}} {
		if v := n.get(rule[1]); !v.is(boolKind) {
			c.loose(rule[0], orElse(v, n), path+"."+rule[1], "must be a boolean")
		}
	}
	if n.get("searchHint").str() == "" {
		c.loose("VAL104", orElse(n.get("searchHint"), n), path+".searchHint", "must be a string that is not empty")
	}
	if a := n.get("aliases"); !a.is(arrayKind) || len(a.strs()) != len(a.items) {
		c.loose("VAL105", orElse(a, n), path+".aliases", "must be an array of strings")
	}
}
