package format

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Resolver looks up names in the files at hand and in the folders of other
// namespaces. A library has a folder providers with a folder for each
// namespace. Folders are read on demand. Outside a library only the files at
// hand are searched.
type Resolver struct {
	Options   Options
	Files     []*File
	Guides    []*Guide
	folder    string          // folder of a single file; empty: a whole folder is checked
	providers string          // empty: not in a library, or not searched
	lookedUp  map[string]bool // searched namespaces; true: found a place to search
}

// newResolver starts with the files and guides at spec.
func newResolver(spec string, files []*File, guides []*Guide, o Options) *Resolver {
	a := &Resolver{Options: o, Files: files, Guides: guides, providers: providersNear(spec)}
	if IsFolder(spec) {
		return a
	}
	if a.folder = filepath.Dir(spec); len(files) == 0 && isOtherFolder(filepath.Base(a.folder)) {
		a.folder = filepath.Dir(a.folder) // of a skill or a prompt: use the folder of its schema files
	}
	return a
}

// scope returns the namespace of the folder at hand for a text that is checked
// alone: that of its schema files, or the name of its agent or selection.
func (a *Resolver) scope() string {
	a.read(a.folder)
	for _, f := range a.Files {
		if f.Namespace != "" {
			return f.Namespace
		}
	}
	return filepath.Base(absolute(a.folder))
}

// maxUp is the number of parent folders searched for the root of a library.
const maxUp = 6

// providersNear returns the folder providers above spec, or "".
func providersNear(spec string) string {
	dir, err := filepath.Abs(spec)
	if err != nil {
		return ""
	}
	for range maxUp {
		if filepath.Base(dir) == "providers" && IsFolder(dir) {
			return dir
		}
		if below := filepath.Join(dir, "providers"); IsFolder(below) {
			return below
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
		}
	}
	return ""
}

// lookUp reads the folder of a namespace once. It returns false where the
// location of that folder is unknown.
func (a *Resolver) lookUp(ctx context.Context, namespace string) bool {
	done, seen := a.lookedUp[namespace]
	if seen {
		return done
	}
	if len(a.lookedUp) >= maxGuides || ctx.Err() != nil {
		return false
	}
	if a.lookedUp == nil {
		a.lookedUp = map[string]bool{}
		a.read(a.folder) // skips files that were already read
	}
	here := a.folder == "" && a.providers == ""
	for _, f := range a.Files {
		here = here || f.Namespace == namespace
	}
	if !here && a.providers != "" && NamespacePattern.MatchString(namespace) {
		a.read(filepath.Join(a.providers, namespace))
	}
	a.lookedUp[namespace] = here || a.providers != ""
	return a.lookedUp[namespace]
}

// read adds the schema files in a folder and the guides beside them. Only their
// names matter, so shared lists are not read.
func (a *Resolver) read(dir string) {
	if dir == "" {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	known := map[string]bool{}
	for _, f := range a.Files {
		known[absolute(f.Path)] = true
	}
	var more []*File
	for _, e := range entries[:min(len(entries), maxGuides)] {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || isHidden(e.Name()) || filepath.Ext(path) != ".mjs" || known[absolute(path)] {
			continue
		}
		if text, err := readFile(path); err == nil {
			more = append(more, ReadSchema(path, text, Rules{Lists: NewListFolder("", false)}))
		}
	}
	a.Files = append(a.Files, more...)
	a.Guides = append(a.Guides, ReadGuides(more, a.Options)...)
}

// absolute returns a canonical path for comparisons.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Resolve looks up what guides refer to. What is missing, or nested too deeply,
// is a finding of the guide or, for a definition, of the schema file that
// contains it.
func (a *Resolver) Resolve(ctx context.Context, guides []*Guide) {
	if !slices.ContainsFunc(guides, func(g *Guide) bool { return len(g.references) > 0 }) {
		return
	}
	for _, g := range guides {
		for _, m := range g.references {
			a.lookUp(ctx, namespaceOf(QualifiedID(m.kind, g.Scope, m.name)))
		}
	}
	all := append(slices.Clip(a.Guides), guides...)
	there, byID := Known(a.Files, all), map[string]*Guide{}
	for _, g := range all {
		byID[g.ID()] = g
	}
	for _, g := range guides {
		for _, m := range g.references {
			id := QualifiedID(m.kind, g.Scope, m.name)
			other := byID[id]
			switch {
			case !there[id] && !a.lookUp(ctx, namespaceOf(id)):
				g.addFinding(m, "CHK002", Info, notLookedUp(m.kind+" "+id))
			case !there[id]:
				g.addFinding(m, m.code, a.severity(), fmt.Sprintf("the %s %s is not in the files", m.kind, id))
			case m.code == "PRM007" && other != nil && other.nested:
				g.addFinding(m, "PRM008", a.severity(), "the prompt "+id+" has references of its own")
			case m.code == "SKL022" && other != nil && other.nested:
				g.addFinding(m, "SKL023", a.severity(), "the skill "+id+" names skills of its own")
			}
		}
	}
}

func (a *Resolver) severity() Severity {
	if a.Options.Strict {
		return Fatal
	}
	return Warning
}

func notLookedUp(what string) string {
	return "the " + what + " was not looked up: the file is not in a folder providers, and none is above it"
}

// namespaceOf returns the first part of a qualified name.
func namespaceOf(id string) string {
	namespace, _, _ := strings.Cut(id, "/")
	return namespace
}

// guideReference is a name in a guide that must exist in the files.
type guideReference struct {
	code, kind, name string
	path             string // its path in the file
	line             int
}

func (g *Guide) addReference(code, kind, name, path string, line int) {
	g.references = append(g.references, guideReference{code, kind, name, path, line})
}

// addFinding adds a finding on a mention. For a definition in a schema file it is
// reported there.
func (g *Guide) addFinding(m guideReference, code string, s Severity, what string) {
	f := Finding{Code: code, Severity: s, Path: m.path, Line: m.line, Message: what}
	g.Failed = g.Failed || s == Fatal
	if g.file != nil && m.path != "content" {
		g.file.Findings = bounded(g.file.Findings, f)
		return
	}
	g.Findings = bounded(g.Findings, f)
}
