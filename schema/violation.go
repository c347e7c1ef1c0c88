package schema

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Violation is one location where a value violates its schema.
//
// For unions: where no branch of anyOf or oneOf matches, the violations of all
// its branches are reported, each at its location, except that the value is not
// null where another branch accepts values of its type; where several branches
// of a oneOf match, or the schema under not does, the violation is at the value
// itself. Where a discriminator selects a branch, only the violations of that
// one are reported.
type Violation struct {
	Path     string `json:"path"`     // JSON Pointer into the value; empty: the value itself
	Keyword  string `json:"keyword"`  // the violated keyword, "syntax", "range" or "limit"
	Expected string `json:"expected"` // a short description
	Got      string `json:"got"`      // the beginning of the actual JSON text, or "nothing"
}

const (
	maxViolations = 100
	maxExpected   = 200
	nothing       = "nothing"
)

// checkSyntax returns the violation of a value that is not strict JSON, or nil.
func checkSyntax(value []byte) []Violation {
	err := rawjson.Check(value)
	if err == nil {
		return nil
	}
	v := Violation{Keyword: "syntax", Expected: "strict JSON: " + err.Error(), Got: nothing}
	var at *rawjson.SyntaxError
	if errors.As(err, &at) && at.Offset < len(value) {
		v.Got = rawjson.Excerpt(value[at.Offset:])
		if number := numberAt(value[at.Offset:]); strings.Contains(at.Message, "range of a double") {
			v.Keyword, v.Expected, v.Got = "range", "a number within the range of a double, at offset "+strconv.Itoa(at.Offset), rawjson.Excerpt(number)
		}
	}
	return []Violation{v}
}

// numberAt returns the number that raw begins with.
func numberAt(raw []byte) []byte {
	if end := bytes.IndexFunc(raw, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) }); end >= 0 {
		return raw[:end]
	}
	return raw
}

// limitViolation returns the violation of a value whose check costs too much.
func limitViolation() []Violation {
	return []Violation{{Keyword: "limit", Expected: "a value that is checked in bounded time", Got: "a combination of schema and value that needs too many steps"}}
}

// count formats a number of units: "3 items", "1 item".
func count(n, unit string) string {
	if n == "1" {
		return n + " " + unit
	}
	return n + " " + unit + "s"
}
