package typedecl

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of comments.
const (
	maxComment = 2000 // bytes of a description
	maxTag     = 120  // bytes of the value of a keyword
	maxShort   = 90   // bytes of a description in a short comment
)

// quoted is a text as a string of TypeScript, Python and JSON. What changes the
// direction of text or ends a line is escaped.
func quoted(s string) string {
	text := string(rawjson.AppendString(nil, s))
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF: // as UTF-16, which both languages read but Python takes for two
			b.WriteRune(r)
		default:
			b.WriteString(`\u` + strings.Repeat("0", 4-len(strconv.FormatInt(int64(r), 16))) + strconv.FormatInt(int64(r), 16))
		}
	}
	return b.String()
}

// hidden reports whether a rune does something else than being shown.
func hidden(r rune) bool {
	return r != ' ' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || r == 0xFEFF)
}

// directive finds what tools take for an instruction to them.
var directive = regexp.MustCompile(`(?i)(@ts-|#\s*(?:type|pyright|mypy|noqa|ruff|pylint|flake8|fmt|isort|sourceMappingURL)\b\s*:?|\b(?:type|pyright|mypy)\s*:\s*(?:ignore|basic|strict))`)

// plainText is foreign text without what is hidden or read as an instruction.
// Line ends stay.
func plainText(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || r == '\r' || hidden(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return directive.ReplaceAllStringFunc(s, func(found string) string {
		return strings.NewReplacer("#", "", "@", "@ ", ":", " :").Replace(found)
	})
}

// oneLine is foreign text on a line.
func oneLine(s string, most int) string { return strings.Join(strings.Fields(plainText(s, most)), " ") }

// firstSentence is the beginning of a text.
func firstSentence(s string) string {
	s = oneLine(s, 4*maxShort)
	if i := strings.Index(s, ". "); i > 0 && i < maxShort {
		return s[:i+1]
	}
	if len(s) <= maxShort {
		return s
	}
	cut := strings.ToValidUTF8(s[:maxShort], "")
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return cut + "…"
}

// shown are the keywords that bind values in ways that no type says, each with its
// value.
func shown() []string {
	return []string{
		"format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
		"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentEncoding", "default",
	}
}

// unsaid are the keywords that bind values in ways that no type says, and are too
// long to show.
func unsaid() []string {
	return []string{
		"not", "if", "dependentRequired", "dependentSchemas", "propertyNames", "contains", "unevaluatedProperties", "unevaluatedItems", "dependencies",
	}
}

// comment is what is said of a value.
type comment struct {
	text       string   // the description; line ends are kept
	tags       []string // keyword and value
	unsaid     []string // keywords that the type does not say
	notes      []string // what could not be read
	deprecated bool
}

// describe gathers what schemas say of a value beside its type.
func (b *builder) describe(t *Type, nodes ...rawjson.Node) comment {
	var c comment
	for _, n := range nodes {
		for _, keyword := range []string{"description", "title"} {
			c.text = cmp.Or(c.text, b.doc.Str(b.doc.Get(n, keyword)))
		}
		c.deprecated = c.deprecated || b.doc.IsTrue(b.doc.Get(n, "deprecated"))
		c.tags = appendNew(c.tags, b.tags(n)...)
		for _, k := range unsaid() {
			if b.doc.Get(n, k) != rawjson.None {
				c.unsaid = appendNew(c.unsaid, k)
			}
		}
		if len(nodes) == 1 {
			c.text = cmp.Or(c.text, b.doc.Str(b.doc.Get(b.target(b.doc.Get(n, "$ref")), "title")))
		}
	}
	if t != nil {
		c.notes = appendNew(c.notes, t.notes...)
		if a, ok := t.only(); ok && a.form == anyForm && a.binds() {
			c.notes = append(c.notes, "the schema names no type, so that only some values are bound")
		}
	}
	return c
}

// tags are the keywords that are shown, with their values.
func (b *builder) tags(n rawjson.Node) (all []string) {
	if b.doc.IsStr(b.doc.Get(n, "type"), "integer") {
		all = append(all, "integer")
	}
	for _, k := range shown() {
		switch v := b.doc.Get(n, k); {
		case v == rawjson.None:
		case b.doc.Kind(v) == rawjson.String && k != "default":
			all = append(all, k+" "+oneLine(b.doc.Str(v), maxTag))
		default:
			all = append(all, k+" "+oneLine(string(b.doc.Raw(v)), maxTag))
		}
	}
	return all
}

// appendNew appends what is not there yet.
func appendNew(to []string, all ...string) []string {
	for _, s := range all {
		if !slices.Contains(to, s) {
			to = append(to, s)
		}
	}
	return to
}

// lines are the comment as lines of text, tags with a mark before them.
func (c *comment) lines(mark string) (all []string) {
	if text := strings.TrimSpace(plainText(c.text, maxComment)); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			all = append(all, strings.TrimRight(line, " "))
		}
	}
	var tags []string
	for _, t := range c.tags {
		tags = append(tags, mark+t)
	}
	if c.deprecated {
		tags = append(tags, mark+"deprecated")
	}
	if tags != nil {
		all = append(all, strings.Join(tags, " "))
	}
	if c.unsaid != nil {
		all = append(all, "Not in the type: "+strings.Join(c.unsaid, ", ")+".")
	}
	for _, note := range c.notes {
		all = append(all, "Unknown: "+oneLine(note, maxTag*2)+".")
	}
	return all
}
