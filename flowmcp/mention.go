package flowmcp

import "fmt"

// mention is something that a guide names and that must be in the files.
type mention struct {
	code, kind, name string
	path             string // where it stands
	line             int
}

func (g *guide) mention(code, kind, name, path string, line int) {
	g.mentions = append(g.mentions, mention{code, kind, name, path, line})
}

// resolve looks for what guides mention. What is not there, and what leads on
// where it must not, is a finding of the guide or, for a definition, of the
// schema file that it stands in.
func resolve(files []*file, guides []*guide, strict bool) {
	there := known(files, guides)
	byID := map[string]*guide{}
	for _, g := range guides {
		byID[g.id()] = g
	}
	severity := Warning
	if strict {
		severity = Fatal
	}
	for _, g := range guides {
		add := func(m mention, code, what string) {
			f := Finding{Code: code, Severity: severity, Path: m.path, Line: m.line, Message: what}
			g.failed = g.failed || strict
			if g.file != nil && m.path != "content" {
				g.file.findings = append(g.file.findings, f)
				return
			}
			g.findings = append(g.findings, f)
		}
		for _, m := range g.mentions {
			id := idOf(m.kind, g.scope, m.name)
			other := byID[id]
			switch {
			case !there[id]:
				add(m, m.code, fmt.Sprintf("the %s %s is not in the files", m.kind, id))
			case m.code == "PRM007" && other != nil && other.deep:
				add(m, "PRM008", "the prompt "+id+" has references of its own")
			case m.code == "SKL022" && other != nil && other.deep:
				add(m, "SKL023", "the skill "+id+" names skills of its own")
			}
		}
	}
}
