package flowmcp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// selection is a choice of what files offer, in a file of its own.
type selection struct {
	name   string
	wanted map[string][]string // by kind (tool, resource, prompt, skill): names in full
	guides []*guide            // skills of the selection itself
}

// readSelection reads the file of a selection.
func readSelection(path string, o Options) (*selection, []Finding) {
	c, n := readProse(path, "selection", o)
	s := &selection{name: n.get("name").str(), wanted: map[string][]string{}}
	if !n.is(objectKind) {
		if !c.failed {
			c.fault("SEL002", n, "selection", "is not exported as a plain object")
		}
		return s, c.findings
	}
	if n.get("whenToUse").str() == "" {
		c.loose("SEL001", n, "selection.whenToUse", "is missing")
	}
	total := 0
	for _, kind := range []string{"tool", "resource", "prompt", "skill"} {
		list := n.get(kind + "s")
		s.wanted[kind] = list.strs()
		list.members(func(key string, item *node) { // own skills: an object of files
			file := filepath.FromSlash(item.get("file").str())
			if kind != "skill" || !filepath.IsLocal(file) || filepath.Ext(file) != ".mjs" {
				c.fault("SEL003", item, "selection."+kind+"s."+key, "must be a name in full, or a skill's file below the folder of the selection")
				return
			}
			g := readGuide(filepath.Join(filepath.Dir(path), file), kind, s.name, o)
			c.findings = append(c.findings, g.findings...)
			s.guides = append(s.guides, g)
			total++
		})
		total += len(s.wanted[kind])
	}
	if total == 0 {
		c.fault("SEL002", n, "selection", "chooses nothing")
	}
	return s, c.findings
}

// choose leaves in the offer what the selection names. What it names must be
// in the files, served or not.
func (b *offerer) choose(path string, files []*file, guides []*guide) error {
	s, findings := readSelection(path, *b.options)
	if text := firstError(findings); text != "unknown" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: "the selection " + path + " cannot be used: " + text}
	}
	known := known(files, guides)
	for kind, names := range s.wanted {
		for _, name := range names {
			if !known[fullName(kind, name)] {
				return &tenon.Error{Code: tenon.CodeBadSource, Message: "SEL003 the selection " + path + " names " + name + ", which is not in the files"}
			}
		}
	}
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
	b.guides(s.guides)
	return nil
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
		if Names(fullName("tool", name), id) {
			return true
		}
	}
	namespace, rest, _ := strings.Cut(id, "/")
	_, route, _ := strings.Cut(rest, "::")
	resource, _, _ := strings.Cut(route, ".")
	return slices.ContainsFunc(s.wanted["resource"], func(name string) bool { return fullName("resource", name) == namespace+"/resource/"+resource })
}
