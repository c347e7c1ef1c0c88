package docgen

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/markup"
)

// script filters the index. The pages work without it, and their policy allows
// no other script.
const script = `const q=document.getElementById("q"),n=document.getElementById("n");q.hidden=false;q.addEventListener("input",()=>{` +
	`const w=q.value.toLowerCase().split(/\s+/);` +
	`for(const e of document.querySelectorAll("[data-find]"))e.hidden=!w.every(x=>e.dataset.find.includes(x));` +
	`for(const g of document.querySelectorAll("[data-group]"))g.hidden=![...g.querySelectorAll("[data-find]")].some(e=>!e.hidden);` +
	`const f=document.querySelectorAll("nav [data-find]:not([hidden])").length;n.hidden=!q.value.trim();n.textContent=f?f+(f>1?" tools":" tool"):"No tool has all of these words."})`

// pageData is what a page shows.
type pageData struct {
	*Manual
	Index bool    // it only lists the tools
	Shown []Group // with chapters on the page
	Home  string  // the index; empty: this is the only page
}

// HTML writes the manual as one self-contained page.
func (m *Manual) HTML() []byte {
	return m.sheet(pageData{Shown: m.Groups})
}

func (m *Manual) htmlPages() []Page {
	const home = "index.html"
	pages := []Page{{home, m.sheet(pageData{Index: true, Home: home})}}
	for i := range m.Groups {
		pages = append(pages, Page{m.Groups[i].File, m.sheet(pageData{Shown: m.Groups[i : i+1], Home: home})})
	}
	return pages
}

func (m *Manual) sheet(s pageData) []byte {
	s.Manual = m
	sum := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	var w markup.Writer
	w.Add(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="%s">
<title>%s</title>
`, policy, m.Title)
	w.Add("<style>\n" + style + "\n</style>\n</head>\n<body>\n")
	s.navigation(&w)
	w.Add("<main>\n<h1>%s</h1>\n<p class=\"notes\">%s tools</p>\n", m.Title, strconv.Itoa(m.Count()))
	for _, p := range m.About {
		paragraph(&w, p)
	}
	if s.Index {
		s.index(&w)
	}
	for i := range s.Shown {
		g := &s.Shown[i]
		w.Add("<section data-group>")
		w.AddIf(g.Name, `<h2 class="group">%s</h2>`)
		w.Add("\n")
		for n := range g.Tools {
			g.Tools[n].chapter(&w)
		}
		w.Add("</section>\n")
	}
	w.Add("</main>\n<script>" + script + "</script>\n</body>\n</html>\n")
	return w.Bytes()
}

// navigation is the list of all tools beside the text.
func (s *pageData) navigation(w *markup.Writer) {
	w.Add(`<nav aria-label="Tools"><b>`)
	if s.Home != "" {
		w.Add(`<a href="%s">%s</a>`, s.Home, s.Title)
	} else {
		w.Add("%s", s.Title)
	}
	w.Add(`</b>
<input id="q" type="search" placeholder="Search" aria-label="Search tools" hidden>
<p id="n" class="notes" role="status" hidden></p>
`)
	for _, g := range s.Groups {
		w.Add("<div data-group>")
		w.AddIf(g.Name, "<h4>%s</h4>")
		for i := range g.Tools {
			t := &g.Tools[i]
			w.Add(`<a href="%s#%s" data-find="%s">%s</a>`, g.File, t.Name, t.searchText(), t.Name)
		}
		w.Add("</div>\n")
	}
	w.Add("</nav>\n")
}

// index is the list of all tools in place of their chapters.
func (s *pageData) index(w *markup.Writer) {
	for _, g := range s.Groups {
		w.Add(`<section data-group><h2><a href="%s">%s</a></h2>`+"\n<ul>", g.File, g.heading())
		for i := range g.Tools {
			t := &g.Tools[i]
			w.Add(`<li data-find="%s"><a href="%s#%s">%s</a>`, t.searchText(), g.File, t.Name, t.Name)
			w.AddIf(t.Title, ": %s")
			w.Add("</li>")
		}
		w.Add("</ul></section>\n")
	}
}

func (t *Tool) chapter(w *markup.Writer) {
	w.Add(`<article id="%s" data-find="%s">`+"\n"+`<h2><a href="#%s">%s</a></h2>`+"\n", t.Name, t.searchText(), t.Name, t.Name)
	w.AddIf(t.Title, `<p class="title">%s</p>`+"\n")
	for _, p := range t.Paragraphs {
		paragraph(w, p)
	}
	w.AddIf(strings.Join(t.Notes, " · "), `<p class="notes">%s</p>`+"\n")
	if len(t.Arguments) > 0 {
		w.Add("<h3>Arguments</h3>")
		rowsTable(w, t.Arguments)
	}
	for i := range t.Answers {
		a := &t.Answers[i]
		w.Add("<h3>Answer %s ", a.Status)
		w.AddIf(a.Media, `<span class="media">%s</span>`)
		w.Add("</h3>")
		if len(a.Rows) > 0 {
			rowsTable(w, a.Rows)
		}
	}
	if t.Call != "" {
		w.Add("<h3>Example</h3><pre>%s</pre>", t.Call)
		w.AddIf(t.Output, "<pre>%s</pre>")
	}
	w.Add("</article>\n")
}

func rowsTable(w *markup.Writer, rows []Row) {
	w.Add(`<div class="wide"><table><thead><tr><th>Name</th><th>Type</th><th>Description</th></tr></thead><tbody>` + "\n")
	for i := range rows {
		r := &rows[i]
		w.Add("<tr><td>")
		if r.Name == "" {
			w.Add("<i>value</i>")
		}
		w.Add("%s", r.Name)
		if r.Required {
			w.Add(` <span class="must">required</span>`)
		}
		w.Add("</td><td>%s</td><td>", r.Type)
		text(w, r.About)
		for n, v := range r.Allowed {
			if n == 0 {
				w.Add(" One of ")
			} else {
				w.Add(", ")
			}
			w.Add("<code>%s</code>", v)
		}
		if len(r.Allowed) > 0 {
			w.Add(".")
		}
		for _, f := range r.More {
			w.Add(" %s <code>%s</code>.", f.Words, f.Value)
		}
		w.Add("</td></tr>\n")
	}
	w.Add("</tbody></table></div>\n")
}

func paragraph(w *markup.Writer, s string) {
	w.Add("<p>")
	text(w, s)
	w.Add("</p>\n")
}

// text writes a text with its code and links.
func text(w *markup.Writer, s string) {
	for _, p := range parseInline(s) {
		switch {
		case p.Code != "":
			w.Add("<code>%s</code>", p.Code)
		case p.Href != "":
			w.Add(`<a href="%s" rel="noreferrer">%s</a>`, p.Href, p.Text)
		default:
			w.Add("%s", p.Text)
		}
	}
}

// searchText returns the text that the search matches.
func (t *Tool) searchText() string {
	text := t.Name + " " + t.Title
	if len(t.Paragraphs) > 0 {
		text += " " + t.Paragraphs[0]
	}
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return strings.ToLower(oneLine(text))
}

// span is a part of a text: plain, code, or the words of a link.
type span struct{ Text, Code, Href string }

// parseInline parses the Markdown of most descriptions: code between backticks, and
// links. Everything else is plain text.
func parseInline(s string) (all []span) {
	s = joinLines(s)
	for s != "" {
		i := strings.IndexAny(s, "`[")
		if i < 0 {
			return append(all, span{Text: s})
		}
		if i > 0 {
			all = append(all, span{Text: s[:i]})
		}
		p, rest, ok := parseSpan(s[i:])
		if !ok {
			p, rest = span{Text: s[i : i+1]}, s[i+1:]
		}
		all, s = append(all, p), rest
	}
	return all
}

// parseSpan parses `code` or [words](https://address) at the beginning of s.
func parseSpan(s string) (p span, rest string, ok bool) {
	if s[0] == '`' {
		code, rest, closed := strings.Cut(s[1:], "`")
		return span{Code: code}, rest, closed && code != ""
	}
	words, rest, found := strings.Cut(s[1:], "](")
	href, rest, closed := strings.Cut(rest, ")")
	href, _, _ = strings.Cut(href, " ") // a title may follow
	isWeb := strings.HasPrefix(href, "https://") || strings.HasPrefix(href, "http://")
	return span{Text: strings.ReplaceAll(words, "`", ""), Href: href}, rest, found && closed && isWeb && !strings.ContainsAny(words, "[\n")
}

// joinLines joins wrapped lines.
func joinLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := 1; i < len(lines); i++ {
		if first := strings.TrimSpace(lines[i]); first == "" || strings.ContainsRune("-*>#|+0123456789", rune(first[0])) {
			lines[i] = "\n" + first
		} else {
			lines[i] = " " + first
		}
	}
	return strings.Join(lines, "")
}
