package format

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// enoughAgentTests is the number of test cases that the format requires of an
// agent.
const enoughAgentTests = 3

// readAgent reads an agent's manifest as a selection: what it uses of the files
// and what it adds. Its model, its rounds and its test cases are checked and
// otherwise ignored.
func readAgent(path string, o Options) (*Selection, []Finding) {
	c, n := readProse(path, "agent", o)
	if n == nil && !c.failed {
		if c, n = readProse(path, "main", o); n != nil {
			c.lenient("AGT021", n, "main", "is exported; call it agent")
		}
	}
	s := newSelection(n, path)
	if !n.Is(module.Object) {
		if !c.failed {
			c.error("AGT021", n, "agent", "is not exported as a plain object")
		}
		return s, c.findings
	}
	c.checkAgent(n, path)
	c.readAgentTools(s, n)
	c.readAgentTexts(s, n, o)
	c.readAgentResources(s, n)
	c.readAgentSelections(s, n, o)
	c.checkAgentTests(n)
	if prompt := n.Get("systemPrompt").Str(); prompt != "" && skillPattern.MatchString(s.Name) {
		s.Guides = append(s.Guides, &Guide{
			Kind: "prompt", Scope: s.Name, Path: path, Name: "system", Description: "The system prompt of the agent " + s.Name, Content: prompt, Plain: true,
		})
	}
	return s, c.findings
}

// checkAgent checks the text fields.
func (c *checker) checkAgent(n *module.Node, path string) {
	name := n.Get("name").Str()
	if dir := filepath.Base(filepath.Dir(path)); !NamespacePattern.MatchString(name) || name != dir {
		c.lenient("AGT001", orElse(n.Get("name"), n), "agent.name", "must be that of its folder, %s, in small letters, digits and hyphens", dir)
	}
	if n.Get("description").Str() == "" {
		c.lenient("AGT002", orElse(n.Get("description"), n), "agent.description", "is missing or no string")
	}
	if !strings.Contains(n.Get("model").Str(), "/") {
		c.lenient("AGT003", orElse(n.Get("model"), n), "agent.model", "must name an organization and a model, such as acme/large")
	}
	if n.Get("version").Str() != "flowmcp/4.0.0" {
		c.lenient("AGT004", orElse(n.Get("version"), n), "agent.version", "must be flowmcp/4.0.0")
	}
	if n.Get("systemPrompt").Str() == "" {
		c.lenient("AGT005", orElse(n.Get("systemPrompt"), n), "agent.systemPrompt", "is missing or no string")
	}
	if e := n.Get("elicitation"); e.Exists() && Seconds(e.Get("maxRounds")) == 0 {
		c.lenient("AGT031", orElse(e.Get("maxRounds"), e), "agent.elicitation.maxRounds", "must be a positive integer")
	}
}

// external reads a key that refers to something in the schema files; its value
// must be null.
func (c *checker) external(s *Selection, kind, key string, value *module.Node, path string) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 || slices.Contains(parts, "") || parts[1] != kind {
		c.error("AGT007", value, path, "must be namespace/%s/name", kind)
	} else {
		s.want(kind, key, c.m.Line(place(value)))
	}
	if !value.Is(module.Null) {
		c.lenient("AGT020", value, path, "refers to the files, so its value must be null")
	}
}

func (c *checker) readAgentTools(s *Selection, n *module.Node) {
	tools := n.Get("tools")
	if len(tools.Strings()) > 0 { // version 3
		c.lenient("AGT006", tools, "agent.tools", "must be an object of names, not a list")
	}
	for i, id := range tools.Strings() {
		c.external(s, "tool", id, &module.Node{Kind: module.Null, Offset: place(tools.Items[i])}, index("agent.tools", i))
	}
	if len(tools.ObjectKeys()) == 0 && len(tools.Strings()) == 0 {
		c.lenient("AGT006", orElse(tools, n), "agent.tools", "must name at least one tool")
	}
	tools.Members(func(key string, value *module.Node) {
		path := "agent.tools." + key
		switch {
		case strings.Contains(key, "/"):
			c.external(s, "tool", key, value, path)
		case value.Is(module.Null):
			c.lenient("VAL110", value, path, "must be the qualified name of a tool, with slashes")
		case value.Get("method").Str() == "" || value.Get("path").Str() == "" || value.Get("description").Str() == "":
			c.lenient("AGT019", value, path, "must have method, path and description")
		default:
			c.warn("AGT032", value, path, "an agent's own tool has no address and is not served; move it to a schema file")
		}
	})
}

// readAgentTexts reads the agent's own prompts and skills.
func (c *checker) readAgentTexts(s *Selection, n *module.Node, o Options) {
	for _, kind := range []string{"prompt", "skill"} {
		code := "AGT013"
		if kind == "skill" {
			code = "AGT014"
		}
		all := n.Get(kind + "s")
		if all.Exists() && !all.Is(module.Object) {
			c.lenient(code, all, "agent."+kind+"s", "must be an object")
		}
		if kind == "skill" {
			c.checkSkillCount(all, "agent.skills")
		}
		all.Members(func(key string, value *module.Node) {
			at := "agent." + kind + "s." + key
			switch {
			case kind == "prompt" && !strings.Contains(key, "/") && value.Is(module.Null):
				c.lenient("VAL110", value, at, "must be the qualified name of a prompt, with slashes")
			case strings.Contains(key, "/") && kind == "prompt":
				c.external(s, kind, key, value, at)
			case strings.Contains(key, "/"), value.Get("file").Str() == "":
				c.lenient(code, value, at, "must have a file in the agent's folder")
			default:
				c.readAgentText(s, kind, key, value, o)
			}
		})
	}
}

// readAgentText reads the file of one prompt or skill.
func (c *checker) readAgentText(s *Selection, kind, key string, value *module.Node, o Options) {
	at := "agent." + kind + "s." + key
	if kind == "skill" {
		file, ok := ownFile(s, value, at, c.lenient)
		if ok && !exports(file, "skill") {
			c.lenient("AGT018", value, at+".file", "must export skill")
		} else if ok {
			c.adoptFindings(c.readOwnSkill(s, key, file, value, o), value, at)
		}
		return
	}
	file := value.Get("file")
	name := filepath.FromSlash(file.Str())
	if !filepath.IsLocal(name) || filepath.Ext(name) != ".mjs" {
		c.lenient("AGT016", file, at+".file", "must be a file .mjs below the folder of the agent")
		return
	}
	if _, err := Inside(s.dir, name); err != nil {
		c.lenient("AGT016", file, at+".file", "is not there")
		return
	}
	g := &Guide{Kind: kind, Scope: s.Name, Name: key, Path: filepath.Join(s.dir, name), Description: "The prompt " + key + " of the agent " + s.Name}
	if !exports(g.Path, "content") {
		c.lenient("AGT017", file, at+".file", "must export content")
		return
	}
	g.readContent(o)
	c.adoptFindings(g, file, at+".file")
	s.lines["own "+g.ID()] = c.m.Line(place(file))
	s.Guides = append(s.Guides, g)
}

func (c *checker) readAgentResources(s *Selection, n *module.Node) {
	all := n.Get("resources")
	if all.Exists() && !all.Is(module.Object) {
		c.lenient("AGT015", all, "agent.resources", "must be an object")
	}
	all.Members(func(key string, value *module.Node) {
		path := "agent.resources." + key
		switch {
		case strings.Contains(key, "/"):
			c.external(s, "resource", key, value, path)
		case !value.Is(module.Object):
			c.lenient("AGT015", value, path, "must be an object")
		default:
			c.warn("AGT032", value, path, "an agent's own resource is not served; move it to a schema file")
		}
	})
}

// readAgentSelections adds what the agent's selections choose. They are in the
// folder selections of its catalog.
func (c *checker) readAgentSelections(s *Selection, n *module.Node, o Options) {
	ids := n.Get("selections")
	if len(ids.List()) == 0 {
		return
	}
	found := map[string]*Selection{}
	for _, file := range SelectionsIn(filepath.Join(s.dir, "..", "..")) {
		one, findings := ReadSelection(file, o)
		if FirstError(findings) == "unknown" {
			found[one.id()] = one
		}
	}
	for i, id := range ids.List() {
		one := found[id.Str()]
		if one == nil {
			c.error("AGT030", id, index("agent.selections", i), "the selection %q is not in the folder selections of the catalog", id.Str())
			continue
		}
		for kind, names := range one.Wanted {
			for _, name := range names {
				s.want(kind, name, c.m.Line(place(id)))
			}
		}
		s.Guides = append(s.Guides, one.Guides...)
	}
}

// checkAgentTests checks the agent's test cases.
func (c *checker) checkAgentTests(n *module.Node) {
	tests := n.Get("tests")
	if len(tests.List()) < enoughAgentTests {
		c.lenient("AGT008", orElse(tests, n), "agent.tests", "must hold at least %d cases", enoughAgentTests)
	}
	combinations := map[string]bool{}
	for i, test := range tests.List() {
		path := index("agent.tests", i)
		if test.Get("input").Str() == "" {
			c.lenient("AGT009", orElse(test.Get("input"), test), path+".input", "is missing or no string")
		}
		expected := test.Get("expectedTools")
		if len(expected.List()) == 0 {
			c.lenient("AGT010", orElse(expected, test), path+".expectedTools", "must name at least one tool")
		}
		for _, id := range expected.List() {
			if !strings.Contains(id.Str(), "/") {
				c.lenient("AGT011", id, path+".expectedTools", "must contain qualified names")
			} else {
				c.checkID(id, path+".expectedTools", "", id.Str())
			}
		}
		if len(test.Get("expectedContent").List()) == 0 {
			c.info("TST013", test, path, "expects nothing of the response (expectedContent)")
		}
		combinations[strings.Join(expected.Strings(), " ")] = true
	}
	if len(tests.List()) > 1 && len(combinations) == 1 {
		c.strictWarning("AGT012", tests, "agent.tests", "all cases expect the same tools")
	}
}
