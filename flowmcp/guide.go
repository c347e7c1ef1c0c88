package flowmcp

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// guide is a text for a model that a person can choose: a skill or a prompt of
// a provider, in a file of its own.
type guide struct {
	kind     string // skill or prompt
	scope    string // namespace of its provider, or name of its selection
	path     string
	name     string
	text     string // description
	content  string
	inputs   []guideInput
	prefill  *node
	lists    map[string]*reference // of the files in its folder
	findings []Finding
	failed   bool
}

// guideInput is one thing that a guide wants to know.
type guideInput struct {
	key, kind, text string
	required        bool
	values          []string
}

func (g *guide) id() string { return g.scope + "/" + g.kind + "/" + g.name }

// Bounds of what stands beside schema files.
const (
	maxGuides  = 1000 // in one folder
	maxContent = 1 << 20
)

var (
	skillPattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	inputPattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*$`)
)

// readGuides reads the skills and prompts beside the files, each folder once.
func readGuides(files []*file, o Options) []*guide {
	var all []*guide
	seen := map[string]bool{}
	lists := map[string]map[string]*reference{}
	for _, f := range files {
		dir := filepath.Dir(f.path)
		if lists[dir] == nil {
			lists[dir] = map[string]*reference{}
		}
		maps.Copy(lists[dir], f.lists)
		if f.namespace == "" {
			continue
		}
		all = append(all, declaredPrompts(f, o)...)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		for _, kind := range []string{"skill", "prompt"} {
			all = append(all, guidesIn(filepath.Join(dir, kind+"s"), kind, f.namespace, o)...)
		}
	}
	for _, g := range all {
		g.lists = lists[filepath.Dir(filepath.Dir(g.path))]
	}
	return all
}

// guidesIn reads the files of one folder. Files that only hold the content of
// a prompt are read where they are declared.
func guidesIn(dir, kind, scope string, o Options) []*guide {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []*guide
	for _, e := range entries[:min(len(entries), maxGuides)] {
		if e.IsDir() || hidden(e.Name()) || filepath.Ext(e.Name()) != ".mjs" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if kind == "prompt" && !exports(path, kind) {
			continue
		}
		all = append(all, readGuide(path, kind, scope, o))
	}
	return all
}

func exports(path, name string) bool {
	text, err := readFile(path)
	if err != nil {
		return false
	}
	m, err := parseModule(text)
	if err != nil {
		return false
	}
	value, _ := m.exported(name)
	return value != nil
}

// readProse parses a file that is text for a model: pure data, which may name
// the constants of the file.
func readProse(path, name string, o Options) (*checker, *node) {
	c := &checker{strict: o.Strict, broken: map[string]bool{}, prose: true}
	text, err := readFile(path)
	if err == nil {
		c.m, err = parseModule(text)
	}
	if err != nil {
		c.failed = true
		c.findings = []Finding{syntaxFinding(err)}
		return c, nil
	}
	n := c.evaluate(name)
	c.checkSecurity()
	if n.there() && !n.valid() {
		c.failed = true
	}
	return c, n
}

// readGuide reads the file of a skill, or of a prompt that stands for itself.
func readGuide(path, kind, scope string, o Options) *guide {
	c, n := readProse(path, kind, o)
	g := &guide{kind: kind, scope: scope, path: path}
	switch {
	case n == nil && c.failed:
	case n == nil && kind == "skill":
		c.fault("SKL001", nil, "skill", "is not exported")
	case !n.is(objectKind):
		c.fault("SKL001", n, kind, "must be a plain object")
	default:
		c.checkGuide(g, n)
	}
	g.failed, g.findings = c.failed, c.findings
	return g
}

// checkGuide keeps the rules that skills and prompts share.
func (c *checker) checkGuide(g *guide, n *node) {
	g.name, g.text, g.content = n.get("name").str(), n.get("description").str(), n.get("content").str()
	g.prefill = n.get("prefill")
	if !skillPattern.MatchString(g.name) {
		c.fault("SKL002", orElse(n.get("name"), n), g.kind+".name", "must match %s", skillPattern)
	} else if base := fileBase(g.path); base != g.name {
		c.warn("SKL003", n.get("name"), g.kind+".name", "is %s in the file %s", g.name, filepath.Base(g.path))
	}
	wanted := "flowmcp/4.0.0"
	if g.kind == "prompt" {
		wanted = "flowmcp-prompt/1.0.0"
	}
	if v := n.get("version"); v.str() != wanted {
		c.loose("SKL004", orElse(v, n), g.kind+".version", "must be %s", wanted)
	}
	if g.text == "" || len(g.text) > 1024 {
		c.loose("SKL007", orElse(n.get("description"), n), g.kind+".description", "must be a text of at most 1024 bytes")
	}
	if g.content == "" || len(g.content) > maxContent {
		c.fault("SKL010", orElse(n.get("content"), n), g.kind+".content", "must be a text of at most %d bytes", maxContent)
	}
	for i, item := range n.get("input").list() {
		c.readInput(g, item, index(g.kind+".input", i))
	}
	c.checkInputs(g, n.get("content"))
}

func (c *checker) readInput(g *guide, n *node, path string) {
	in := guideInput{
		key: n.get("key").str(), kind: n.get("type").str(), text: n.get("description").str(),
		required: n.get("required").yes(), values: n.get("values").strs(),
	}
	if !inputPattern.MatchString(in.key) {
		c.fault("SKL012", orElse(n.get("key"), n), path+".key", "must match %s", inputPattern)
	}
	if !slices.Contains([]string{"string", "number", "boolean", "enum"}, in.kind) {
		c.loose("SKL013", orElse(n.get("type"), n), path+".type", "must be string, number, boolean or enum")
	}
	if (in.kind == "enum") != (len(in.values) > 0) {
		c.loose("SKL009", n, path+".values", "go with the type enum, and only with it")
	}
	g.inputs = append(g.inputs, in)
}

// checkInputs compares the inputs that the content names with the declared
// ones. One that is not declared is wanted all the same.
func (c *checker) checkInputs(g *guide, at *node) {
	for _, m := range guideMark.FindAllStringSubmatch(g.content, -1) {
		key, isInput := strings.CutPrefix(m[1], "input:")
		if !isInput || !inputPattern.MatchString(key) || slices.ContainsFunc(g.inputs, func(in guideInput) bool { return in.key == key }) {
			continue
		}
		if g.kind == "skill" {
			c.loose("SKL008", at, g.kind+".content", "the input %s is not declared", key)
		}
		g.inputs = append(g.inputs, guideInput{key: key, kind: "string", required: true})
	}
}

// declaredPrompts are those that main names, with their content in files.
func declaredPrompts(f *file, o Options) []*guide {
	var all []*guide
	f.main.get("prompts").members(func(key string, n *node) {
		g := &guide{kind: "prompt", scope: f.namespace, path: f.path, name: n.get("name").str(), text: n.get("description").str()}
		name := filepath.FromSlash(n.get("contentFile").str())
		path := filepath.Join(filepath.Dir(f.path), name)
		c := &checker{strict: o.Strict, broken: map[string]bool{}}
		switch {
		case !n.is(objectKind) || !skillPattern.MatchString(g.name):
			c.fault("PRM001", n, "main.prompts."+key+".name", "must match %s", skillPattern)
		case !filepath.IsLocal(name) || filepath.Ext(name) != ".mjs":
			c.fault("PRM011", n, "main.prompts."+key+".contentFile", "must name a file .mjs below the folder of the schema file")
		default:
			var content *node
			c, content = readProse(path, "content", o)
			g.path, g.content = path, content.str()
			if g.content == "" || len(g.content) > maxContent {
				c.fault("PRM012", content, "content", "must be exported as a text of at most %d bytes", maxContent)
			}
			c.checkInputs(g, content)
		}
		g.failed, g.findings = c.failed, c.findings
		all = append(all, g)
	})
	return all
}

// guideReports are what Check says of skills and prompts.
func guideReports(guides []*guide) []Report {
	var all []Report
	for _, g := range guides {
		r := Report{File: g.path, Namespace: g.scope, Name: g.name, Kind: g.kind, Loads: !g.failed, Tools: []ToolReport{}, Findings: g.findings}
		if r.Findings == nil {
			r.Findings = []Finding{}
		}
		all = append(all, r)
	}
	return all
}
