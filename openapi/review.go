package openapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Severity is the weight of an issue.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the document breaks the specification
	SeverityWarning Severity = "warning" // it is legal, and most likely a mistake, or hard on clients
	SeverityInfo    Severity = "info"    // it could be better
)

// Issue is one thing that a review has to say.
type Issue struct {
	Severity Severity `json:"type"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`
	Hint     string   `json:"suggestion,omitempty"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`    // 1-based; 0: not known
	Pointer  string   `json:"pointer,omitempty"` // JSON Pointer in the file; empty: the whole document
	Method   string   `json:"method,omitempty"`  // of the operation it is in
	Path     string   `json:"path,omitempty"`

	crowded bool // its line says little: most of the file stands in it
}

// String formats an issue as "file:line: severity: message (suggestion) [rule]".
// Where the line says little, the operation and the pointer stand before the
// message.
func (i Issue) String() string {
	place := ""
	if i.crowded || i.Line == 0 {
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

// Report is what a review found.
type Report struct {
	Version    string  `json:"version"` // of OpenAPI, as the document says it
	Operations int     `json:"operations"`
	Issues     []Issue `json:"issues"` // in the order of the document; the errors first where there are too many
	More       int     `json:"more"`   // issues that are not listed, as there are too many
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

// Review says where the document of s breaks its specification, and with lint
// also what would make it a better description. An error means that it could
// not be read at all.
func (s *Source) Review(ctx context.Context, lint bool) (*Report, error) {
	o, err := s.options.defaults()
	if err != nil {
		return nil, err
	}
	doc, _, err := s.open(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	return review(doc, o, lint), nil
}

// Review reviews a document whose bytes are at hand; see [Source.Review] and
// [Parse].
func Review(name string, raw []byte, lint bool) (*Report, error) {
	doc, err := parseDocument(name, raw)
	if err != nil {
		return nil, err
	}
	o, err := Options{}.defaults()
	if err != nil {
		return nil, err
	}
	return review(doc, o, lint), nil
}

// open reads the document, changed by overlays.
func (s *Source) open(ctx context.Context, o Options, overlays []overlay) (*document, []tenon.Diagnostic, error) {
	var raw []byte
	var at address
	var l *library
	var err error
	name := s.spec
	if u := remote(s.spec); u != nil {
		var final *url.URL
		name = public(u)
		if raw, final, _, err = egress.Fetch(ctx, o.Client, s.spec, maxDocument); err == nil {
			at, l = address{url: final}, webLibrary(o, final, nil) //nolint:contextcheck // a file may first be asked for later
		}
	} else if raw, err = readFile(s.spec); err == nil {
		l, at, err = diskLibrary(o, s.spec, nil) //nolint:contextcheck // as above
	}
	if err != nil {
		return nil, nil, badSource("read "+name, err)
	}
	f, told, err := overlaid(name, raw, overlays)
	if err != nil {
		return nil, nil, err
	}
	doc, err := documentOf(f, at, l)
	if err == nil && l.web() {
		l.fetchAll(doc.root.file)
	}
	return doc, told, err
}

func review(doc *document, o Options, lint bool) *Report {
	r := &reviewer{doc: doc, grammar: productions(doc.version), lint: lint, seen: map[visit]bool{}, ids: map[string]value{}}
	r.report.Version = string(doc.root.get("openapi").raw()) + string(doc.root.get("swagger").raw())
	r.report.Version = strings.Trim(r.report.Version, `"`)
	for _, f := range doc.told.list {
		r.add(Issue{Severity: SeverityWarning, Rule: "syntax", Message: f.Message, File: f.File, Line: f.Line})
	}
	r.object(doc.root, "Document")
	r.operations(o)
	if lint {
		r.whole()
	}
	slices.SortStableFunc(r.report.Issues, func(a, b Issue) int { return a.Line - b.Line })
	return &r.report
}

// reviewer collects the issues of a document.
type reviewer struct {
	doc     *document
	grammar map[string]*production
	lint    bool
	report  Report

	path   []string // where the walk is, as tokens of a pointer
	method string   // of the operation in which it is
	route  string
	seen   map[visit]bool
	ids    map[string]value
}

// visit is a place that was looked at as a kind.
type visit struct {
	value
	kind string
}

func (r *reviewer) add(i Issue) {
	if len(r.report.Issues) >= maxIssues {
		r.report.More++
		return
	}
	i.Method, i.Path = r.method, r.route
	if i.Method == "" && len(r.path) > 2 && r.path[0] == "paths" {
		if i.Method = method(r.path[2]); i.Method != "" {
			i.Path = r.path[1]
		}
	}
	r.report.Issues = append(r.report.Issues, i)
}

// at adds an issue about the place where the walk is.
func (r *reviewer) at(v value, s Severity, rule, message, do string) {
	f := r.doc.fault(v, "", "")
	r.add(Issue{Severity: s, Rule: rule, Message: message, Hint: do, File: f.File, Line: f.Line, Pointer: r.pointer(), crowded: v.file.crowded()})
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

// object holds an object against its production.
func (r *reviewer) object(v value, name string) {
	if r.seen[visit{v, name}] || len(r.path) > 500 {
		return
	}
	r.seen[visit{v, name}] = true
	if ref := v.get("$ref"); ref.kind() == rawjson.String && name != "Schema" || name == "Schema" && r.isReference(v) {
		r.reference(v, name)
		if r.doc.legacy() || name != "Schema" {
			return
		}
	}
	p := r.grammar[name]
	for _, must := range p.required {
		if !v.get(must).ok() {
			r.at(v, SeverityError, "missing", fmt.Sprintf("the %s has no %s", spoken(name), must), "add "+must)
		}
	}
	for key, member := range v.each() {
		leave := r.enter(key)
		kind, known := p.members[key]
		switch {
		case p.others != "":
			if !strings.HasPrefix(key, "x-") {
				r.kind(member, p.others)
			}
		case known:
			r.kind(member, kind)
		case strings.HasPrefix(key, "x-"), name == "Schema" && !r.doc.legacy(), key == "$ref":
		case name == "Schema":
			r.at(member, SeverityWarning, "unknown-keyword", fmt.Sprintf("%s is no keyword of this version's schemas; it says nothing", key), near(key, p))
		default:
			r.at(member, SeverityError, "unknown-member", fmt.Sprintf("the %s cannot have the member %s", spoken(name), key), near(key, p))
		}
		leave()
	}
}

// isReference tells a reference from a property of that name.
func (r *reviewer) isReference(v value) bool { return v.get("$ref").kind() == rawjson.String }

func (r *reviewer) reference(v value, name string) {
	ref := v.get("$ref")
	target, err := r.doc.targetOf(ref)
	if err != nil {
		leave := r.enter("$ref")
		r.at(ref, SeverityError, "reference", err.Error(), "")
		leave()
		return
	}
	if target.file != r.doc.root.file {
		r.object(target, name)
	}
}

// kind holds a value against a kind of the grammar.
func (r *reviewer) kind(v value, kind string) {
	got := v.kind()
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
		for key, member := range v.each() {
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

// spoken is the name of an object in a sentence.
func spoken(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' && name != "XML" {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// near names a member that may have been meant.
func near(key string, p *production) string {
	for name := range p.members {
		if strings.EqualFold(name, key) || strings.EqualFold(name, key+"s") || strings.EqualFold(name+"s", key) {
			return "did you mean " + name + "?"
		}
	}
	return "leave it out, or let its name begin with x-"
}
