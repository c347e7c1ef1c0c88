package jq_test

import (
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/jq"
)

// What a filter reads by name is known; what it makes, defines or says itself
// may be missing is not.
func TestPaths(t *testing.T) {
	for filter, want := range map[string]string{
		".":                           "",
		".a.b":                        "/a /a/b",
		".items[].id":                 "/items /items/*/id",
		"[.items[] | {id, n: .name}]": "/items /items/*/id /items/*/name",
		`."a/b"["c~d"]`:               "/a~1b /a~1b/c~0d",
		".items[0].id, .total":        "/items /items/*/id /total",
		".items | map(select(.ok) | .id) | length": "/items /items/*/ok /items/*/id",
		".items | sort_by(.id) | first | .name":    "/items /items/*/id /items/*/name",
		".a? // .b // 0":                           "",
		".a?.b":                                    "",
		"(.a // {}) | .b":                          "",
		"try .a catch 0":                           "",
		`"\(.a) and \(.b)"`:                        "/a /b",
		"if .a then .b else .c end | .d":           "/a /b /c /b/d /c/d",
		".new = 1":                                 "",
		".a |= . + 1":                              "/a",
		"{a: 1} | .b":                              "",
		"def f: .x; f":                             "",
		"def map(f): .x; map(.y)":                  "",
		"to_entries[] | .key":                      "",
		".. | .a":                                  "",
		".a as $x | .b | $x.c":                     "/a /b",
		"reduce .items[] as $i (0; . + $i.n)":      "/items",
		`.["*"]`:                                   "",
		"del(.a) | .b":                             "/a /b",
		".[.a]":                                    "/a",
		".items[1:3][].id":                         "/items /items/*/id",
	} {
		f, err := jq.Compile(filter)
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}
		if got := strings.Join(f.Paths(), " "); got != want {
			t.Errorf("%s reads %q, want %q", filter, got, want)
		}
	}
}
