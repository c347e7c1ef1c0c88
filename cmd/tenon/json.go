package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// printJSON prints a value for programs, in lines that people can read too.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// count is a number of things, in words.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// The members of reports are those of docs/json.md: the same thing has the same
// name in all of them.

// issue is a diagnostic as programs read it.
type issue struct {
	Message string `json:"message"`
	Do      string `json:"suggestion,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

func issuesOf(all []tenon.Diagnostic) []issue {
	issues := make([]issue, 0, len(all)) // [] without any
	for _, d := range all {
		issues = append(issues, issue{d.Message, d.Hint, d.File, d.Line})
	}
	return issues
}

// countedReport is the report on one schema file.
type countedReport struct {
	flowmcp.Report

	Errors   int `json:"error_count"`
	Warnings int `json:"warning_count"`
	Infos    int `json:"info_count"`
}

func countedReports(reports []flowmcp.Report) []countedReport {
	all := make([]countedReport, 0, len(reports))
	for _, r := range reports {
		c := countedReport{Report: r}
		if c.Findings == nil {
			c.Findings = []flowmcp.Finding{}
		}
		for _, f := range r.Findings {
			switch f.Severity {
			case flowmcp.Fatal:
				c.Errors++
			case flowmcp.Warning:
				c.Warnings++
			default:
				c.Infos++
			}
		}
		all = append(all, c)
	}
	return all
}

// schemaFile is a file of flowmcp schemas.
type schemaFile struct {
	File      string               `json:"file"`
	Namespace string               `json:"namespace,omitempty"`
	Name      string               `json:"name,omitempty"`
	Kind      string               `json:"kind,omitempty"`
	Hash      string               `json:"schemaHash,omitempty"`
	Loads     bool                 `json:"loads"`
	Tools     []flowmcp.ToolReport `json:"tools"`
}

func schemaFiles(reports []flowmcp.Report) []schemaFile {
	all := make([]schemaFile, 0, len(reports))
	for _, r := range reports {
		all = append(all, schemaFile{r.File, r.Namespace, r.Name, r.Kind, r.Hash, r.Loads, r.Tools})
	}
	return all
}

// diagnosis is what doctor says of schema files.
type diagnosis struct {
	File   string         `json:"file"`
	Served int            `json:"served_count"` // so many of the tools
	Tools  []availability `json:"tools"`
	Issues []issue        `json:"issues"`
}

func diagnosisOf(file string, all []flowmcp.Availability, diagnostics []tenon.Diagnostic) diagnosis {
	return diagnosis{file, served(all), availabilities(all), issuesOf(diagnostics)}
}

// availability is what became of one tool of a schema file.
type availability struct {
	flowmcp.Availability

	Why string `json:"why,omitempty"` // it is not served
}

func availabilities(all []flowmcp.Availability) []availability {
	list := make([]availability, 0, len(all)) // [] without any
	for _, a := range all {
		why, _ := a.Reason()
		list = append(list, availability{a, why})
	}
	return list
}

// hashReport is what flowmcp hash says of one file.
type hashReport struct {
	File string `json:"file"`
	Hash string `json:"schemaHash,omitempty"`
	Why  string `json:"why,omitempty"` // it has none
}

func hashReports(reports []flowmcp.Report) []hashReport {
	all := make([]hashReport, 0, len(reports)) // [] without any
	for _, r := range reports {
		one := hashReport{File: r.File, Hash: r.Hash}
		switch {
		case r.Kind != "":
			continue // it is no schema file
		case !r.Loads && r.Hash == "":
			one.Why = "it does not load"
		case r.Hash == "":
			one.Why = "main is no pure data"
		}
		all = append(all, one)
	}
	return all
}

// appReport is the report of functions list and check.
type appReport struct {
	File      string           `json:"file"`
	Functions []functionReport `json:"functions"`
	Issues    []issue          `json:"issues"`
}

type functionReport struct {
	Function string `json:"function"`
	Name     string `json:"name,omitempty"` // of the tool, as clients call it
	Serves   string `json:"serves,omitempty"`
	Served   bool   `json:"served"`
	Why      string `json:"why,omitempty"`    // it is not
	Output   string `json:"output,omitempty"` // what becomes of its output schema
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
}

func appReportOf(file string, app *host.App, anyway bool, naming tenon.Naming) appReport {
	r := appReport{File: file, Functions: []functionReport{}, Issues: issuesOf(appDiagnostics(app))}
	for i := range app.Functions {
		f := &app.Functions[i]
		one := functionReport{Function: f.Name, Serves: f.Serves(), Served: f.Serves() != "", Output: outputOf(f, anyway), File: f.File, Line: f.Line}
		if !one.Served {
			one.Why = f.Why
		}
		if f.Tool != nil {
			one.Name = naming.ToolName(f.Tool.Name)
		}
		r.Functions = append(r.Functions, one)
	}
	return r
}

// lineWidth is how wide a folded value may be before it is broken up.
const lineWidth = 92

// fold writes JSON for a person: what fits on a line stands on one, the rest
// is indented.
func fold(value []byte) string {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return string(value)
	}
	var b bytes.Buffer
	foldNode(&b, doc, doc.Root(), 0)
	return b.String()
}

func foldNode(b *bytes.Buffer, d *rawjson.Doc, n rawjson.Node, indent int) {
	flat := spaced(d, n)
	used := indent
	if i := bytes.LastIndexByte(b.Bytes(), '\n'); i >= 0 || b.Len() > 0 {
		used = utf8.RuneCount(b.Bytes()[i+1:])
	}
	kind := d.Kind(n)
	if kind != rawjson.Object && kind != rawjson.Array || used+utf8.RuneCountInString(flat) <= lineWidth {
		b.WriteString(flat)
		return
	}
	open, shut := byte('{'), byte('}')
	if kind == rawjson.Array {
		open, shut = '[', ']'
	}
	b.WriteByte(open)
	margin := "\n" + strings.Repeat("  ", indent/2+1)
	for c := d.First(n); c != rawjson.None; c = d.Next(c) {
		if b.Bytes()[b.Len()-1] != open {
			b.WriteByte(',')
		}
		b.WriteString(margin)
		if kind == rawjson.Object {
			b.WriteString(`"` + string(d.RawKey(c)) + `": `)
		}
		foldNode(b, d, c, indent+2)
	}
	b.WriteString(margin[:len(margin)-2])
	b.WriteByte(shut)
}

// spaced writes a value on one line, with a space behind each comma and colon.
func spaced(d *rawjson.Doc, n rawjson.Node) string {
	switch d.Kind(n) {
	case rawjson.Object, rawjson.Array:
	case rawjson.Invalid, rawjson.Null, rawjson.Bool, rawjson.Number, rawjson.String:
		return string(d.Raw(n))
	}
	var parts []string
	for c := d.First(n); c != rawjson.None; c = d.Next(c) {
		part := spaced(d, c)
		if d.Kind(n) == rawjson.Object {
			part = `"` + string(d.RawKey(c)) + `": ` + part
		}
		parts = append(parts, part)
	}
	if d.Kind(n) == rawjson.Object {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
