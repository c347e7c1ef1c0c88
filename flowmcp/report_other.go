package flowmcp

import (
	"context"
	"path/filepath"
	"slices"
)

// kindOf is what a file holds that is no schema file; empty: it is one, or it
// cannot be told.
func kindOf(path string) string {
	if filepath.Ext(path) != ".mjs" || exports(path, "main") && filepath.Base(path) != agentFile {
		return ""
	}
	if dir := filepath.Base(filepath.Dir(path)); dir == "_lists" || dir == "_shared" {
		return "list"
	}
	for _, kind := range []string{"agent", "selection", "skill", "prompt", "list", "content"} {
		if exports(path, kind) {
			return kind
		}
	}
	if filepath.Base(path) == agentFile {
		return "agent"
	}
	return ""
}

// othersIn are the files of a folder that holds no schema file but lists,
// skills or the like; nil: it is another folder.
func othersIn(spec string) []string {
	if !isFolder(spec) {
		return nil
	}
	paths, err := schemaFiles(spec)
	if err != nil {
		return nil
	}
	for _, path := range paths {
		if kindOf(path) == "" {
			return nil
		}
	}
	return paths
}

// checkOther reports on a file that stands beside schema files.
func checkOther(ctx context.Context, path, kind string, o Options) Report {
	near := newAround(path, nil, nil, o)
	switch kind {
	case "agent", "selection":
		return checkChoice(ctx, path, near)
	case "list":
		return checkListFile(path, o)
	}
	scope := near.scope()
	g := &guide{kind: "prompt", scope: scope, path: path, name: fileBase(path)}
	if kind == "content" { // the text of a prompt that is declared elsewhere
		g.readContent(o)
	} else {
		g = readGuide(path, kind, scope, o)
	}
	for _, beside := range []string{"skill", "prompt"} { // of an agent or a selection: no schema file leads to them
		near.guides = append(near.guides, guidesIn(filepath.Join(near.own, beside+"s"), beside, scope, o)...)
	}
	near.resolve(ctx, []*guide{g})
	return guideReports([]*guide{g})[0]
}

func checkListFile(path string, o Options) Report {
	r := Report{File: path, Kind: "list", Tools: []ToolReport{}, Findings: []Finding{}}
	text, err := readFile(path)
	if err != nil {
		r.Findings = append(r.Findings, syntaxFinding(err))
		return r
	}
	l, findings := parseList(text, o.Strict)
	r.Findings = append(r.Findings, findings...)
	if r.Loads = l != nil; r.Loads {
		r.Name = l.name
	}
	return r
}

// checkLists reports on the shared lists of a catalog, whose names differ.
func checkLists(dir string, o Options) []Report {
	var all []Report
	named := map[string]string{}
	for _, folder := range []string{"_lists", "_shared"} {
		files, _ := filepath.Glob(filepath.Join(dir, folder, "*.mjs"))
		for _, path := range files {
			r := checkListFile(path, o)
			if first := named[r.Name]; r.Name != "" && first != "" {
				f := Finding{Code: "LST002", Severity: Warning, Path: "list.meta.name", Message: "is the name of the list in " + first + " too"}
				if o.Strict {
					f.Severity, r.Loads = Fatal, false
				}
				r.Findings = append(r.Findings, f)
			}
			named[r.Name] = filepath.Base(path)
			all = append(all, r)
		}
	}
	return all
}

// choicesIn are the selections and the agents of a catalog.
func choicesIn(dir string) []string {
	all := selectionsIn(dir)
	agents, _ := filepath.Glob(filepath.Join(dir, "agents", "*", agentFile))
	all = append(all, agents...)
	slices.Sort(all)
	return all
}

// selectionsIn are the selections of a catalog: in the folder selections, or
// below it in one for each namespace.
func selectionsIn(dir string) []string {
	all, _ := filepath.Glob(filepath.Join(dir, "selections", "*.mjs"))
	deep, _ := filepath.Glob(filepath.Join(dir, "selections", "*", "*.mjs"))
	texts := func(path string) bool { return otherThing(filepath.Base(filepath.Dir(path))) }
	return append(all, slices.DeleteFunc(deep, texts)...)
}

// checkChoice reports on a selection or an agent, and on what it names that is
// not there.
func checkChoice(ctx context.Context, path string, near *around) Report {
	s, findings := readChoice(path, near.options)
	r := Report{File: path, Namespace: s.namespace, Name: s.name, Kind: "selection", Tools: []ToolReport{}, Findings: append([]Finding{}, findings...)}
	if exports(path, "agent") || filepath.Base(path) == agentFile {
		r.Kind = "agent"
	}
	for _, f := range near.miss(ctx, s, r.Kind) {
		r.Findings = bounded(r.Findings, f)
	}
	r.Loads = firstError(r.Findings) == "unknown"
	return r
}

// miss are the findings on what a choice names and what is not there, and on
// what the texts name that it brings.
func (a *around) miss(ctx context.Context, s *selection, choice string) []Finding {
	code := "SEL003"
	if choice == "agent" {
		code = "AGT022"
	}
	for _, names := range s.wanted {
		for _, name := range names {
			a.look(ctx, namespaceOf(name))
		}
	}
	there := known(a.files, a.guides)
	var all []Finding
	for _, kind := range []string{"tool", "resource", "prompt", "skill"} {
		for _, name := range s.wanted[kind] {
			f := Finding{Code: code, Severity: Fatal, Path: choice + "." + kind + "s", Line: s.lines[kind+" "+name], Message: name + " is not in the files"}
			if !a.look(ctx, namespaceOf(name)) {
				f.Code, f.Severity, f.Message = "CHK002", Info, notLooked(name)
			}
			if !there[fullName(kind, name)] {
				all = append(all, f)
			}
		}
	}
	read := map[*guide]int{}
	for _, g := range s.guides {
		read[g] = len(g.findings)
	}
	a.resolve(ctx, s.guides)
	for _, g := range s.guides {
		for _, f := range g.findings[read[g]:] {
			all = append(all, brought(f, g, choice+"."+g.kind+"s."+g.name, s.lines["own "+g.id()]))
		}
	}
	return all
}
