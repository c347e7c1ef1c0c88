package typedecl

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
)

// maxName bounds the characters of a name that is made of a foreign one.
const maxName = 80

// language is what names depend on.
type language struct {
	reserved map[string]bool // words that name no function
	types    map[string]bool // words that name no type, in lower case
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// isLetter reports whether a rune is a letter in identifiers of every language,
// and is the same in each normal form of Unicode.
func isLetter(r rune) bool {
	switch {
	case r < 0x80:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	case r >= 0xC0 && r <= 0xFF:
		return r != 0xD7 && r != 0xF7
	case r >= 0x410 && r <= 0x44F, r >= 0x3042 && r <= 0x3093, r >= 0x30A2 && r <= 0x30F3, r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3:
		return unicode.IsLetter(r)
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// identifier is a name with an underscore for what no identifier has.
func identifier(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0 && isDigit(r):
			b.WriteString("_" + string(r))
		case isLetter(r) || isDigit(r) || r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// isIdentifier reports whether a member needs no quotes.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r >= 0x80 || !isLetter(r) && r != '_' && r != '$' && (i == 0 || !isDigit(r)) {
			return false
		}
	}
	return name != ""
}

// pascal is a name as types have it: IssuesList of issues_list.
func pascal(name string) string {
	var b strings.Builder
	upper, runes := true, 0
	for _, r := range name {
		if !isLetter(r) && !isDigit(r) {
			upper = true
			continue
		}
		if runes++; runes > maxName {
			break
		}
		if upper {
			r = unicode.ToUpper(r)
		}
		upper = false
		if b.Len() == 0 && isDigit(r) {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "Type"
	}
	return b.String()
}

// free is a name of a type that no other has, whatever the case of its letters.
func (d *declarations) free(wish string) string {
	name := wish
	for i := 2; d.taken[strings.ToLower(name)] || d.language.types[strings.ToLower(name)]; i++ {
		name = wish + "_" + strconv.Itoa(i)
	}
	d.taken[strings.ToLower(name)] = true
	return name
}

// nameFunctions names functions after their tools. A name that is an identifier
// stays; of others that would be the same, the later ones get a digest.
func (d *declarations) nameFunctions() {
	taken := map[string]bool{}
	for _, f := range d.functions {
		if identifier(f.tool.Name) == f.tool.Name && !d.language.reserved[f.tool.Name] && !taken[f.tool.Name] {
			f.name = f.tool.Name
			taken[f.name] = true
		}
	}
	for _, f := range d.functions {
		if f.name != "" {
			continue
		}
		f.name = identifier(f.tool.Name)
		if d.language.reserved[f.name] {
			f.name += "_"
		}
		for salt := 0; taken[f.name]; salt++ {
			sum := sha256.Sum256([]byte(f.tool.Name + strings.Repeat("#", salt)))
			f.name = identifier(f.tool.Name) + "_" + hex.EncodeToString(sum[:3])
		}
		taken[f.name] = true
	}
	for name := range taken { // Python has functions and types in one namespace
		d.taken[strings.ToLower(name)] = true
	}
}
