package flowmcp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// selection is a choice of what files offer, in a file of its own.
type selection struct {
	namespace, name string
	dir             string              // of its file
	lines           map[string]int      // where it names them, by kind and name
	wanted          map[string][]string // by kind (tool, resource, prompt, skill): names in full
	guides          []*guide            // skills of the selection itself
}

func newSelection(n *node, path string) *selection {
	return &selection{namespace: n.get("namespace").str(), name: n.get("name").str(), dir: filepath.Dir(path), lines: map[string]int{}, wanted: map[string][]string{}}
}

func (s *selection) want(kind, name string, line int) {
	s.wanted[kind] = append(s.wanted[kind], name)
	s.lines[kind+" "+name] = line
}

// adopt tells the findings of a text that a choice brings: they stand in its
// own file.
func (c *checker) adopt(g *guide, at *node, path string) {
	for _, f := range g.findings {
		c.add(place(at), brought(f, g, path, 0))
	}
}

// brought is a finding of g as one of the place that names its file.
func brought(f Finding, g *guide, path string, line int) Finding {
	f.Message = fmt.Sprintf("%s (%s, line %d, %s)", f.Message, filepath.Base(g.path), f.Line, f.Path)
	f.Path, f.Line = path, line
	return f
}

func (s *selection) id() string { return s.namespace + "/selection/" + s.name }

// readChoice reads the file of a selection or the manifest of an agent.
func readChoice(path string, o Options) (*selection, []Finding) {
	if exports(path, "selection") {
		return readSelection(path, o)
	}
	if exports(path, "agent") || filepath.Base(path) == agentFile {
		return readAgent(path, o)
	}
	return readSelection(path, o)
}

// agentFile is the name of an agent's manifest.
const agentFile = "agent.mjs"

// readSelection reads the file of a selection.
func readSelection(path string, o Options) (*selection, []Finding) {
	c, n := readProse(path, "selection", o)
	s := newSelection(n, path)
	if !n.is(objectKind) {
		if !c.failed {
			c.fault("SEL002", n, "selection", "is not exported as a plain object")
		}
		return s, c.findings
	}
	if n.get("whenToUse").str() == "" {
		c.loose("SEL001", n, "selection.whenToUse", "is missing")
	}
	for _, key := range []string{"namespace", "name", "description"} {
		if n.get(key).str() == "" {
			c.loose("SEL005", orElse(n.get(key), n), "selection."+key, "is missing or no string")
		}
	}
	if v := n.get("version"); v.str() != "flowmcp/4.0.0" {
		c.loose("SEL005", orElse(v, n), "selection.version", "must be flowmcp/4.0.0")
	}
	total := 0
	for _, kind := range []string{"tool", "resource", "prompt", "skill"} {
		total += c.selected(s, kind, n.get(kind+"s"), o)
	}
	if total == 0 {
		c.fault("SEL002", n, "selection", "chooses nothing")
	}
	return s, c.findings
}

// choose leaves in the offer what the selection names. What it names must be
// in the files, served or not.
func (b *offerer) choose(path string, files []*file, guides []*guide) error {
	s, findings := readChoice(path, *b.options)
	if text := firstError(findings); text != "unknown" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: "the choice " + path + " cannot be used: " + text}
	}
	known := known(files, guides)
	for kind, names := range s.wanted {
		for _, name := range names {
			if !known[fullName(kind, name)] {
				return &tenon.Error{Code: tenon.CodeBadSource, Message: "SEL003 " + path + " names " + name + ", which is not in the files"}
			}
		}
	}
	chosen := s.files(files)
	b.offer.Diagnostics = slices.DeleteFunc(b.offer.Diagnostics, func(f tenon.Diagnostic) bool { return !chosen[f.File] })
	b.offer.Tools = slices.DeleteFunc(b.offer.Tools, func(t tenon.Tool) bool { return !s.has(metaID(t.Meta)) })
	b.offer.Resources = slices.DeleteFunc(b.offer.Resources, func(r tenon.Resource) bool {
		return !slices.ContainsFunc(s.wanted["resource"], func(name string) bool { return "flowmcp://"+fullName("resource", name) == r.URI })
	})
	b.offer.Prompts = slices.DeleteFunc(b.offer.Prompts, func(p tenon.Prompt) bool {
		return !slices.ContainsFunc(append(s.wanted["prompt"], s.wanted["skill"]...), func(name string) bool {
			return fullName("prompt", name) == p.Name || fullName("skill", name) == p.Name
		})
	})
	b.cases = slices.DeleteFunc(b.cases, func(c TestCase) bool { return !s.has(c.ID) })
	for i := range b.standings {
		if of := &b.standings[i]; !s.has(of.ID) {
			of.Served, of.Needs = false, []Need{{Kind: NeedChoice}}
		}
	}
	b.guides(s.guides)
	return nil
}

// files are the paths of the files that hold what the selection names: what is
// wrong with others keeps nothing from being served.
func (s *selection) files(all []*file) map[string]bool {
	chosen := map[string]bool{}
	for kind, names := range s.wanted {
		for _, name := range names {
			for _, f := range all {
				if known([]*file{f}, f.prompts)[fullName(kind, name)] {
					chosen[f.path] = true
				}
			}
		}
	}
	return chosen
}

// fullName is a name with its kind: namespace/kind/name.
func fullName(kind, name string) string {
	if namespace, rest, ok := strings.Cut(name, "/"); ok && !strings.Contains(rest, "/") {
		return namespace + "/" + kind + "/" + rest
	}
	return name
}

func known(files []*file, guides []*guide) map[string]bool {
	all := map[string]bool{}
	for _, f := range files {
		for _, t := range f.routes {
			all[f.namespace+"/tool/"+t.name] = true
		}
		for _, r := range f.resources {
			all[f.namespace+"/resource/"+r.name] = true
		}
	}
	for _, g := range guides {
		all[g.id()] = true
	}
	return all
}

func metaID(meta []byte) string {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return ""
	}
	return doc.Str(doc.Get(doc.Root(), "flowmcp/id"))
}

// has reports whether the tool with this id was chosen: itself, or the
// resource that it asks.
func (s *selection) has(id string) bool {
	for _, name := range s.wanted["tool"] {
		if MatchesID(fullName("tool", name), id) {
			return true
		}
	}
	namespace, rest, _ := strings.Cut(id, "/")
	_, route, _ := strings.Cut(rest, "::")
	resource, _, _ := strings.Cut(route, ".")
	return slices.ContainsFunc(s.wanted["resource"], func(name string) bool { return fullName("resource", name) == namespace+"/resource/"+resource })
}
