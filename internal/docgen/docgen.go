// Package docgen writes documentation of a catalog for people: Markdown or
// self-contained HTML.
//
// It does not know where tools come from, which server runs them, or how
// examples are made: the caller provides those.
//
// It is at the end of the path of a description, beside the server: a catalog
// is its input, text its output.
package docgen

import (
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Options are the options of New. The zero value works.
type Options struct {
	Title   string                                            // of the page; empty: "Tools"
	About   []string                                          // paragraphs below the title: where the service is, which credentials it needs
	Spec    string                                            // the description in the command line of an example
	Example func(tool string) (input, output []byte, ok bool) // valid arguments and a valid result; nil: no examples
}

// Manual is the documentation of a catalog.
type Manual struct {
	Title  string
	About  []string
	Groups []Group // in the order of their first tools; a single one may have no name
}

// Group is the tools of a part of a description.
type Group struct {
	Name  string
	File  string // the group's page, without folder; empty: all groups are on one page
	Tools []Tool
}

// Count is how many tools there are.
func (m *Manual) Count() (n int) {
	for _, g := range m.Groups {
		n += len(g.Tools)
	}
	return n
}

// Tool is the chapter about one tool.
type Tool struct {
	Name, Title string
	Paragraphs  []string // of the description
	Notes       []string // "changes nothing", "asks for confirmation"
	Arguments   []Row
	Answers     []Answer
	Call        string // a command line; empty: no example
	Input       string // example of the arguments, indented JSON
	Output      string // of a result; empty: none
}

// Answer is one declared answer.
type Answer struct {
	Status, Media string
	Rows          []Row
}

// New makes the manual of c's tools, by their groups and otherwise in catalog
// order. Built-in tools are left out.
func New(c *gateway.Catalog, o Options) *Manual {
	m := &Manual{Title: o.Title, About: o.About}
	if m.Title == "" {
		m.Title = "Tools"
	}
	at := map[string]int{}
	for _, e := range c.Tools() {
		if e.Source() == "" || e.Source() == "tenon" {
			continue
		}
		name := e.Tool().Group
		i, known := at[name]
		if !known {
			i = len(m.Groups)
			at[name] = i
			m.Groups = append(m.Groups, Group{Name: name})
		}
		m.Groups[i].Tools = append(m.Groups[i].Tools, chapter(e, o))
	}
	for i := range m.Groups {
		if g := &m.Groups[i]; g.Name == "" && len(m.Groups) > 1 {
			g.Name = "Other tools"
		}
	}
	if len(m.Groups) == 1 {
		m.Groups[0].Name = "" // a single group needs no name
	}
	return m
}

func chapter(e *gateway.Tool, o Options) Tool {
	t := e.Tool()
	c := Tool{Name: t.Name, Title: t.Title, Notes: notes(&t), Paragraphs: paragraphs(t.Description, t.Title)}
	input, _ := e.Schemas()
	var declared []byte // the first example of JSON that the description has
	if t.Contract != nil {
		if contract, err := t.Contract.Contract(); err == nil {
			if contract.Input != nil {
				input = contract.Input
			}
			for _, v := range contract.Responses {
				if declared == nil && strings.HasPrefix(v.Status, "2") && strings.Contains(v.MediaType, "json") {
					declared = v.Example
				}
				c.Answers = append(c.Answers, Answer{Status: status(v.Status), Media: v.MediaType, Rows: rows(v.Schema)})
			}
		}
	}
	c.Arguments = members(input)
	if o.Example == nil {
		return c
	}
	if in, out, ok := o.Example(t.Name); ok {
		c.Input, c.Output = indented(in), indented(either(declared, out))
		c.Call = "tenon call " + quoted(o.Spec) + " " + t.Name + " " + quoted(string(in))
	}
	return c
}

func either(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

func notes(t *tenon.Tool) (all []string) {
	is := func(b *bool) bool { return b != nil && *b }
	if is(t.Annotations.ReadOnly) {
		all = append(all, "changes nothing")
	}
	if is(t.Annotations.Destructive) {
		all = append(all, "may destroy data")
	}
	if is(t.Annotations.Idempotent) && !is(t.Annotations.ReadOnly) {
		all = append(all, "may be repeated")
	}
	if t.Confirmation.Mode != tenon.ConfirmOff && (t.Confirmation.Action != "" || t.Confirm != nil || is(t.Annotations.Destructive)) {
		all = append(all, "asks for confirmation first")
	}
	return all
}

// paragraphs splits a description, without a leading title.
func paragraphs(text, title string) (all []string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if rest, begins := strings.CutPrefix(text, title); begins && (rest == "" || rest[0] == '\n') {
		text = rest
	}
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, p)
		}
	}
	return all
}

func status(s string) string {
	if s == "" {
		return "success"
	}
	return s
}

func indented(raw []byte) string {
	if raw == nil {
		return ""
	}
	const most = 4000
	b, err := rawjson.AppendIndent(nil, raw, "  ")
	switch {
	case err != nil:
		return ""
	case len(b) > most:
		return strings.ToValidUTF8(string(b[:most]), "") + "\n…"
	}
	return strings.TrimSpace(string(b))
}

// quoted quotes s as one word for a POSIX shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
