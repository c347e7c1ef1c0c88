package flowmcp

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxDescription bounds the description of a guide, in bytes.
const maxDescription = 1024

// checkSkill reads a skill and keeps its rules.
func (c *checker) checkSkill(g *guide, n *node) {
	g.name, g.text, g.content, g.prefill = n.get("name").str(), n.get("description").str(), n.get("content").str(), n.get("prefill")
	if !skillPattern.MatchString(g.name) {
		c.fault("SKL002", orElse(n.get("name"), n), "skill.name", "must match %s", skillPattern)
	} else if base := fileBase(g.path); base != g.name {
		c.warn("SKL003", n.get("name"), "skill.name", "is %s in the file %s", g.name, filepath.Base(g.path))
	}
	switch v := n.get("version"); v.str() {
	case "flowmcp/4.0.0":
	case "flowmcp-skill/1.0.0":
		c.warn("SKL004", v, "skill.version", "%s is accepted during migration only; use flowmcp/4.0.0", v.str())
	default:
		c.loose("SKL004", orElse(v, n), "skill.version", "must be flowmcp/4.0.0")
	}
	if kind := n.get("type"); kind.there() && !slices.Contains([]string{"namespace", "selection", "agent"}, kind.str()) {
		c.loose("SKL013", kind, "skill.type", "must be namespace, selection or agent")
	}
	if g.text == "" || len(g.text) > maxDescription {
		c.loose("SKL007", orElse(n.get("description"), n), "skill.description", "must be a text of at most %d bytes", maxDescription)
	}
	if g.content == "" || len(g.content) > maxContent {
		c.fault("SKL010", orElse(n.get("content"), n), "skill.content", "must be a text of at most %d bytes", maxContent)
	}
	if n.get("output").str() == "" {
		c.letter("SKL011", orElse(n.get("output"), n), "skill.output", "must say what comes out")
	}
	if n.get("whenToUse").str() == "" {
		c.letter("SKL019", orElse(n.get("whenToUse"), n), "skill.whenToUse", "must say when the skill is of use")
	}
	for i, item := range n.get("input").list() {
		c.readInput(g, item, index("skill.input", i))
	}
	c.checkMarks(g, n.get("content"), "skill.content")
	c.checkPrefill(g, "skill")
	for _, key := range g.undeclared() {
		c.loose("SKL008", n.get("content"), "skill.content", "the input %s is not declared", key)
	}
	c.checkRequires(g, n)
}

func (c *checker) readInput(g *guide, n *node, path string) {
	in := guideInput{
		key: n.get("key").str(), kind: n.get("type").str(), text: n.get("description").str(),
		required: n.get("required").yes(), values: n.get("values").strs(),
	}
	if !inputPattern.MatchString(in.key) {
		c.fault("SKL012", orElse(n.get("key"), n), path+".key", "must match %s", inputPattern)
	} else if !camelPattern.MatchString(in.key) {
		c.letter("SKL012", n.get("key"), path+".key", "%q is not camelCase", in.key)
	}
	if !slices.Contains([]string{"string", "number", "boolean", "enum"}, in.kind) {
		c.loose("SKL013", orElse(n.get("type"), n), path+".type", "must be string, number, boolean or enum")
	}
	if (in.kind == "enum") != (len(in.values) > 0) {
		c.loose("SKL009", n, path+".values", "go with the type enum, and only with it")
	}
	if in.text == "" {
		c.letter("SKL014", orElse(n.get("description"), n), path+".description", "is missing or no string")
	}
	if !n.get("required").is(boolKind) {
		c.letter("SKL015", orElse(n.get("required"), n), path+".required", "must be a boolean")
	}
	g.inputs = append(g.inputs, in)
}

// checkRequires compares what a skill requires with what its content names.
func (c *checker) checkRequires(g *guide, n *node) {
	c.checkRequired(g, n, "tool", "SKL005", [2]string{"SKL020", "SKL024"})
	c.checkRequired(g, n, "resource", "SKL006", [2]string{"SKL021", "SKL025"})
}

// checkRequired does so for one kind: missing is the code of what is not in the
// files, told are those of what only the content names and of what it does not.
func (c *checker) checkRequired(g *guide, n *node, kind, missing string, told [2]string) {
	required, named := map[string]bool{}, g.named(kind)
	there := map[string]bool{}
	for _, id := range named {
		there[id] = true
	}
	for i, item := range n.get("requires").get(kind + "s").list() {
		id, path := idOf(kind, g.scope, item.str()), index("skill.requires."+kind+"s", i)
		required[id] = true
		if c.checkMarkID(item, path, kind, item.str()) {
			g.mention(missing, kind, item.str(), path, c.m.line(place(item)))
		}
		if !there[id] {
			c.advise(told[1], item, path, "the content does not name %s", item.str())
		}
	}
	for _, id := range named {
		if !required[id] {
			c.advise(told[0], n.get("content"), "skill.content", "%s is not named in requires.%ss", id, kind)
		}
	}
}

// checkPrefill looks at the names of the tools that are called for a text.
func (c *checker) checkPrefill(g *guide, path string) {
	for i, call := range g.prefill.list() {
		c.checkOuterID(orElse(call.get("tool"), call), index(path+".prefill", i)+".tool", "tool", g.scope, call.get("tool").str())
	}
}

// named are the ids of a kind that the content of a guide names.
func (g *guide) named(kind string) []string {
	var all []string
	for _, m := range guideMark.FindAllStringSubmatch(g.content, -1) {
		rest, ok := strings.CutPrefix(m[1], kind+":")
		name, _, _ := strings.Cut(rest, ":") // a part of the tool
		if ok {
			all = append(all, idOf(kind, g.scope, name))
		}
	}
	return distinct(all)
}

// undeclared are the inputs that the content names and that nothing declares.
// They are wanted anyway.
func (g *guide) undeclared() []string {
	var all []string
	known := map[string]bool{}
	for _, in := range g.inputs {
		known[in.key] = true
	}
	for _, m := range guideMark.FindAllStringSubmatch(g.content, -1) {
		key, isInput := strings.CutPrefix(m[1], "input:")
		if !isInput || !inputPattern.MatchString(key) || known[key] {
			continue
		}
		known[key] = true
		all = append(all, key)
		g.inputs = append(g.inputs, guideInput{key: key, kind: "string", required: true})
	}
	return all
}

// checkMarks looks at the places in the content of a guide: those that cannot
// be filled at all, and those that name what must be there.
func (c *checker) checkMarks(g *guide, at *node, path string) {
	line := c.m.line(place(at))
	if emptyMark.MatchString(g.content) {
		c.loose("PH001", at, path, "has an empty place {{}}")
	}
	unresolved := map[string]string{"tool": "PH002", "resource": "PH002", "prompt": "PH002", "skill": "SKL022"}
	if g.kind == "prompt" {
		unresolved = map[string]string{"tool": "PRM009", "resource": "PRM009", "prompt": "PRM009", "skill": "PRM009"}
	}
	for _, m := range guideMark.FindAllStringSubmatch(g.content, -1) {
		kind, rest, _ := strings.Cut(m[1], ":")
		name, _, _ := strings.Cut(rest, ":")
		switch {
		case kind == "input" && !inputPattern.MatchString(rest):
			c.loose("PH003", at, path, "%q is no name of an input", rest)
		case unresolved[kind] != "" && name == "":
			c.loose("PH001", at, path, "has an empty place {{%s}}", m[1])
		case unresolved[kind] != "" && c.checkMarkID(at, path, kind, name):
			g.mention(unresolved[kind], kind, name, path, line)
		}
		g.deep = g.deep || kind == "skill" && g.kind == "skill"
	}
}
