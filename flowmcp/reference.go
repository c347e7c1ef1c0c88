package flowmcp

// mention is something that a guide names and that must be in the files.
type mention struct {
	code, kind, name string
	path             string // where it stands
	line             int
}

func (g *guide) mention(code, kind, name, path string, line int) {
	g.mentions = append(g.mentions, mention{code, kind, name, path, line})
}

// found notes a finding on what g mentions. A definition in a schema file is
// reported there.
func (g *guide) found(m mention, code string, s Severity, what string) {
	f := Finding{Code: code, Severity: s, Path: m.path, Line: m.line, Message: what}
	g.failed = g.failed || s == Fatal
	if g.file != nil && m.path != "content" {
		g.file.findings = bounded(g.file.findings, f)
		return
	}
	g.findings = bounded(g.findings, f)
}
