package docgen

import "strings"

// Markdown writes the manual as GitHub Flavored Markdown.
func (m *Manual) Markdown() []byte {
	var b strings.Builder
	m.head(&b)
	for i := range m.Groups {
		g := &m.Groups[i]
		level := "##"
		if g.Name != "" {
			b.WriteString("\n## " + oneLine(g.Name) + "\n")
			level = "###"
		}
		g.markdown(&b, level)
	}
	return []byte(b.String())
}

func (m *Manual) markdownPages() []Page {
	var index strings.Builder
	m.head(&index)
	pages := make([]Page, 1, len(m.Groups)+1)
	for i := range m.Groups {
		g := &m.Groups[i]
		index.WriteString("\n## [" + oneLine(g.heading()) + "](" + g.File + ")\n\n")
		for _, t := range g.Tools {
			index.WriteString("- [" + t.Name + "](" + g.File + "#" + strings.ToLower(t.Name) + ")")
			if t.Title != "" {
				index.WriteString(": " + oneLine(t.Title))
			}
			index.WriteString("\n")
		}
		var b strings.Builder
		b.WriteString("# " + oneLine(g.heading()) + "\n\n[" + oneLine(m.Title) + "](index.md)\n")
		g.markdown(&b, "##")
		pages = append(pages, Page{g.File, []byte(b.String())})
	}
	pages[0] = Page{"index.md", []byte(index.String())}
	return pages
}

func (m *Manual) head(b *strings.Builder) {
	b.WriteString("# " + oneLine(m.Title) + "\n")
	for _, p := range m.About {
		b.WriteString("\n" + oneLine(p) + "\n")
	}
}

func (g *Group) markdown(b *strings.Builder, level string) {
	for i := range g.Tools {
		g.Tools[i].markdown(b, level)
	}
}

// markdown writes a chapter, whose heading has the level.
func (t *Tool) markdown(b *strings.Builder, level string) {
	b.WriteString("\n" + level + " " + t.Name + "\n")
	if t.Title != "" {
		b.WriteString("\n**" + oneLine(t.Title) + "**\n")
	}
	for _, p := range t.Paragraphs {
		b.WriteString("\n" + p + "\n")
	}
	if t.Notes != nil {
		b.WriteString("\n*" + oneLine(strings.Join(t.Notes, "; ")) + "*\n")
	}
	if t.Arguments != nil {
		b.WriteString("\n" + level + "# Arguments\n")
		tableOf(b, t.Arguments)
	}
	for _, a := range t.Answers {
		b.WriteString("\n" + level + "# Answer " + a.Status)
		if a.Media != "" {
			b.WriteString(" `" + a.Media + "`")
		}
		b.WriteString("\n")
		tableOf(b, a.Rows)
	}
	if t.Call != "" {
		b.WriteString("\n" + level + "# Example\n")
		fenced(b, "sh", t.Call)
		if t.Output != "" {
			fenced(b, "json", t.Output)
		}
	}
}

func tableOf(b *strings.Builder, rows []Row) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| name | type | required | description |\n|---|---|---|---|\n")
	for _, r := range rows {
		name := "*value*"
		if r.Name != "" {
			name = "`" + strings.ReplaceAll(cell(r.Name), "`", "'") + "`"
		}
		required := ""
		if r.Required {
			required = "yes"
		}
		b.WriteString("| " + name + " | " + cell(r.Type) + " | " + required + " | " + cell(r.details()) + " |\n")
	}
}

// details returns everything about a value but its name and type.
func (r *Row) details() string {
	const mark = "`"
	var parts []string
	if r.About != "" {
		parts = append(parts, oneLine(r.About))
	}
	if r.Allowed != nil {
		values := make([]string, len(r.Allowed))
		for i, v := range r.Allowed {
			values[i] = mark + v + mark
		}
		parts = append(parts, "One of "+strings.Join(values, ", ")+".")
	}
	for _, f := range r.More {
		parts = append(parts, f.Words+" "+mark+f.Value+mark+".")
	}
	return strings.Join(parts, " ")
}

// fenced writes a code block whose fence is longer than any inside.
func fenced(b *strings.Builder, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	b.WriteString("\n" + fence + language + "\n" + text + "\n" + fence + "\n")
}

// cell formats s for a table cell.
func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", `\|`) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
