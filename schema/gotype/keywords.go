package gotype

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// keywords are the members of a schema that is being written.
type keywords []keywordText

// set adds a keyword in alphabetical order, or replaces it.
func (k *keywords) set(name, raw string) {
	i := slices.IndexFunc(*k, func(c keywordText) bool { return c.name >= name })
	switch {
	case i < 0:
		*k = append(*k, keywordText{name, raw})
	case (*k)[i].name == name:
		(*k)[i].raw = raw
	default:
		*k = slices.Insert(*k, i, keywordText{name, raw})
	}
}

// text writes the object.
func (k keywords) text() string {
	size := 2
	for _, c := range k {
		size += len(c.name) + len(c.raw) + 24 // AppendString reserves more than it needs
	}
	dst := append(make([]byte, 0, size), '{')
	for i, c := range k {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, c.name), ':')
		dst = append(dst, c.raw...)
	}
	return string(append(dst, '}'))
}

func quote(s string) string { return string(rawjson.AppendString(nil, s)) }

// orNull writes anyOf of a schema and null.
func orNull(schema string) string { return "[" + schema + `,{"type":"null"}]` }

// bounds writes the range of an integer type of a fixed size. The size of int
// depends on the machine, so it has none.
func bounds(k *keywords, t reflect.Type) {
	if t == reflect.TypeFor[time.Duration]() {
		return
	}
	switch kind := t.Kind(); kind {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := 8 << (kind - reflect.Int8)
		k.set("minimum", strconv.FormatInt(-1<<(n-1), 10))
		k.set("maximum", strconv.FormatInt(1<<(n-1)-1, 10))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := 8 << (kind - reflect.Uint8)
		k.set("minimum", "0")
		k.set("maximum", strconv.FormatUint(1<<n-1, 10))
	case reflect.Uint, reflect.Uintptr:
		k.set("minimum", "0")
	default:
	}
}

// memberTitle makes a title of a member's name: air_quality and airQuality
// are Air Quality.
func memberTitle(name string) string {
	var b strings.Builder
	runes := []rune(name)
	start := true
	for i, r := range runes {
		if strings.ContainsRune("_-. ", r) {
			start = true
			continue
		}
		if start = start || startsWord(runes, i); start {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		start = false
	}
	return b.String()
}

// startsWord reports whether a capital begins a word: after a lower-case letter
// or digit, or before a lower-case letter within capitals.
func startsWord(runes []rune, i int) bool {
	if i == 0 || !unicode.IsUpper(runes[i]) {
		return false
	}
	before := runes[i-1]
	return unicode.IsLower(before) || unicode.IsDigit(before) ||
		unicode.IsUpper(before) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
}
