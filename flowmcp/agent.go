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
		case value.is(nullKind):
			c.loose("VAL110", value, path, "names a tool of the files, and must do so in full, with slashes")
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
		if kind == "skill" {
			c.checkSkillCount(all, "agent.skills")
		}
		all.members(func(key string, value *node) {
			at := "agent." + kind + "s." + key
			switch {
			case kind == "prompt" && !strings.Contains(key, "/") && value.is(nullKind):
				c.loose("VAL110", value, at, "names a prompt of the files, and must do so in full, with slashes")
			case strings.Contains(key, "/") && kind == "prompt":
				c.outer(s, kind, key, value, at)
			case strings.Contains(key, "/"), value.get("file").str() == "":
				c.loose(code, value, at, "must have a file of the agent's own")
			default:
				c.agentText(s, kind, key, value, o)
			}
		})
	}
}

// agentText reads the file of a prompt or a skill that stands under a key.
func (c *checker) agentText(s *selection, kind, key string, value *node, o Options) {
	at := "agent." + kind + "s." + key
	if kind == "skill" {
		file, ok := ownFile(s, value, at, c.loose)
		if ok && !exports(file, "skill") {
			c.loose("AGT018", value, at+".file", "must export skill")
		} else if ok {
			c.adopt(c.ownSkill(s, key, file, value, o), value, at)
		}
		return
	}
	file := value.get("file")
	name := filepath.FromSlash(file.str())
	if !filepath.IsLocal(name) || filepath.Ext(name) != ".mjs" {
		c.loose("AGT016", file, at+".file", "must be a file .mjs below the folder of the agent")
		return
	}
	if _, err := inside(s.dir, name); err != nil {
		c.loose("AGT016", file, at+".file", "is not there")
		return
	}
	g := &guide{kind: kind, scope: s.name, name: key, path: filepath.Join(s.dir, name), text: "The prompt " + key + " of the agent " + s.name}
	if !exports(g.path, "content") {
		c.loose("AGT017", file, at+".file", "must export content")
		return
	}
	g.readContent(o)
	c.adopt(g, file, at+".file")
	s.lines["own "+g.id()] = c.m.line(place(file))
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
	for _, file := range selectionsIn(filepath.Join(s.dir, "..", "..")) {
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
			} else {
				c.checkID(id, path+".expectedTools", "", id.str())
			}
		}
		if len(test.get("expectedContent").list()) == 0 {
			c.info("TST013", test, path, "expects nothing of the answer (expectedContent)")
		}
		combinations[strings.Join(expected.strs(), " ")] = true
	}
	if len(tests.list()) > 1 && len(combinations) == 1 {
		c.advise("AGT012", tests, "agent.tests", "all cases expect the same tools")
	}
}
