package manual

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"strings"
)

//go:embed page.html
var page string

// HTML writes the manual as one page without scripts that needs nothing else.
func (m *Manual) HTML() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"text": rich}).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, m); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
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
