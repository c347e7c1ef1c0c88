package format

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// Selection chooses what is served from schema files. It is a file of its own.
type Selection struct {
	namespace, Name string
	dir             string              // folder of its file
	lines           map[string]int      // lines of the names, by kind and name
	Wanted          map[string][]string // by kind (tool, resource, prompt, skill): qualified names
	Guides          []*Guide            // its own skills and prompts
}

func newSelection(n *module.Node, path string) *Selection {
	return &Selection{namespace: n.Get("namespace").Str(), Name: n.Get("name").Str(), dir: filepath.Dir(path), lines: map[string]int{}, Wanted: map[string][]string{}}
}

func (s *Selection) want(kind, name string, line int) {
	s.Wanted[kind] = append(s.Wanted[kind], name)
	s.lines[kind+" "+name] = line
}

// adoptFindings reports the findings of a text that a selection brings, in the
// selection's file.
func (c *checker) adoptFindings(g *Guide, at *module.Node, path string) {
	for _, f := range g.Findings {
		c.add(place(at), fromBrought(f, g, path, 0))
	}
}

// fromBrought converts a finding of g to one at the place that refers to its file.
func fromBrought(f Finding, g *Guide, path string, line int) Finding {
	f.Message = fmt.Sprintf("%s (%s, line %d, %s)", f.Message, filepath.Base(g.Path), f.Line, f.Path)
	f.Path, f.Line = path, line
	return f
}

func (s *Selection) id() string { return s.namespace + "/selection/" + s.Name }

// ReadChoice reads the file of a selection or the manifest of an agent.
func ReadChoice(path string, o Options) (*Selection, []Finding) {
	if exports(path, "selection") {
		return ReadSelection(path, o)
	}
	if exports(path, "agent") || filepath.Base(path) == agentFile {
		return readAgent(path, o)
	}
	return ReadSelection(path, o)
}

// agentFile is the file name of an agent's manifest.
const agentFile = "agent.mjs"

// ReadSelection reads the file of a selection.
func ReadSelection(path string, o Options) (*Selection, []Finding) {
	c, n := readProse(path, "selection", o)
	s := newSelection(n, path)
	if !n.Is(module.Object) {
		if !c.failed {
			c.error("SEL002", n, "selection", "is not exported as a plain object")
		}
		return s, c.findings
	}
	if n.Get("whenToUse").Str() == "" {
		c.lenient("SEL001", n, "selection.whenToUse", "is missing")
	}
	for _, key := range []string{"namespace", "name", "description"} {
		if n.Get(key).Str() == "" {
			c.lenient("SEL005", orElse(n.Get(key), n), "selection."+key, "is missing or no string")
		}
	}
	if v := n.Get("version"); v.Str() != "flowmcp/4.0.0" {
		c.lenient("SEL005", orElse(v, n), "selection.version", "must be flowmcp/4.0.0")
	}
	total := 0
	for _, kind := range []string{"tool", "resource", "prompt", "skill"} {
		total += c.readSelected(s, kind, n.Get(kind+"s"), o)
	}
	if total == 0 {
		c.error("SEL002", n, "selection", "chooses nothing")
	}
	return s, c.findings
}

// Files returns the paths of the files that the selection uses. Problems of
// other files are not reported.
func (s *Selection) Files(all []*File) map[string]bool {
	chosen := map[string]bool{}
	for kind, names := range s.Wanted {
		for _, name := range names {
			for _, f := range all {
				if Known([]*File{f}, f.Prompts)[FullName(kind, name)] {
					chosen[f.Path] = true
				}
			}
		}
	}
	return chosen
}

// FullName adds the kind to a name: namespace/kind/name.
func FullName(kind, name string) string {
	if namespace, rest, ok := strings.Cut(name, "/"); ok && !strings.Contains(rest, "/") {
		return namespace + "/" + kind + "/" + rest
	}
	return name
}

// Known returns the qualified names that files and guides define.
func Known(files []*File, guides []*Guide) map[string]bool {
	all := map[string]bool{}
	for _, f := range files {
		for _, t := range f.Tools {
			all[f.Namespace+"/tool/"+t.Name] = true
		}
		for _, r := range f.Resources {
			all[f.Namespace+"/resource/"+r.Name] = true
		}
	}
	for _, g := range guides {
		all[g.ID()] = true
	}
	return all
}

// Has reports whether the tool with this id was selected, itself or by its
// resource.
func (s *Selection) Has(id string) bool {
	for _, name := range s.Wanted["tool"] {
		if MatchesID(FullName("tool", name), id) {
			return true
		}
	}
	namespace, rest, _ := strings.Cut(id, "/")
	_, route, _ := strings.Cut(rest, "::")
	resource, _, _ := strings.Cut(route, ".")
	return slices.ContainsFunc(s.Wanted["resource"], func(name string) bool { return FullName("resource", name) == namespace+"/resource/"+resource })
}

// maxSkills is the maximum number of skills of a selection or an agent.
const maxSkills = 4

func (c *checker) checkSkillCount(skills *module.Node, path string) {
	if n := len(skills.List()) + len(skills.ObjectKeys()); n > maxSkills {
		c.lenient("SKL018", skills, path, "has %d skills; %d are allowed", n, maxSkills)
	}
}

// readSelected reads what a selection chooses of one kind and returns the count:
// qualified names and, for skills, files of its own.
func (c *checker) readSelected(s *Selection, kind string, chosen *module.Node, o Options) int {
	path := "selection." + kind + "s"
	for i, item := range chosen.List() {
		if id := item.Str(); !strings.Contains(id, "/") {
			c.error("VAL110", item, index(path, i), "%q must be a qualified name, with slashes", id)
		} else {
			c.checkID(item, index(path, i), kind, id)
			s.want(kind, id, c.m.Line(place(item)))
		}
	}
	own := chosen.ObjectKeys()
	switch {
	case kind == "skill":
		c.checkSkillCount(chosen, path)
	case len(own) > 0:
		c.error("VAL110", chosen, path, "must be an array of qualified names")
		return 0
	}
	for i, key := range own {
		c.readSelectedSkill(s, key, chosen.Items[i], path+"."+key, o)
	}
	return len(chosen.List()) + len(own)
}

// readSelectedSkill reads a skill that the selection itself brings.
func (c *checker) readSelectedSkill(s *Selection, key string, item *module.Node, path string, o Options) {
	if strings.Contains(key, "/") {
		c.lenient("VAL110", item, path, "the key of a skill of its own has no slash; other skills are listed in an array")
	}
	if file, ok := ownFile(s, item, path, c.error); ok {
		g := c.readOwnSkill(s, key, file, item, o)
		c.info("SEL004", item, path, "the skill in %s was checked separately: %d findings", filepath.Base(file), len(g.Findings))
		c.adoptFindings(g, item, path)
	}
}

// report is a method of checker that adds a finding.
type report func(code string, at *module.Node, path, format string, args ...any)

// ownFile returns the path of a skill that a selection or an agent brings. The
// finding is reported by bad: an error for a selection, a warning for an agent.
func ownFile(s *Selection, item *module.Node, path string, bad report) (string, bool) {
	file := item.Get("file")
	name := filepath.FromSlash(file.Str())
	if filepath.Ext(name) != ".mjs" {
		bad("SKL016", orElse(file, item), path+".file", "must name a file .mjs")
		return "", false
	}
	if _, err := Inside(s.dir, name); err != nil {
		bad("SKL017", file, path+".file", "is missing, or not below the folder of the file that names it")
		return "", false
	}
	return filepath.Join(s.dir, name), true
}

// readOwnSkill reads a skill that a selection or an agent brings.
func (c *checker) readOwnSkill(s *Selection, key, file string, item *module.Node, o Options) *Guide {
	g := readGuide(file, "skill", s.Name, o)
	if g.Name != "" && g.Name != key {
		c.warn("SKL003", item, "skills."+key, "names the skill %s", g.Name)
	}
	s.lines["own "+g.ID()] = c.m.Line(place(item))
	s.Guides = append(s.Guides, g)
	return g
}
