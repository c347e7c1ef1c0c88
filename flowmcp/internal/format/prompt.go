package format

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// emptyPlaceholder matches a placeholder without a name.
var emptyPlaceholder = regexp.MustCompile(`\{\{\s*\}\}`)

// readPrompts reads the prompts that main declares. Their texts are in files of
// their own.
func (c *checker) readPrompts(f *File) {
	f.Main.Get("prompts").Members(func(key string, n *module.Node) {
		path := "main.prompts." + key
		c.tool = path
		g := &Guide{Kind: "prompt", Scope: f.Namespace, Path: f.Path, file: f}
		f.Prompts = append(f.Prompts, g)
		if n.Is(module.Object) {
			c.checkPrompt(g, n, path)
			c.checkContentFile(g, n, path)
		} else {
			c.error("PRM001", n, path, "must be a plain object")
		}
		g.Failed = c.broken[path]
		c.tool = ""
	})
}

// checkPrompt checks a prompt's definition: a provider's prompt has a
// namespace, an agent's prompt names the agent.
func (c *checker) checkPrompt(g *Guide, n *module.Node, path string) {
	g.Name, g.Description, g.Prefill = n.Get("name").Str(), n.Get("description").Str(), n.Get("prefill")
	c.checkPrefill(g, path)
	if !skillPattern.MatchString(g.Name) {
		c.error("PRM001", orElse(n.Get("name"), n), path+".name", "must match %s", skillPattern)
	}
	if v := n.Get("version"); v.Str() != "flowmcp-prompt/1.0.0" {
		c.lenient("PRM002", orElse(v, n), path+".version", "must be flowmcp-prompt/1.0.0")
	}
	if g.Description == "" || len(g.Description) > maxDescription {
		c.lenient("PRM014", orElse(n.Get("description"), n), path+".description", "must be a text of at most %d bytes", maxDescription)
	}
	agent, tested := n.Get("agent").Exists(), n.Get("testedWith")
	if agent == n.Get("namespace").Exists() {
		c.lenient("PRM003", n, path, "must have a namespace or an agent, and not both")
	}
	switch {
	case agent != tested.Exists():
		c.lenient("PRM004", orElse(tested, n), path+".testedWith", "is required with an agent, and only allowed there")
	case agent && !strings.Contains(tested.Str(), "/"):
		c.lenient("PRM005", tested, path+".testedWith", "must name an organization and a model, such as acme/large")
	}
	for i, item := range n.Get("dependsOn").List() {
		where, id := index(path+".dependsOn", i), item.Str()
		if agent && c.checkFullID(item, where, "tool", g.Scope, id) || !agent && c.checkPlaceholderID(item, where, "tool", id) {
			g.addReference("PRM006", "tool", id, where, c.m.Line(place(item)))
		}
	}
	references := n.Get("references")
	if !references.Is(module.Array) {
		c.lenient("PRM013", orElse(references, n), path+".references", "must be an array, empty where there are none")
	}
	for i, item := range references.List() {
		g.nested = true
		if where := index(path+".references", i); c.checkFullID(item, where, "prompt", g.Scope, item.Str()) {
			g.addReference("PRM007", "prompt", item.Str(), where, c.m.Line(place(item)))
		}
	}
}

// checkOwnContent checks the text of a prompt that contains it directly.
func (c *checker) checkOwnContent(g *Guide, n *module.Node) {
	content := n.Get("content")
	g.Content = content.Str()
	switch {
	case g.Content == "" || len(g.Content) > maxContent:
		c.error("PRM010", orElse(content, n), "prompt.content", "must be a text of at most %d bytes", maxContent)
	case !n.Get("agent").Exists():
		c.lenient("PRM010", content, "prompt.content", "requires an agent; a provider's prompt has a contentFile")
	}
	if file := n.Get("contentFile"); file.Exists() {
		c.lenient("PRM011", file, "prompt.contentFile", "cannot be combined with content")
	}
	c.checkGuidePlaceholders(g, content, "prompt.content")
	g.undeclared()
}

// checkContentFile checks the path of a declared prompt's text.
func (c *checker) checkContentFile(g *Guide, n *module.Node, path string) {
	name := filepath.FromSlash(n.Get("contentFile").Str())
	if !filepath.IsLocal(name) || filepath.Ext(name) != ".mjs" {
		c.error("PRM011", orElse(n.Get("contentFile"), n), path+".contentFile", "must name a file .mjs below the folder of the schema file")
		return
	}
	g.Path = filepath.Join(filepath.Dir(g.file.Path), name)
	if content := n.Get("content"); content.Exists() {
		c.lenient("PRM010", content, path+".content", "belongs in the contentFile")
	}
}

// readContent reads the text of a declared prompt.
func (g *Guide) readContent(o Options) {
	if g.Failed {
		return
	}
	c, content := readProse(g.Path, "content", o)
	g.Content = content.Str()
	if g.Content == "" || len(g.Content) > maxContent {
		c.error("PRM012", content, "content", "must be exported as a text of at most %d bytes", maxContent)
	}
	c.checkGuidePlaceholders(g, content, "content")
	g.undeclared()
	g.Failed, g.Findings = c.failed, c.findings
}
