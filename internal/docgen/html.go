package docgen

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"html/template"
	"strings"
)

//go:embed page.html
var page string

// script filters the index. The pages work without it, and their policy allows
// no other script.
const script = `const q=document.getElementById("q"),n=document.getElementById("n");q.hidden=false;q.addEventListener("input",()=>{` +
	`const w=q.value.toLowerCase().split(/\s+/);` +
	`for(const e of document.querySelectorAll("[data-find]"))e.hidden=!w.every(x=>e.dataset.find.includes(x));` +
	`for(const g of document.querySelectorAll("[data-group]"))g.hidden=![...g.querySelectorAll("[data-find]")].some(e=>!e.hidden);` +
	`const f=document.querySelectorAll("nav [data-find]:not([hidden])").length;n.hidden=!q.value.trim();n.textContent=f?f+(f>1?" tools":" tool"):"No tool has all of these words."})`

// pageData is the data of a page.
type pageData struct {
	*Manual
	Index bool    // it only lists the tools
	Shown []Group // with chapters on the page
	Home  string  // the index; empty: this is the only page

	Script template.JS
	Policy string
}

// HTML writes the manual as one self-contained page.
func (m *Manual) HTML() ([]byte, error) {
	return m.sheet(pageData{Shown: m.Groups})
}

func (m *Manual) htmlPages() ([]Page, error) {
	const home = "index.html"
	text, err := m.sheet(pageData{Index: true, Home: home})
	pages := []Page{{home, text}}
	for i := 0; i < len(m.Groups) && err == nil; i++ {
		text, err = m.sheet(pageData{Shown: m.Groups[i : i+1], Home: home})
		pages = append(pages, Page{m.Groups[i].File, text})
	}
	return pages, err
}

func (m *Manual) sheet(s pageData) ([]byte, error) {
	sum := sha256.Sum256([]byte(script))
	s.Manual, s.Script = m, template.JS(script) //nolint:gosec // the constant above
	s.Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	t, err := template.New("page").Funcs(template.FuncMap{"text": parseInline, "find": (*Tool).searchText}).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
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
