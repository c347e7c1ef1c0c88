package flowmcp

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
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
	mentions []mention
	plain    bool  // the content has no places
	deep     bool  // names others of its kind, so that none of them may name it
	file     *file // that declares it, where its text stands in another; nil: none does
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
		for _, g := range f.prompts {
			g.readContent(o)
			all = append(all, g)
		}
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
	code := "SKL001"
	if kind == "prompt" {
		code = "PRM001"
	}
	switch {
	case n == nil && c.failed:
	case n == nil:
		c.fault(code, nil, kind, "is not exported")
	case !n.is(objectKind):
		c.fault(code, n, kind, "must be a plain object")
	case kind == "prompt":
		c.checkPrompt(g, n, kind)
		c.checkOwnContent(g, n)
	default:
		c.checkSkill(g, n)
	}
	g.failed, g.findings = c.failed, c.findings
	return g
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
