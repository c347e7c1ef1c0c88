package schema

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Violation is one place where a value breaks its schema.
//
// The paths follow one rule for unions: where no branch of anyOf or oneOf
// fits, the violations of all its branches are reported, each at its own
// place, but that the value is not null where another branch takes values of
// its type; where several branches of a oneOf fit, or the schema under not does,
// the violation is at the value itself. Where a discriminator names the branch
// that the value is meant for, only the violations of that one are reported.
type Violation struct {
	Path     string `json:"path"`     // JSON Pointer into the value; empty: the value itself
	Keyword  string `json:"keyword"`  // the keyword that is broken, "syntax" or "limit"
	Expected string `json:"expected"` // in a few words
	Got      string `json:"got"`      // the beginning of the JSON text that is there, or "nothing"
}

const (
	maxViolations = 100
	maxGot        = 80 // bytes
	maxExpected   = 200
	nothing       = "nothing"
)

// checkSyntax answers the one violation of a value that is not strict JSON.
func checkSyntax(value []byte) []Violation {
	err := rawjson.Check(value)
	if err == nil {
		return nil
	}
	v := Violation{Keyword: "syntax", Expected: "strict JSON: " + err.Error(), Got: nothing}
	var at *rawjson.SyntaxError
	if errors.As(err, &at) && at.Offset < len(value) {
		v.Got = excerpt(value[at.Offset:])
		if number := numberAt(value[at.Offset:]); strings.Contains(at.What, "range of a double") {
			v.Keyword, v.Expected, v.Got = "range", "a number within the range of a double, at offset "+strconv.Itoa(at.Offset), excerpt(number)
		}
	}
	return []Violation{v}
}

// numberAt answers the number that raw begins with.
func numberAt(raw []byte) []byte {
	if end := bytes.IndexFunc(raw, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) }); end >= 0 {
		return raw[:end]
	}
	return raw
}

// tooMuch answers the one violation of a value whose check costs too much.
func tooMuch() []Violation {
	return []Violation{{Keyword: "limit", Expected: "a value that is checked in bounded time", Got: "a combination of schema and value that needs too many steps"}}
}

// excerpt answers the beginning of a JSON text, cut between two runes.
func excerpt(raw []byte) string { return cut(string(raw[:min(len(raw), maxGot+1)]), maxGot) }

// cut shortens s to at most limit bytes, between two runes.
func cut(s string, limit int) string {
	if len(s) > limit {
		const dots = "…"
		s = s[:limit-len(dots)]
		for len(s) > 0 {
			if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n != 1 {
				break
			}
			s = s[:len(s)-1]
		}
		s += dots
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// alternatives joins words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// count says how many of something are meant: "3 items", "1 item".
func count(n, unit string) string {
	if n == "1" {
		return n + " " + unit
	}
	return n + " " + unit + "s"
}

// appendToken appends one reference token of a JSON Pointer with its slash.
func appendToken(pointer []byte, token string) []byte {
	pointer = append(pointer, '/')
	for i := range len(token) {
		switch c := token[i]; c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}
