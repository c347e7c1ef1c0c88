package docgen

import (
	"fmt"
	"strconv"
	"strings"
)

// Page is one file of a divided manual.
type Page struct {
	File string // its name, without a folder
	Text []byte
}

// Pages writes a page for each group, and an index of all tools. format is
// "markdown" or "html".
func (m *Manual) Pages(format string) []Page {
	ext := ".md"
	if format == "html" {
		ext = ".html"
	}
	divided := &Manual{Title: m.Title, About: m.About, Groups: append([]Group(nil), m.Groups...)}
	taken := map[string]bool{"index" + ext: true}
	for i := range divided.Groups {
		g := &divided.Groups[i]
		name := slug(g.heading())
		g.File = name + ext
		for n := 2; taken[g.File]; n++ {
			g.File = name + "-" + strconv.Itoa(n) + ext
		}
		taken[g.File] = true
	}
	if format == "html" {
		return divided.htmlPages()
	}
	return divided.markdownPages()
}

func (g *Group) heading() string {
	if g.Name == "" {
		return "Tools"
	}
	return g.Name
}

// slug converts a name to a file name: letters, digits and dashes.
func slug(name string) string {
	const most = 60
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case b.Len() >= most:
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case c > 0x7f:
			fmt.Fprintf(&b, "%x", c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if text := strings.Trim(b.String(), "-"); text != "" {
		return text
	}
	return "tools"
}
