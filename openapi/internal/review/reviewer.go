// Package review checks an OpenAPI document against its specification and
// reports what could be better (lint), and reduces a document to some of its
// operations (filter).
//
// It does not know tools, requests or the options of a source: it takes a
// document, and functions for what depends on them.
//
// It is beside the path of a description: nothing that is served passes it.
package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// Severity is the severity of an issue.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the document violates the specification
	SeverityWarning Severity = "warning" // legal, but probably a mistake or a problem for clients
	SeverityInfo    Severity = "info"    // could be improved
)

// Issue is one finding of a review.
type Issue struct {
	Severity Severity `json:"type"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`
	Hint     string   `json:"suggestion,omitempty"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`    // 1-based; 0: unknown
	Pointer  string   `json:"pointer,omitempty"` // JSON Pointer in the file; empty: the whole document
	Method   string   `json:"method,omitempty"`  // of the operation
	Path     string   `json:"path,omitempty"`

	longLine bool // the line says little: the file has few, long lines
}

// String formats an issue as "file:line: severity: message (suggestion)
// [selector]". If the line says little, the operation and the pointer precede the
// message.
func (i Issue) String() string {
	place := ""
	if i.longLine || i.Line == 0 {
		place = strings.TrimSpace(i.Method + " " + i.Path)
		if i.Pointer != "" {
			place = strings.TrimSpace(place + " at " + i.Pointer)
		}
		if place != "" {
			place += ": "
		}
	}
	f := tenon.Diagnostic{File: i.File, Line: i.Line, Message: string(i.Severity) + ": " + place + i.Message, Hint: i.Hint}
	return f.String() + " [" + i.Rule + "]"
}

// Report is the result of a review.
type Report struct {
	Version    string  `json:"version"` // of OpenAPI, as in the document
	Operations int     `json:"operations"`
	Issues     []Issue `json:"issues"` // in the order of the document
	More       int     `json:"more"`   // number of issues beyond the limit, which are not listed
}

// Count returns how many listed issues have a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, i := range r.Issues {
		if i.Severity == s {
			n++
		}
	}
	return n
}

// maxIssues bounds a report.
const maxIssues = 10_000

// Options configure a review.
type Options struct {
	Lint           bool                                 // also report what could be better
	ToolName       func(id, method, path string) string // the name of an operation's tool
	MaxTitle       int                                  // bytes of a tool's title
	MaxDescription int                                  // bytes of a tool's description
}

// Document reviews a document.
func Document(doc *document.Document, o Options) *Report {
	r := &reviewer{doc: doc, grammar: productions(doc.Version), options: o, seen: map[visit]bool{}, ids: map[string]document.Value{}}
	r.report.Version = string(doc.Root.Get("openapi").Raw()) + string(doc.Root.Get("swagger").Raw())
	r.report.Version = strings.Trim(r.report.Version, `"`)
	for _, f := range doc.Diagnostics() {
		r.add(Issue{Severity: SeverityWarning, Rule: "syntax", Message: f.Message, File: f.File, Line: f.Line})
	}
	r.object(doc.Root, "Document")
	r.operations()
	if o.Lint {
		r.document()
	}
	slices.SortStableFunc(r.report.Issues, func(a, b Issue) int { return a.Line - b.Line })
	return &r.report
}

// reviewer collects the issues of a document.
type reviewer struct {
	doc     *document.Document
	grammar map[string]*production
	options Options
	report  Report

	path   []string // current place, as tokens of a pointer
	method string   // of the current operation
	route  string
	seen   map[visit]bool
	ids    map[string]document.Value
}

// visit is a place and the kind that it was checked as.
type visit struct {
	document.Value
	kind string
}

func (r *reviewer) add(i Issue) {
	if len(r.report.Issues) >= maxIssues {
		r.report.More++
		return
	}
	i.Method, i.Path = r.method, r.route
	if i.Method == "" && len(r.path) > 2 && r.path[0] == "paths" {
		if i.Method = document.Method(r.path[2]); i.Method != "" {
			i.Path = r.path[1]
		}
	}
	r.report.Issues = append(r.report.Issues, i)
}

// at adds an issue about the current place.
func (r *reviewer) at(v document.Value, s Severity, rule, message, do string) {
	f := r.doc.Diagnostic(v, "", "")
	r.add(Issue{Severity: s, Rule: rule, Message: message, Hint: do, File: f.File, Line: f.Line, Pointer: r.pointer(), longLine: v.File.HasLongLines()})
}

func (r *reviewer) pointer() string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, token := range r.path {
		b.WriteString("/" + escape.Replace(token))
	}
	return b.String()
}

func (r *reviewer) enter(token string) func() {
	r.path = append(r.path, token)
	return func() { r.path = r.path[:len(r.path)-1] }
}

// object checks an object against its production.
func (r *reviewer) object(v document.Value, name string) {
	if r.seen[visit{v, name}] || len(r.path) > 500 {
		return
	}
	r.seen[visit{v, name}] = true
	if ref := v.Get("$ref"); ref.Kind() == rawjson.String && name != "Schema" || name == "Schema" && r.isReference(v) {
		r.reference(v, name)
		if r.doc.Legacy() || name != "Schema" {
			return
		}
	}
	p := r.grammar[name]
	for _, must := range p.required {
		if !v.Get(must).OK() {
			r.at(v, SeverityError, "missing", fmt.Sprintf("the %s has no %s", displayName(name), must), "add "+must)
		}
	}
	for key, member := range v.Each() {
		leave := r.enter(key)
		kind, known := p.members[key]
		switch {
		case p.others != "":
			if !strings.HasPrefix(key, "x-") {
				r.kind(member, p.others)
			}
		case known:
			r.kind(member, kind)
		case strings.HasPrefix(key, "x-"), name == "Schema" && !r.doc.Legacy(), key == "$ref":
		case name == "Schema":
			r.at(member, SeverityWarning, "unknown-keyword", fmt.Sprintf("%s is not a schema keyword of this OpenAPI version and has no effect", key), suggestMember(key, p))
		default:
			r.at(member, SeverityError, "unknown-member", fmt.Sprintf("the %s cannot have the member %s", displayName(name), key), suggestMember(key, p))
		}
		leave()
	}
}

// isReference reports whether a schema is a reference and does not just have a
// property of that name.
func (r *reviewer) isReference(v document.Value) bool { return v.Get("$ref").Kind() == rawjson.String }

func (r *reviewer) reference(v document.Value, name string) {
	ref := v.Get("$ref")
	target, err := r.doc.Target(ref)
	if err != nil {
		leave := r.enter("$ref")
		r.at(ref, SeverityError, "reference", err.Error(), "")
		leave()
		return
	}
	if target.File != r.doc.Root.File {
		r.object(target, name)
	}
}

// kind checks a value against a kind of the grammar.
func (r *reviewer) kind(v document.Value, kind string) {
	got := v.Kind()
	want := rawjson.Object
	switch {
	case kind == "*", kind == "Schema" && got == rawjson.Bool:
		return
	case kind == "s":
		want = rawjson.String
	case kind == "b":
		want = rawjson.Bool
	case kind == "n":
		want = rawjson.Number
	case kind[0] == '[':
		want = rawjson.Array
	}
	if got != want {
		if want == rawjson.String && got == rawjson.Number && r.path[len(r.path)-1] == "openapi" {
			return // openapi: 3.1 in YAML
		}
		r.at(v, SeverityError, "type", fmt.Sprintf("%s is %s, not %s", r.path[len(r.path)-1], kindName(got), kindName(want)), "")
		return
	}
	switch kind[0] {
	case '[', '{':
		inner := kind[1 : len(kind)-1]
		i := 0
		for key, member := range v.Each() {
			if kind[0] == '[' {
				key = fmt.Sprint(i)
			} else if strings.HasPrefix(key, "x-") && inner != "s" && inner != "Schema" && inner != "Header" {
				continue
			}
			leave := r.enter(key)
			r.kind(member, inner)
			leave()
			i++
		}
	default:
		if want == rawjson.Object {
			r.object(v, kind)
		}
	}
	r.special(v, kind)
}

func kindName(k rawjson.Kind) string {
	switch k {
	case rawjson.Object:
		return "an object"
	case rawjson.Array:
		return "a list"
	case rawjson.String:
		return "a string"
	case rawjson.Number:
		return "a number"
	case rawjson.Bool:
		return "a boolean"
	case rawjson.Null:
		return "null"
	case rawjson.Invalid:
	}
	return "nothing"
}

// displayName returns the name of an object for a message.
func displayName(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' && name != "XML" {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// suggestMember suggests a member.
func suggestMember(key string, p *production) string {
	for name := range p.members {
		if strings.EqualFold(name, key) || strings.EqualFold(name, key+"s") || strings.EqualFold(name+"s", key) {
			return "did you mean " + name + "?"
		}
	}
	return "remove it, or give it a name that starts with x-"
}
