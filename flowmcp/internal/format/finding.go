package flowmcp

import "fmt"

// Severity says what a finding means for its file.
type Severity string

// The severities.
const (
	Fatal   Severity = "error"   // the file, or the tool that it is in, is not loaded
	Warning Severity = "warning" // loaded, with notice
	Info    Severity = "info"    // only told
)

// Finding is one deviation of a schema file from its rules.
type Finding struct {
	Code     string   `json:"rule"`  // of the format where it has one
	Severity Severity `json:"type"`  // depends on Options.Strict
	Path     string   `json:"where"` // in the file, such as main.tools.getPrice.method
	Line     int      `json:"line"`  // 1-based; 0: not known
	Message  string   `json:"message"`
}

// String formats f as a line of a report, without the file.
func (f Finding) String() string {
	text := fmt.Sprintf("%s %s %s: %s", f.Severity, f.Code, f.Path, f.Message)
	if f.Line > 0 {
		text = fmt.Sprintf("%d: %s", f.Line, text)
	}
	return text
}

// maxFindings bounds the findings of one file.
const maxFindings = 1000

// checker collects the findings of one file.
type checker struct {
	m      *module
	strict bool
	tests  bool   // test cases are checked too
	prose  bool   // data may name the constants of the file
	shelf  *shelf // what its enums are compared with; nil: with nothing
	list   bool   // the file is a shared list: no code at all may stand in it

	findings []Finding
	tool     string // the tool under check; empty: the file
	failed   bool   // the file as a whole has an error
	broken   map[string]bool
}

// add notes a finding at an offset of the file.
func (c *checker) add(at int, f Finding) {
	c.mark(f.Severity)
	f.Line = c.m.line(at)
	c.findings = bounded(c.findings, f)
}

// bounded is all with f, or with the word that there are more.
func bounded(all []Finding, f Finding) []Finding {
	switch {
	case len(all) < maxFindings:
		return append(all, f)
	case len(all) == maxFindings:
		return append(all, Finding{Code: "CHK001", Severity: Warning, Line: f.Line, Path: "main", Message: "there are more findings, which are not listed"})
	}
	return all
}

// mark notes what an error costs: the tool under check, else the file.
func (c *checker) mark(s Severity) {
	switch {
	case s != Fatal:
	case c.tool == "":
		c.failed = true
	default:
		c.broken[c.tool] = true
	}
}

// at reports on a value. One that is no literal was reported when it was read.
func (c *checker) at(n *node, code string, s Severity, path, message string) {
	if n != nil && n.kind == invalidKind {
		c.mark(s)
		return
	}
	c.add(place(n), Finding{Code: code, Severity: s, Path: path, Message: message})
}

// fault is an error in both modes: nothing sensible can be served.
func (c *checker) fault(code string, at *node, path, format string, args ...any) {
	c.at(at, code, Fatal, path, fmt.Sprintf(format, args...))
}

// loose is an error by the letter and a warning in compat: a reader can tell
// what is meant.
func (c *checker) loose(code string, at *node, path, format string, args ...any) {
	c.at(at, code, c.or(Warning), path, fmt.Sprintf(format, args...))
}

// letter is an error by the letter that the public library commits everywhere:
// only told in compat.
func (c *checker) letter(code string, at *node, path, format string, args ...any) {
	c.at(at, code, c.or(Info), path, fmt.Sprintf(format, args...))
}

func (c *checker) warn(code string, at *node, path, format string, args ...any) {
	c.at(at, code, Warning, path, fmt.Sprintf(format, args...))
}

// advise is a warning by the letter, and only told in compat.
func (c *checker) advise(code string, at *node, path, format string, args ...any) {
	s := Info
	if c.strict {
		s = Warning
	}
	c.at(at, code, s, path, fmt.Sprintf(format, args...))
}

func (c *checker) info(code string, at *node, path, format string, args ...any) {
	c.at(at, code, Info, path, fmt.Sprintf(format, args...))
}

// or is an error by the letter, and compat otherwise.
func (c *checker) or(compat Severity) Severity {
	if c.strict {
		return Fatal
	}
	return compat
}

func place(n *node) int {
	if n == nil {
		return -1
	}
	return n.at
}
