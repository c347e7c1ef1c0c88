package flowmcp

import (
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
	for _, kind := range []string{"agent", "selection", "skill", "prompt", "list"} {
		if exports(path, kind) {
			return kind
		}
	}
	if filepath.Base(path) == agentFile {
		return "agent"
	}
	return ""
}

// checkOther reports on a file that stands beside schema files. What it names
// is not looked for.
func checkOther(path, kind string, o Options) Report {
	switch kind {
	case "agent", "selection":
		r, _ := checkChoice(path, o)
		return r
	case "list":
		return checkListFile(path, o)
	}
	return guideReports([]*guide{readGuide(path, kind, "", o)})[0]
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

// choicesIn are the selections and the agents of a catalog.
func choicesIn(dir string) []string {
	var all []string
	for _, pattern := range []string{"selections/*.mjs", "agents/*/" + agentFile} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err == nil {
			all = append(all, found...)
		}
	}
	slices.Sort(all)
	return all
}

func checkChoice(path string, o Options) (Report, *selection) {
	s, findings := readChoice(path, o)
	r := Report{File: path, Namespace: s.namespace, Name: s.name, Kind: "selection", Tools: []ToolReport{}, Findings: append([]Finding{}, findings...)}
	if exports(path, "agent") || filepath.Base(path) == agentFile {
		r.Kind = "agent"
	}
	r.Loads = firstError(findings) == "unknown"
	return r, s
}

// miss reports what a choice names and what is not there.
func (r *Report) miss(s *selection, there map[string]bool) {
	code := "SEL003"
	if r.Kind == "agent" {
		code = "AGT022"
	}
	for _, kind := range []string{"tool", "resource", "prompt", "skill"} {
		for _, name := range s.wanted[kind] {
			if !there[fullName(kind, name)] {
				r.Loads = false
				r.Findings = append(r.Findings, Finding{Code: code, Severity: Fatal, Path: r.Kind + "." + kind + "s", Line: s.lines[kind+" "+name], Message: name + " is not in the files"})
			}
		}
	}
}
