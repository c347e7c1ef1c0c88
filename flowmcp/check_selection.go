package flowmcp

import (
	"path/filepath"
	"strings"
)

// maxSkills is how many skills a selection or an agent may have.
const maxSkills = 4

func (c *checker) checkSkillCount(skills *node, path string) {
	if n := len(skills.list()) + len(skills.keysOrNone()); n > maxSkills {
		c.loose("SKL018", skills, path, "has %d skills; %d are allowed", n, maxSkills)
	}
}

// selected reads what a selection chooses of one kind, and counts it: names in
// full, and of skills also files of its own.
func (c *checker) selected(s *selection, kind string, chosen *node, o Options) int {
	path := "selection." + kind + "s"
	for i, item := range chosen.list() {
		if id := item.str(); !strings.Contains(id, "/") {
			c.fault("VAL110", item, index(path, i), "%q must be a name in full, with slashes", id)
		} else {
			c.checkID(item, index(path, i), kind, id)
			s.want(kind, id, c.m.line(place(item)))
		}
	}
	own := chosen.keysOrNone()
	switch {
	case kind == "skill":
		c.checkSkillCount(chosen, path)
	case len(own) > 0:
		c.fault("VAL110", chosen, path, "must be an array of names in full")
		return 0
	}
	for i, key := range own {
		c.selectedSkill(s, key, chosen.items[i], path+"."+key, o)
	}
	return len(chosen.list()) + len(own)
}

// selectedSkill reads a skill of the selection's own.
func (c *checker) selectedSkill(s *selection, key string, item *node, path string, o Options) {
	if strings.Contains(key, "/") {
		c.loose("VAL110", item, path, "the key of a skill of its own has no slash; skills of others stand in an array")
	}
	if file, ok := ownFile(s, item, path, c.fault); ok {
		g := c.ownSkill(s, key, file, item, o)
		c.info("SEL004", item, path, "the skill in %s was checked for itself: %d findings", filepath.Base(file), len(g.findings))
		c.adopt(g, item, path)
	}
}

// report is how a checker tells a finding.
type report func(code string, at *node, path, format string, args ...any)

// ownFile is where the skill stands that a selection or an agent brings. A
// selection without it is not what it says; an agent is used without it.
func ownFile(s *selection, item *node, path string, bad report) (string, bool) {
	file := item.get("file")
	name := filepath.FromSlash(file.str())
	if filepath.Ext(name) != ".mjs" {
		bad("SKL016", orElse(file, item), path+".file", "must name a file .mjs")
		return "", false
	}
	if _, err := inside(s.dir, name); err != nil {
		bad("SKL017", file, path+".file", "is not there, or not below the folder of the file that names it")
		return "", false
	}
	return filepath.Join(s.dir, name), true
}

// ownSkill reads the skill in a file that a selection or an agent brings under
// a key.
func (c *checker) ownSkill(s *selection, key, file string, item *node, o Options) *guide {
	g := readGuide(file, "skill", s.name, o)
	if g.name != "" && g.name != key {
		c.warn("SKL003", item, "skills."+key, "names the skill %s", g.name)
	}
	s.lines["own "+g.id()] = c.m.line(place(item))
	s.guides = append(s.guides, g)
	return g
}
