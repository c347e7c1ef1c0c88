package flowmcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// around is where names are looked for: the files at hand, and those of the
// folders that a name leads to. A library has a folder providers, and in it one
// for each namespace. Nothing is read before something is named. Without the
// two folders only the files at hand count.
type around struct {
	options   Options
	files     []*file
	guides    []*guide
	own       string          // folder of the one file at hand; empty: a whole folder is at hand
	providers string          // empty: there is none, or none is looked into
	looked    map[string]bool // namespaces; true: they were looked for
}

// newAround begins with what is at hand of spec.
func newAround(spec string, files []*file, guides []*guide, o Options) *around {
	a := &around{options: o, files: files, guides: guides, providers: providersNear(spec)}
	if isFolder(spec) {
		return a
	}
	if a.own = filepath.Dir(spec); len(files) == 0 && otherThing(filepath.Base(a.own)) {
		a.own = filepath.Dir(a.own) // of a skill or a prompt: the folder of its schema files
	}
	return a
}

// scope is the namespace of the folder at hand, in which a text stands for
// itself: that of its schema files, or the name of its agent or its selection.
func (a *around) scope() string {
	a.read(a.own)
	for _, f := range a.files {
		if f.namespace != "" {
			return f.namespace
		}
	}
	return filepath.Base(absolute(a.own))
}

// maxUp is how many levels above a file its library may begin.
const maxUp = 6

// providersNear is the folder providers that spec is in, or that stands in a
// folder above it; empty: there is none.
func providersNear(spec string) string {
	dir, err := filepath.Abs(spec)
	if err != nil {
		return ""
	}
	for range maxUp {
		if filepath.Base(dir) == "providers" && isFolder(dir) {
			return dir
		}
		if below := filepath.Join(dir, "providers"); isFolder(below) {
			return below
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
		}
	}
	return ""
}

// look reads the folder of a namespace, once. false: it is not known where
// that folder would be.
func (a *around) look(ctx context.Context, namespace string) bool {
	done, seen := a.looked[namespace]
	if seen {
		return done
	}
	if len(a.looked) >= maxGuides || ctx.Err() != nil {
		return false
	}
	if a.looked == nil {
		a.looked = map[string]bool{}
		a.read(a.own) // what was read already is left out
	}
	here := a.own == "" && a.providers == ""
	for _, f := range a.files {
		here = here || f.namespace == namespace
	}
	if !here && a.providers != "" && namespacePattern.MatchString(namespace) {
		a.read(filepath.Join(a.providers, namespace))
	}
	a.looked[namespace] = here || a.providers != ""
	return a.looked[namespace]
}

// read adds the schema files that stand in a folder, and what stands beside
// them. Of those only the names count, so that no lists are read for them.
func (a *around) read(dir string) {
	if dir == "" {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	known := map[string]bool{}
	for _, f := range a.files {
		known[absolute(f.path)] = true
	}
	var more []*file
	for _, e := range entries[:min(len(entries), maxGuides)] {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || hidden(e.Name()) || filepath.Ext(path) != ".mjs" || known[absolute(path)] {
			continue
		}
		if text, err := readFile(path); err == nil {
			more = append(more, readSchema(path, text, rules{shelf: newShelf("", false)}))
		}
	}
	a.files = append(a.files, more...)
	a.guides = append(a.guides, readGuides(more, a.options)...)
}

// absolute is a path by which a file is known however it is named.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// resolve looks for what guides mention. What is not there, and what leads on
// where it must not, is a finding of the guide or, for a definition, of the
// schema file that it stands in.
func (a *around) resolve(ctx context.Context, guides []*guide) {
	if !slices.ContainsFunc(guides, func(g *guide) bool { return len(g.mentions) > 0 }) {
		return
	}
	for _, g := range guides {
		for _, m := range g.mentions {
			a.look(ctx, namespaceOf(idOf(m.kind, g.scope, m.name)))
		}
	}
	all := append(slices.Clip(a.guides), guides...)
	there, byID := known(a.files, all), map[string]*guide{}
	for _, g := range all {
		byID[g.id()] = g
	}
	for _, g := range guides {
		for _, m := range g.mentions {
			id := idOf(m.kind, g.scope, m.name)
			other := byID[id]
			switch {
			case !there[id] && !a.look(ctx, namespaceOf(id)):
				g.found(m, "CHK002", Info, notLooked(m.kind+" "+id))
			case !there[id]:
				g.found(m, m.code, a.severity(), fmt.Sprintf("the %s %s is not in the files", m.kind, id))
			case m.code == "PRM007" && other != nil && other.deep:
				g.found(m, "PRM008", a.severity(), "the prompt "+id+" has references of its own")
			case m.code == "SKL022" && other != nil && other.deep:
				g.found(m, "SKL023", a.severity(), "the skill "+id+" names skills of its own")
			}
		}
	}
}

func (a *around) severity() Severity {
	if a.options.Strict {
		return Fatal
	}
	return Warning
}

func notLooked(what string) string {
	return "the " + what + " was not looked for: the file stands in no folder providers, and none stands above it"
}

// namespaceOf is the first part of a name in full.
func namespaceOf(id string) string {
	namespace, _, _ := strings.Cut(id, "/")
	return namespace
}
