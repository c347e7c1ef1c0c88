package format

import (
	"fmt"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// Severity is the effect of a finding on its file.
type Severity string

// The severities.
const (
	Fatal   Severity = "error"   // the file, or the tool that it is in, is not loaded
	Warning Severity = "warning" // loaded, and reported
	Info    Severity = "info"    // only reported
)

// Finding is one violation of the format's rules in a schema file.
type Finding struct {
	Code     string   `json:"rule"`  // the format's code where there is one
	Severity Severity `json:"type"`  // depends on Options.Strict
	Path     string   `json:"where"` // in the file, such as main.tools.getPrice.method
	Line     int      `json:"line"`  // 1-based; 0: unknown
	Message  string   `json:"message"`
}

// String formats f as a line of a report, without the file name.
func (f Finding) String() string {
	text := fmt.Sprintf("%s %s %s: %s", f.Severity, f.Code, f.Path, f.Message)
	if f.Line > 0 {
		text = fmt.Sprintf("%d: %s", f.Line, text)
	}
	return text
}

// maxFindings limits the findings of one file.
const maxFindings = 1000

// checker collects the findings of one file.
type checker struct {
	m      *module.Module
	strict bool
	tests  bool        // check the test cases
	prose  bool        // data may use constants of the file by name
	lists  *listFolder // lists to compare enums with; nil: none
	list   bool        // the file is a shared list, which must not contain code

	findings []Finding
	tool     string // the tool being checked; empty: the file
	failed   bool   // the file itself has an error
	broken   map[string]bool
}

// add adds a finding at an offset of the file.
func (c *checker) add(at int, f Finding) {
	c.markFailed(f.Severity)
	f.Line = c.m.Line(at)
	c.findings = bounded(c.findings, f)
}

// bounded appends f, or once a note that there are more findings.
func bounded(all []Finding, f Finding) []Finding {
	switch {
	case len(all) < maxFindings:
		return append(all, f)
	case len(all) == maxFindings:
		return append(all, Finding{Code: "CHK001", Severity: Warning, Line: f.Line, Path: "main", Message: "there are more findings, which are not listed"})
	}
	return all
}

// markFailed records an error of the current tool or of the file.
func (c *checker) markFailed(s Severity) {
	switch {
	case s != Fatal:
	case c.tool == "":
		c.failed = true
	default:
		c.broken[c.tool] = true
	}
}

// at adds a finding for a value, unless the value is invalid: then evaluate has
// reported it.
func (c *checker) at(n *module.Node, code string, s Severity, path, message string) {
	if n != nil && n.Kind == module.Invalid {
		c.markFailed(s)
		return
	}
	c.add(place(n), Finding{Code: code, Severity: s, Path: path, Message: message})
}

// error adds an error in both modes.
func (c *checker) error(code string, at *module.Node, path, format string, args ...any) {
	c.at(at, code, Fatal, path, fmt.Sprintf(format, args...))
}

// lenient adds an error in strict mode and a warning in compat mode, where the
// meaning is clear.
func (c *checker) lenient(code string, at *module.Node, path, format string, args ...any) {
	c.at(at, code, c.strictOr(Warning), path, fmt.Sprintf(format, args...))
}

// strictOnly adds an error in strict mode and an information in compat mode: the
// public library violates the rule everywhere.
func (c *checker) strictOnly(code string, at *module.Node, path, format string, args ...any) {
	c.at(at, code, c.strictOr(Info), path, fmt.Sprintf(format, args...))
}

func (c *checker) warn(code string, at *module.Node, path, format string, args ...any) {
	c.at(at, code, Warning, path, fmt.Sprintf(format, args...))
}

// strictWarning adds a warning in strict mode and an information in compat mode.
func (c *checker) strictWarning(code string, at *module.Node, path, format string, args ...any) {
	s := Info
	if c.strict {
		s = Warning
	}
	c.at(at, code, s, path, fmt.Sprintf(format, args...))
}

func (c *checker) info(code string, at *module.Node, path, format string, args ...any) {
	c.at(at, code, Info, path, fmt.Sprintf(format, args...))
}

// strictOr returns Fatal in strict mode, and compat otherwise.
func (c *checker) strictOr(compat Severity) Severity {
	if c.strict {
		return Fatal
	}
	return compat
}

func place(n *module.Node) int {
	if n == nil {
		return -1
	}
	return n.Offset
}
