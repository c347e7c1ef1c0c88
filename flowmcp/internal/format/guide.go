package format

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// Guide is a text for a model that a user can choose: a skill or a prompt in a
// file of its own.
type Guide struct {
	Kind        string // skill or prompt
	Scope       string // namespace of its provider, or name of its selection
	Path        string
	Name        string
	Description string // description
	Content     string
	Inputs      []GuideInput
	Prefill     *module.Node
	Lists       map[string]*ListReference // lists of the files in its folder
	references  []guideReference
	Plain       bool  // the content has no placeholders
	nested      bool  // refers to others of its kind, so that none of them may refer to it
	file        *File // the file that declares it; nil: none does
	Findings    []Finding
	Failed      bool
}

// GuideInput is one argument of a guide.
type GuideInput struct {
	Key, Kind, Description string
	Required               bool
	Values                 []string
}

// ID returns the qualified name.
func (g *Guide) ID() string { return g.Scope + "/" + g.Kind + "/" + g.Name }

// Limits of the files beside schema files.
const (
	maxGuides  = 1000 // files in one folder
	maxContent = 1 << 20
)

// Patterns of names in guides.
var (
	skillPattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	InputPattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*$`)
)

// ReadGuides reads the skills and prompts beside the files, each folder once.
func ReadGuides(files []*File, o Options) []*Guide {
	var all []*Guide
	seen := map[string]bool{}
	lists := map[string]map[string]*ListReference{}
	for _, f := range files {
		dir := filepath.Dir(f.Path)
		if lists[dir] == nil {
			lists[dir] = map[string]*ListReference{}
		}
		maps.Copy(lists[dir], f.Lists)
		if f.Namespace == "" {
			continue
		}
		for _, g := range f.Prompts {
			g.readContent(o)
			all = append(all, g)
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		for _, kind := range []string{"skill", "prompt"} {
			all = append(all, guidesIn(filepath.Join(dir, kind+"s"), kind, f.Namespace, o)...)
		}
	}
	for _, g := range all {
		g.Lists = lists[filepath.Dir(filepath.Dir(g.Path))]
	}
	return all
}

// guidesIn reads the files of one folder. Files with only the content of a
// prompt are read where they are declared.
func guidesIn(dir, kind, scope string, o Options) []*Guide {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []*Guide
	for _, e := range entries[:min(len(entries), maxGuides)] {
		if e.IsDir() || isHidden(e.Name()) || filepath.Ext(e.Name()) != ".mjs" {
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
	m, err := module.Parse(text)
	if err != nil {
		return false
	}
	value, _ := m.Export(name)
	return value != nil
}

// readProse parses a file with text for a model: pure data, which may use the
// constants of the file.
func readProse(path, name string, o Options) (*checker, *module.Node) {
	c := &checker{strict: o.Strict, broken: map[string]bool{}, prose: true}
	text, err := readFile(path)
	if err == nil {
		c.m, err = module.Parse(text)
	}
	if err != nil {
		c.failed = true
		c.findings = []Finding{syntaxFinding(err)}
		return c, nil
	}
	n := c.evaluate(name)
	c.checkSecurity()
	if n.Exists() && !n.Valid() {
		c.failed = true
	}
	return c, n
}

// readGuide reads the file of a skill or of a self-contained prompt.
func readGuide(path, kind, scope string, o Options) *Guide {
	c, n := readProse(path, kind, o)
	g := &Guide{Kind: kind, Scope: scope, Path: path}
	code := "SKL001"
	if kind == "prompt" {
		code = "PRM001"
	}
	switch {
	case n == nil && c.failed:
	case n == nil:
		c.error(code, nil, kind, "is not exported")
	case !n.Is(module.Object):
		c.error(code, n, kind, "must be a plain object")
	case kind == "prompt":
		c.checkPrompt(g, n, kind)
		c.checkOwnContent(g, n)
	default:
		c.checkSkill(g, n)
	}
	g.Failed, g.Findings = c.failed, c.findings
	return g
}

// guideReports returns the reports on skills and prompts.
func guideReports(guides []*Guide) []Report {
	var all []Report
	for _, g := range guides {
		r := Report{File: g.Path, Namespace: g.Scope, Name: g.Name, Kind: g.Kind, Loads: !g.Failed, Tools: []ToolReport{}, Findings: g.Findings}
		if r.Findings == nil {
			r.Findings = []Finding{}
		}
		all = append(all, r)
	}
	return all
}

// GuidePlaceholder matches a placeholder in a guide.
var GuidePlaceholder = regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)

// QualifiedID returns the qualified name.
func QualifiedID(kind, scope, name string) string {
	switch parts := strings.Split(name, "/"); len(parts) {
	case 1:
		return scope + "/" + kind + "/" + name
	case 2:
		return parts[0] + "/" + kind + "/" + parts[1]
	}
	return name
}

// maxDescription limits the description of a skill or prompt, in bytes.
const maxDescription = 1024

// checkSkill reads and checks a skill.
func (c *checker) checkSkill(g *Guide, n *module.Node) {
	g.Name, g.Description, g.Content, g.Prefill = n.Get("name").Str(), n.Get("description").Str(), n.Get("content").Str(), n.Get("prefill")
	if !skillPattern.MatchString(g.Name) {
		c.error("SKL002", orElse(n.Get("name"), n), "skill.name", "must match %s", skillPattern)
	} else if base := FileBase(g.Path); base != g.Name {
		c.warn("SKL003", n.Get("name"), "skill.name", "is %s in the file %s", g.Name, filepath.Base(g.Path))
	}
	switch v := n.Get("version"); v.Str() {
	case "flowmcp/4.0.0":
	case "flowmcp-skill/1.0.0":
		c.warn("SKL004", v, "skill.version", "%s is accepted during migration only; use flowmcp/4.0.0", v.Str())
	default:
		c.lenient("SKL004", orElse(v, n), "skill.version", "must be flowmcp/4.0.0")
	}
	if kind := n.Get("type"); kind.Exists() && !slices.Contains([]string{"namespace", "selection", "agent"}, kind.Str()) {
		c.lenient("SKL013", kind, "skill.type", "must be namespace, selection or agent")
	}
	if g.Description == "" || len(g.Description) > maxDescription {
		c.lenient("SKL007", orElse(n.Get("description"), n), "skill.description", "must be a text of at most %d bytes", maxDescription)
	}
	if g.Content == "" || len(g.Content) > maxContent {
		c.error("SKL010", orElse(n.Get("content"), n), "skill.content", "must be a text of at most %d bytes", maxContent)
	}
	if n.Get("output").Str() == "" {
		c.strictOnly("SKL011", orElse(n.Get("output"), n), "skill.output", "must describe the result")
	}
	if n.Get("whenToUse").Str() == "" {
		c.strictOnly("SKL019", orElse(n.Get("whenToUse"), n), "skill.whenToUse", "must say when to use the skill")
	}
	for i, item := range n.Get("input").List() {
		c.readInput(g, item, index("skill.input", i))
	}
	c.checkGuidePlaceholders(g, n.Get("content"), "skill.content")
	c.checkPrefill(g, "skill")
	for _, key := range g.undeclared() {
		c.lenient("SKL008", n.Get("content"), "skill.content", "the input %s is not declared", key)
	}
	c.checkRequires(g, n)
}

func (c *checker) readInput(g *Guide, n *module.Node, path string) {
	in := GuideInput{
		Key: n.Get("key").Str(), Kind: n.Get("type").Str(), Description: n.Get("description").Str(),
		Required: n.Get("required").IsTrue(), Values: n.Get("values").Strings(),
	}
	if !InputPattern.MatchString(in.Key) {
		c.error("SKL012", orElse(n.Get("key"), n), path+".key", "must match %s", InputPattern)
	} else if !camelPattern.MatchString(in.Key) {
		c.strictOnly("SKL012", n.Get("key"), path+".key", "%q is not camelCase", in.Key)
	}
	if !slices.Contains([]string{"string", "number", "boolean", "enum"}, in.Kind) {
		c.lenient("SKL013", orElse(n.Get("type"), n), path+".type", "must be string, number, boolean or enum")
	}
	if (in.Kind == "enum") != (len(in.Values) > 0) {
		c.lenient("SKL009", n, path+".values", "are required for the type enum, and only allowed there")
	}
	if in.Description == "" {
		c.strictOnly("SKL014", orElse(n.Get("description"), n), path+".description", "is missing or no string")
	}
	if !n.Get("required").Is(module.Bool) {
		c.strictOnly("SKL015", orElse(n.Get("required"), n), path+".required", "must be a boolean")
	}
	g.Inputs = append(g.Inputs, in)
}

// checkRequires compares what a skill requires with what its content names.
func (c *checker) checkRequires(g *Guide, n *module.Node) {
	c.checkRequired(g, n, "tool", "SKL005", [2]string{"SKL020", "SKL024"})
	c.checkRequired(g, n, "resource", "SKL006", [2]string{"SKL021", "SKL025"})
}

// checkRequired does so for one kind. missing is the code for names that are
// not in the files; reported are the codes for names that are only in the content
// and only in requires.
func (c *checker) checkRequired(g *Guide, n *module.Node, kind, missing string, reported [2]string) {
	required, named := map[string]bool{}, g.named(kind)
	there := map[string]bool{}
	for _, id := range named {
		there[id] = true
	}
	for i, item := range n.Get("requires").Get(kind + "s").List() {
		id, path := QualifiedID(kind, g.Scope, item.Str()), index("skill.requires."+kind+"s", i)
		required[id] = true
		if c.checkPlaceholderID(item, path, kind, item.Str()) {
			g.addReference(missing, kind, item.Str(), path, c.m.Line(place(item)))
		}
		if !there[id] {
			c.strictWarning(reported[1], item, path, "the content does not name %s", item.Str())
		}
	}
	for _, id := range named {
		if !required[id] {
			c.strictWarning(reported[0], n.Get("content"), "skill.content", "%s is not named in requires.%ss", id, kind)
		}
	}
}

// checkPrefill checks the names of the tools to call for prefill.
func (c *checker) checkPrefill(g *Guide, path string) {
	for i, call := range g.Prefill.List() {
		c.checkFullID(orElse(call.Get("tool"), call), index(path+".prefill", i)+".tool", "tool", g.Scope, call.Get("tool").Str())
	}
}

// named returns the qualified names of a kind in the content of a guide.
func (g *Guide) named(kind string) []string {
	var all []string
	for _, m := range GuidePlaceholder.FindAllStringSubmatch(g.Content, -1) {
		rest, ok := strings.CutPrefix(m[1], kind+":")
		name, _, _ := strings.Cut(rest, ":") // without a part of the tool
		if ok {
			all = append(all, QualifiedID(kind, g.Scope, name))
		}
	}
	return distinct(all)
}

// undeclared returns the inputs that the content names without a declaration,
// and adds them to the inputs.
func (g *Guide) undeclared() []string {
	var all []string
	known := map[string]bool{}
	for _, in := range g.Inputs {
		known[in.Key] = true
	}
	for _, m := range GuidePlaceholder.FindAllStringSubmatch(g.Content, -1) {
		key, isInput := strings.CutPrefix(m[1], "input:")
		if !isInput || !InputPattern.MatchString(key) || known[key] {
			continue
		}
		known[key] = true
		all = append(all, key)
		g.Inputs = append(g.Inputs, GuideInput{Key: key, Kind: "string", Required: true})
	}
	return all
}

// checkGuidePlaceholders checks the placeholders in the content of a guide: malformed ones,
// and names to look up.
func (c *checker) checkGuidePlaceholders(g *Guide, at *module.Node, path string) {
	line := c.m.Line(place(at))
	if emptyPlaceholder.MatchString(g.Content) {
		c.lenient("PH001", at, path, "has an empty placeholder {{}}")
	}
	unresolved := map[string]string{"tool": "PH002", "resource": "PH002", "prompt": "PH002", "skill": "SKL022"}
	if g.Kind == "prompt" {
		unresolved = map[string]string{"tool": "PRM009", "resource": "PRM009", "prompt": "PRM009", "skill": "PRM009"}
	}
	for _, m := range GuidePlaceholder.FindAllStringSubmatch(g.Content, -1) {
		kind, rest, _ := strings.Cut(m[1], ":")
		name, _, _ := strings.Cut(rest, ":")
		switch {
		case kind == "input" && !InputPattern.MatchString(rest):
			c.lenient("PH003", at, path, "%q is not the name of an input", rest)
		case unresolved[kind] != "" && name == "":
			c.lenient("PH001", at, path, "has an empty placeholder {{%s}}", m[1])
		case unresolved[kind] != "" && c.checkPlaceholderID(at, path, kind, name):
			g.addReference(unresolved[kind], kind, name, path, line)
		}
		g.nested = g.nested || kind == "skill" && g.Kind == "skill"
	}
}
