package flowmcp

import "bytes"

// enoughCases is how many cases the format wants for a tool.
const enoughCases = 3

// caseRules are the codes of what is wrong with test cases: queries have some
// of their own.
type caseRules struct{ none, object, value string }

func toolCases() caseRules  { return caseRules{"TST001", "TST005", "TST004"} }
func queryCases() caseRules { return caseRules{"RES011", "RES023", "RES022"} }

// checkTests compares the test cases of a tool or a query with its parameters.
func (c *checker) checkTests(t *route, n *node, path string, r caseRules) {
	tests := n.get("tests")
	switch count := len(tests.list()); {
	case tests.there() && !tests.is(arrayKind):
		c.loose(r.none, tests, path, "must be an array")
	case count == 0:
		c.loose(r.none, orElse(tests, n), path, "must hold at least one case")
	case count < enoughCases && (!t.local || len(t.parameters) > 0):
		c.info("TST001", tests, path, "should hold at least %d cases, and has %d", enoughCases, count)
	}
	for i, test := range tests.list() {
		c.checkTest(t, test, index(path, i), r)
	}
	if len(tests.list()) > 1 {
		c.checkVariety(t, tests, path)
	}
}

func (c *checker) checkTest(t *route, test *node, path string, r caseRules) {
	if !test.is(objectKind) {
		c.loose(r.object, test, path, "must be a plain object")
		return
	}
	if test.get("_description").str() == "" {
		c.warn("TST002", test, path+"._description", "is missing or no string")
	}
	known := map[string]bool{"_description": true}
	for _, p := range t.parameters {
		for _, name := range p.arguments() {
			known[name] = true
			value := test.get(name)
			switch {
			case !value.there() && !p.z.optional:
				c.warn("TST003", test, path, "has no %s, which is required", name)
			case value.there() && !p.z.accepts(value.appendJSON(nil)):
				c.warn(r.value, value, path+"."+name, "does not fit its z")
			}
		}
	}
	for i, key := range test.keys {
		if !known[key] {
			c.warn("TST006", test.items[i], path+"."+key, "is no parameter that a caller gives")
		}
	}
}

// checkVariety tells what the cases of a tool leave untried.
func (c *checker) checkVariety(t *route, tests *node, path string) {
	for _, p := range t.parameters {
		for _, name := range p.arguments() {
			given, differs := 0, false
			var first []byte
			for _, test := range tests.items {
				value := test.get(name).appendJSON(nil)
				if !test.get(name).there() {
					continue
				}
				if given++; given == 1 {
					first = value
				}
				differs = differs || !bytes.Equal(first, value)
			}
			switch {
			case given == 0 && p.z.optional:
				c.info("TST008", tests, path, "no case gives %s, which is optional", name)
			case given > 1 && !differs && len(p.z.members) > 1:
				c.advise("TST007", tests, path, "all cases give %s the same one of %d values", name, len(p.z.members))
			}
		}
	}
}
