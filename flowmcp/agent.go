package flowmcp

import (
	"path/filepath"
	"slices"
	"strings"
)

// enoughAgentTests is how many cases the format wants for an agent.
const enoughAgentTests = 3

// readAgent reads an agent's manifest as the choice that it is: what of the
// files it uses, and what it brings itself. Its model, its rounds and its cases
// are for the one who runs a model; they are checked and go nowhere.
func readAgent(path string, o Options) (*selection, []Finding) {
	c, n := readProse(path, "agent", o)
	if n == nil && !c.failed {
		if c, n = readProse(path, "main", o); n != nil {
			c.loose("AGT021", n, "main", "is exported; call it agent")
		}
	}
	s := newSelection(n, path)
	if !n.is(objectKind) {
		if !c.failed {
			c.fault("AGT021", n, "agent", "is not exported as a plain object")
		}
		return s, c.findings
	}
	c.checkAgent(n, path)
	c.agentTools(s, n)
	c.agentTexts(s, n, o)
	c.agentResources(s, n)
	c.agentSelections(s, n, o)
	c.checkAgentTests(n)
	if prompt := n.get("systemPrompt").str(); prompt != "" && skillPattern.MatchString(s.name) {
		s.guides = append(s.guides, &guide{
			kind: "prompt", scope: s.name, path: path, name: "system", text: "The system prompt of the agent " + s.name, content: prompt, plain: true,
		})
	}
	return s, c.findings
}

// checkAgent keeps the rules of the fields that are texts.
func (c *checker) checkAgent(n *node, path string) {
	name := n.get("name").str()
	if dir := filepath.Base(filepath.Dir(path)); !namespacePattern.MatchString(name) || name != dir {
		c.loose("AGT001", orElse(n.get("name"), n), "agent.name", "must be that of its folder, %s, in small letters, digits and hyphens", dir)
	}
	if n.get("description").str() == "" {
		c.loose("AGT002", orElse(n.get("description"), n), "agent.description", "is missing or no string")
	}
	if !strings.Contains(n.get("model").str(), "/") {
		c.loose("AGT003", orElse(n.get("model"), n), "agent.model", "must name an organization and a model, such as acme/large")
	}
	if n.get("version").str() != "flowmcp/4.0.0" {
		c.loose("AGT004", orElse(n.get("version"), n), "agent.version", "must be flowmcp/4.0.0")
	}
	if n.get("systemPrompt").str() == "" {
		c.loose("AGT005", orElse(n.get("systemPrompt"), n), "agent.systemPrompt", "is missing or no string")
	}
	if e := n.get("elicitation"); e.there() && seconds(e.get("maxRounds")) == 0 {
		c.loose("AGT031", orElse(e.get("maxRounds"), e), "agent.elicitation.maxRounds", "must be a positive integer")
	}
}

// outer takes what stands under a key that names something of the files: its
// value says nothing more.
func (c *checker) outer(s *selection, kind, key string, value *node, path string) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 || slices.Contains(parts, "") || parts[1] != kind {
		c.fault("AGT007", value, path, "must be namespace/%s/name", kind)
	} else {
		s.want(kind, key, c.m.line(place(value)))
	}
	if !value.is(nullKind) {
		c.loose("AGT020", value, path, "is of the files, so its value must be null")
	}
}

func (c *checker) agentTools(s *selection, n *node) {
	tools := n.get("tools")
	if len(tools.strs()) > 0 { // as in version 3
		c.loose("AGT006", tools, "agent.tools", "must be an object of names, not a list")
	}
	for i, id := range tools.strs() {
		c.outer(s, "tool", id, &node{kind: nullKind, at: place(tools.items[i])}, index("agent.tools", i))
	}
	if len(tools.keysOrNone()) == 0 && len(tools.strs()) == 0 {
		c.loose("AGT006", orElse(tools, n), "agent.tools", "must name at least one tool")
	}
	tools.members(func(key string, value *node) {
		path := "agent.tools." + key
		switch {
		case strings.Contains(key, "/"):
			c.outer(s, "tool", key, value, path)
		case value.get("method").str() == "" || value.get("path").str() == "" || value.get("description").str() == "":
			c.loose("AGT019", value, path, "must have method, path and description")
		default:
			c.warn("AGT032", value, path, "a tool of the agent's own has no address and is not served; put it into a schema file")
		}
	})
}

// agentTexts reads the prompts and skills that an agent brings.
func (c *checker) agentTexts(s *selection, n *node, o Options) {
	for _, kind := range []string{"prompt", "skill"} {
		code := "AGT013"
		if kind == "skill" {
			code = "AGT014"
		}
		all := n.get(kind + "s")
		if all.there() && !all.is(objectKind) {
			c.loose(code, all, "agent."+kind+"s", "must be an object")
		}
		all.members(func(key string, value *node) {
			at := "agent." + kind + "s." + key
			switch {
			case strings.Contains(key, "/") && kind == "prompt":
				c.outer(s, kind, key, value, at)
			case strings.Contains(key, "/"), value.get("file").str() == "":
				c.loose(code, value, at, "must have a file of the agent's own")
			default:
				g := &guide{kind: kind, scope: s.name, name: key}
				c.agentText(s, g, value.get("file"), o)
			}
		})
	}
}

// agentText reads the file of a prompt or a skill; g has its kind and its name.
func (c *checker) agentText(s *selection, g *guide, file *node, o Options) {
	at := "agent." + g.kind + "s." + g.name + ".file"
	name := filepath.FromSlash(file.str())
	if !filepath.IsLocal(name) || filepath.Ext(name) != ".mjs" {
		c.loose("AGT016", file, at, "must be a file .mjs below the folder of the agent")
		return
	}
	g.path = filepath.Join(s.dir, name)
	if _, err := inside(s.dir, name); err != nil {
		c.loose("AGT016", file, at, "is not there")
		return
	}
	switch {
	case g.kind == "skill" && !exports(g.path, "skill"):
		c.loose("AGT018", file, at, "must export skill")
		return
	case g.kind == "prompt" && !exports(g.path, "content"):
		c.loose("AGT017", file, at, "must export content")
		return
	case g.kind == "skill":
		g = readGuide(g.path, g.kind, s.name, o)
	default:
		g.text = "The prompt " + g.name + " of the agent " + s.name
		g.readContent(o)
	}
	c.adopt(g, file, at)
	s.guides = append(s.guides, g)
}

func (c *checker) agentResources(s *selection, n *node) {
	all := n.get("resources")
	if all.there() && !all.is(objectKind) {
		c.loose("AGT015", all, "agent.resources", "must be an object")
	}
	all.members(func(key string, value *node) {
		path := "agent.resources." + key
		switch {
		case strings.Contains(key, "/"):
			c.outer(s, "resource", key, value, path)
		case !value.is(objectKind):
			c.loose("AGT015", value, path, "must be an object")
		default:
			c.warn("AGT032", value, path, "a resource of the agent's own is not served; put it into a schema file")
		}
	})
}

// agentSelections adds what the selections choose that an agent names. They
// stand in the folder selections of its catalog.
func (c *checker) agentSelections(s *selection, n *node, o Options) {
	ids := n.get("selections")
	if len(ids.list()) == 0 {
		return
	}
	found := map[string]*selection{}
	files, _ := filepath.Glob(filepath.Join(s.dir, "..", "..", "selections", "*.mjs"))
	for _, file := range files {
		one, findings := readSelection(file, o)
		if firstError(findings) == "unknown" {
			found[one.id()] = one
		}
	}
	for i, id := range ids.list() {
		one := found[id.str()]
		if one == nil {
			c.fault("AGT030", id, index("agent.selections", i), "the selection %q is not in the folder selections of the catalog", id.str())
			continue
		}
		for kind, names := range one.wanted {
			for _, name := range names {
				s.want(kind, name, c.m.line(place(id)))
			}
		}
		s.guides = append(s.guides, one.guides...)
	}
}

// checkAgentTests keeps the rules of an agent's cases.
func (c *checker) checkAgentTests(n *node) {
	tests := n.get("tests")
	if len(tests.list()) < enoughAgentTests {
		c.loose("AGT008", orElse(tests, n), "agent.tests", "must hold at least %d cases", enoughAgentTests)
	}
	combinations := map[string]bool{}
	for i, test := range tests.list() {
		path := index("agent.tests", i)
		if test.get("input").str() == "" {
			c.loose("AGT009", orElse(test.get("input"), test), path+".input", "is missing or no string")
		}
		expected := test.get("expectedTools")
		if len(expected.list()) == 0 {
			c.loose("AGT010", orElse(expected, test), path+".expectedTools", "must name at least one tool")
		}
		for _, id := range expected.list() {
			if !strings.Contains(id.str(), "/") {
				c.loose("AGT011", id, path+".expectedTools", "must hold names in full")
			}
		}
		combinations[strings.Join(expected.strs(), " ")] = true
	}
	if len(tests.list()) > 1 && len(combinations) == 1 {
		c.advise("AGT012", tests, "agent.tests", "all cases expect the same tools")
	}
}
