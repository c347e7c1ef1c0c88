package manual

import "strings"

// Markdown writes the manual as GitHub Flavored Markdown.
func (m *Manual) Markdown() []byte {
	var b strings.Builder
	b.WriteString("# " + oneLine(m.Title) + "\n")
	for i := range m.Tools {
		m.Tools[i].markdown(&b)
	}
	return []byte(b.String())
}

func (t *Tool) markdown(b *strings.Builder) {
	b.WriteString("\n## " + t.Name + "\n")
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
		b.WriteString("\n### Arguments\n")
		tableOf(b, t.Arguments)
	}
	for _, a := range t.Answers {
		b.WriteString("\n### Answer " + a.Status)
		if a.Media != "" {
			b.WriteString(" `" + a.Media + "`")
		}
		b.WriteString("\n")
		tableOf(b, a.Rows)
	}
	if t.Call != "" {
		b.WriteString("\n### Example\n")
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

// details is all that is said beside name and type.
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

// cell is s as it can stand in a table.
func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", `\|`) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
