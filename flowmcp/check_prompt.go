package flowmcp

import (
	"path/filepath"
	"regexp"
	"strings"
)

// emptyMark is a place without a name.
var emptyMark = regexp.MustCompile(`\{\{\s*\}\}`)

// readPrompts reads the prompts that main declares. Their texts stand in files
// of their own.
func (c *checker) readPrompts(f *file) {
	f.main.get("prompts").members(func(key string, n *node) {
		path := "main.prompts." + key
		c.tool = path
		g := &guide{kind: "prompt", scope: f.namespace, path: f.path, file: f}
		f.prompts = append(f.prompts, g)
		if n.is(objectKind) {
			c.checkPrompt(g, n, path)
			c.checkContentFile(g, n, path)
		} else {
			c.fault("PRM001", n, path, "must be a plain object")
		}
		g.failed = c.broken[path]
		c.tool = ""
	})
}

// checkPrompt keeps the rules of a prompt's definition: that of a provider has
// a namespace, that of an agent names the agent.
func (c *checker) checkPrompt(g *guide, n *node, path string) {
	g.name, g.text, g.prefill = n.get("name").str(), n.get("description").str(), n.get("prefill")
	c.checkPrefill(g, path)
	if !skillPattern.MatchString(g.name) {
		c.fault("PRM001", orElse(n.get("name"), n), path+".name", "must match %s", skillPattern)
	}
	if v := n.get("version"); v.str() != "flowmcp-prompt/1.0.0" {
		c.loose("PRM002", orElse(v, n), path+".version", "must be flowmcp-prompt/1.0.0")
	}
	if g.text == "" || len(g.text) > maxDescription {
		c.loose("PRM014", orElse(n.get("description"), n), path+".description", "must be a text of at most %d bytes", maxDescription)
	}
	agent, tested := n.get("agent").there(), n.get("testedWith")
	if agent == n.get("namespace").there() {
		c.loose("PRM003", n, path, "must have a namespace or an agent, and not both")
	}
	switch {
	case agent != tested.there():
		c.loose("PRM004", orElse(tested, n), path+".testedWith", "goes with an agent, and only with it")
	case agent && !strings.Contains(tested.str(), "/"):
		c.loose("PRM005", tested, path+".testedWith", "must name an organization and a model, such as acme/large")
	}
	for i, item := range n.get("dependsOn").list() {
		where, id := index(path+".dependsOn", i), item.str()
		if agent && c.checkOuterID(item, where, "tool", g.scope, id) || !agent && c.checkMarkID(item, where, "tool", id) {
			g.mention("PRM006", "tool", id, where, c.m.line(place(item)))
		}
	}
	references := n.get("references")
	if !references.is(arrayKind) {
		c.loose("PRM013", orElse(references, n), path+".references", "must be an array, empty where there are none")
	}
	for i, item := range references.list() {
		g.deep = true
		if where := index(path+".references", i); c.checkOuterID(item, where, "prompt", g.scope, item.str()) {
			g.mention("PRM007", "prompt", item.str(), where, c.m.line(place(item)))
		}
	}
}

// checkOwnContent looks at the text of a prompt that holds it itself.
func (c *checker) checkOwnContent(g *guide, n *node) {
	content := n.get("content")
	g.content = content.str()
	switch {
	case g.content == "" || len(g.content) > maxContent:
		c.fault("PRM010", orElse(content, n), "prompt.content", "must be a text of at most %d bytes", maxContent)
	case !n.get("agent").there():
		c.loose("PRM010", content, "prompt.content", "goes with an agent; a provider's prompt has a contentFile")
	}
	if file := n.get("contentFile"); file.there() {
		c.loose("PRM011", file, "prompt.contentFile", "does not go with a content")
	}
	c.checkMarks(g, content, "prompt.content")
	g.undeclared()
}

// checkContentFile looks at where the text of a declared prompt stands.
func (c *checker) checkContentFile(g *guide, n *node, path string) {
	name := filepath.FromSlash(n.get("contentFile").str())
	if !filepath.IsLocal(name) || filepath.Ext(name) != ".mjs" {
		c.fault("PRM011", orElse(n.get("contentFile"), n), path+".contentFile", "must name a file .mjs below the folder of the schema file")
		return
	}
	g.path = filepath.Join(filepath.Dir(g.file.path), name)
	if content := n.get("content"); content.there() {
		c.loose("PRM010", content, path+".content", "stands in the contentFile")
	}
}

// readContent reads the text of a declared prompt.
func (g *guide) readContent(o Options) {
	if g.failed {
		return
	}
	c, content := readProse(g.path, "content", o)
	g.content = content.str()
	if g.content == "" || len(g.content) > maxContent {
		c.fault("PRM012", content, "content", "must be exported as a text of at most %d bytes", maxContent)
	}
	c.checkMarks(g, content, "content")
	g.undeclared()
	g.failed, g.findings = c.failed, c.findings
}
