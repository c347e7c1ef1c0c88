package search

import (
	"cmp"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// textOf returns what the index contains about a tool.
func textOf(t *tenon.Tool) text {
	about := strings.TrimPrefix(strings.TrimPrefix(t.Description, "Deprecated. "), t.Title)
	said := text{name: t.Name, title: t.Title, words: without(t.Keywords, '{', '}'), body: strings.TrimSpace(plain(about))}
	said.traits = traits{intent: toolIntent(t, &said), list: returnsList(t, &said), deprecated: isDeprecated(t)}
	return said
}

// plain removes HTML tags and the link targets of Markdown.
func plain(s string) string {
	if strings.Contains(s, "](") {
		s = without(strings.ReplaceAll(s, "](", "]\x00"), '\x00', ')')
	}
	return without(s, '<', '>')
}

// without removes what is between two characters.
func without(s string, from, to byte) string {
	if strings.IndexByte(s, from) < 0 {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, from)
		if i < 0 {
			break
		}
		n := strings.IndexByte(s[i:], to)
		if n < 0 {
			break
		}
		b.WriteString(s[:i] + " ")
		s = s[i+n+1:]
	}
	return b.String() + s
}

// lead returns the first sentence of a text.
func lead(s string) string {
	if line, _, more := strings.Cut(s, "\n"); more {
		s = line
	}
	if sentence, _, more := strings.Cut(s, ". "); more {
		return sentence
	}
	return s
}

// toolIntent returns the intent of a tool. The first verb of its texts is more
// reliable than the method of its request: a search may be a POST.
func toolIntent(t *tenon.Tool, said *text) intent {
	says := intentOf(cmp.Or(t.Title, lead(said.body)))
	switch {
	case t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly:
		return reads
	case says != unknown:
		return says
	}
	switch t.Confirmation.Action {
	case tenon.CreateResource:
		return adds
	case tenon.DeleteResource:
		return removes
	case tenon.ReplaceResource, tenon.UpdateResource:
		return changes
	case tenon.RunTool:
	}
	return unknown
}

// returnsList reports whether a tool returns several things.
func returnsList(t *tenon.Tool, said *text) bool {
	path, _, _ := strings.Cut(t.Keywords, " ")
	if strings.HasSuffix(path, "}") {
		return false
	}
	for w := range words(strings.ToLower(cmp.Or(t.Title, lead(said.body)))) {
		switch w {
		case "list", "lists", "all", "search", "find", "every":
			return true
		}
	}
	return strings.HasPrefix(path, "/") && isPlural(path)
}

// isDeprecated reports whether a tool is deprecated according to its texts.
func isDeprecated(t *tenon.Tool) bool {
	title := strings.ToLower(t.Title)
	return strings.Contains(title, "legacy") || strings.Contains(title, "closing down") || strings.HasPrefix(strings.ToLower(t.Description), "deprecated")
}
