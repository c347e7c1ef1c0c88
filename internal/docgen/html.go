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

// script hides what the search does not find. The pages work without it, and
// their policy lets nothing else run.
const script = `const q=document.getElementById("q"),n=document.getElementById("n");q.hidden=false;q.addEventListener("input",()=>{` +
	`const w=q.value.toLowerCase().split(/\s+/);` +
	`for(const e of document.querySelectorAll("[data-find]"))e.hidden=!w.every(x=>e.dataset.find.includes(x));` +
	`for(const g of document.querySelectorAll("[data-group]"))g.hidden=![...g.querySelectorAll("[data-find]")].some(e=>!e.hidden);` +
	`const f=document.querySelectorAll("nav [data-find]:not([hidden])").length;n.hidden=!q.value.trim();n.textContent=f?f+(f>1?" tools":" tool"):"No tool has all of these words."})`

// sheet is what a page is made of.
type sheet struct {
	*Manual
	Index bool    // it lists the tools, and says nothing else of them
	Shown []Group // whose chapters stand on it
	Home  string  // the index; empty: this is the only page

	Script template.JS
	Policy string
}

// HTML writes the manual as one page that needs nothing else.
func (m *Manual) HTML() ([]byte, error) {
	return m.sheet(sheet{Shown: m.Groups})
}

func (m *Manual) htmlPages() ([]Page, error) {
	const home = "index.html"
	text, err := m.sheet(sheet{Index: true, Home: home})
	pages := []Page{{home, text}}
	for i := 0; i < len(m.Groups) && err == nil; i++ {
		text, err = m.sheet(sheet{Shown: m.Groups[i : i+1], Home: home})
		pages = append(pages, Page{m.Groups[i].File, text})
	}
	return pages, err
}

func (m *Manual) sheet(s sheet) ([]byte, error) {
	sum := sha256.Sum256([]byte(script))
	s.Manual, s.Script = m, template.JS(script) //nolint:gosec // it is ours, above
	s.Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	t, err := template.New("page").Funcs(template.FuncMap{"text": rich, "find": (*Tool).find}).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// find is what a search goes over.
func (t *Tool) find() string {
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

// piece is a part of a text: plain, code, or the words of a link.
type piece struct{ Text, Code, Href string }

// rich reads the Markdown that most descriptions have: code between backticks
// and links. The rest is shown as it was written.
func rich(s string) (all []piece) {
	s = flowing(s)
	for s != "" {
		i := strings.IndexAny(s, "`[")
		if i < 0 {
			return append(all, piece{Text: s})
		}
		if i > 0 {
			all = append(all, piece{Text: s[:i]})
		}
		p, rest, ok := special(s[i:])
		if !ok {
			p, rest = piece{Text: s[i : i+1]}, s[i+1:]
		}
		all, s = append(all, p), rest
	}
	return all
}

// special reads `code` or [words](https://address) at the beginning of s.
func special(s string) (p piece, rest string, ok bool) {
	if s[0] == '`' {
		code, rest, closed := strings.Cut(s[1:], "`")
		return piece{Code: code}, rest, closed && code != ""
	}
	words, rest, found := strings.Cut(s[1:], "](")
	href, rest, closed := strings.Cut(rest, ")")
	isWeb := strings.HasPrefix(href, "https://") || strings.HasPrefix(href, "http://")
	return piece{Text: strings.ReplaceAll(words, "`", ""), Href: href}, rest, found && closed && isWeb && !strings.ContainsAny(words, "[\n")
}

// flowing joins lines that were broken only to keep them short.
func flowing(s string) string {
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
