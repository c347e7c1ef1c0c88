package envelope_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/schema"
)

// TestSuggestions has every kind of violation that a schema finds, in the argument
// a where the schema is not that of all arguments.
func TestSuggestions(t *testing.T) {
	for _, c := range []struct{ name, schema, value, words, want string }{
		{"a type", `{"type":"integer"}`, `"ten"`, `a: expected integer, got "ten"`, `Give a as an integer`},
		{"one of two types", `{"type":["null","string"]}`, `5`, `a: expected null or string, got 5`, `Give a as a string or null`},
		{"one of many types", `{"type":["string","boolean","array"]}`, `5`, `a: expected boolean, string or array, got 5`, `Give a as true or false, a string or a list`},
		{"types of a union", `{"anyOf":[{"type":"string"},{"type":"number"},{"type":"object"}]}`, `true`, `a: expected string, got true; a: expected number, got true; a: expected object, got true`, `Give a as a string, a number or an object`},
		{"the arguments' type", `whole{"type":"object"}`, `[]`, `expected object, got []`, `Give the arguments as an object`},
		{"a type further down", `{"items":{"properties":{"n":{"type":"boolean"}}}}`, `[{},{"n":1}]`, `a.1.n: expected boolean, got 1`, `Give a.1.n as true or false`},
		{"a constant", `{"const":"x"}`, `true`, `a: expected "x", got true`, `Set a to "x"`},
		{"an enumeration", `{"enum":["x",1,null]}`, `true`, `a: expected one of "x", 1, null, got true`, `Set a to one of "x", 1, null`},
		{"a format with an example", `{"format":"date-time"}`, `"now"`, `a: expected format date-time, got "now"`, `Give a in the format date-time, such as 2026-01-31T10:00:00Z`},
		{"a format without", `{"format":"json-pointer"}`, `"now"`, `a: expected format json-pointer, got "now"`, `Give a in the format json-pointer`},
		{"a pattern", `{"pattern":"^[a-z]+$"}`, `"Y"`, `a: expected a string that matches ^[a-z]+$, got "Y"`, `Give a as a string that matches ^[a-z]+$`},
		{"a number that is too small", `{"minimum":1}`, `0`, `a: expected at least 1, got 0`, `Set a to at least 1`},
		{"a number that is too large", `{"maximum":20}`, `50`, `a: expected at most 20, got 50`, `Set a to at most 20`},
		{"a number on its lower limit", `{"exclusiveMinimum":0}`, `0`, `a: expected more than 0, got 0`, `Set a to more than 0`},
		{"a number on its upper limit", `{"exclusiveMaximum":1}`, `1`, `a: expected less than 1, got 1`, `Set a to less than 1`},
		{"a number between steps", `{"multipleOf":5}`, `4`, `a: expected a multiple of 5, got 4`, `Give a as a multiple of 5`},
		{"a text that is too short", `{"minLength":1}`, `""`, `a: expected at least 1 character, got ""`, `Give a with at least 1 character`},
		{"a text that is too long", `{"maxLength":3}`, `"abcd"`, `a: expected at most 3 characters, got "abcd"`, `Give a with at most 3 characters`},
		{"too few items", `{"minItems":2}`, `[]`, `a: expected at least 2 items, got []`, `Give a with at least 2 items`},
		{"too many items", `{"maxItems":1}`, `[1,2]`, `a: expected at most 1 item, got [1,2]`, `Give a with at most 1 item`},
		{"an item twice", `{"uniqueItems":true}`, `[1,1]`, `a: expected no two equal items, got [1,1]`, `Leave out the duplicate items of a`},
		{"no such item", `{"contains":{"const":1}}`, `[]`, `a: expected an item that matches contains, got []`, `Give a with an item that matches contains in its schema`},
		{"too few such items", `{"contains":{"const":1},"minContains":2}`, `[1]`, `a: expected at least 2 items that match contains, got [1]`, `Give a with at least 2 items that match contains in its schema`},
		{"too many such items", `{"contains":{"const":1},"maxContains":1}`, `[1,1]`, `a: expected at most 1 item that match contains, got [1,1]`, `Give a with at most 1 item that match contains in its schema`},
		{"an item behind the last", `{"prefixItems":[{}],"items":false}`, `[1,2]`, `a.1: expected nothing, got 2`, `Leave out a.1`},
		{"too few members", `{"minProperties":1}`, `{}`, `a: expected at least 1 member, got {}`, `Give a with at least 1 member`},
		{"too few arguments", `whole{"minProperties":1}`, `{}`, `expected at least 1 member, got {}`, `Give the arguments with at least 1 member`},
		{"too many members", `{"maxProperties":1}`, `{"x":1,"y":2}`, `a: expected at most 1 member, got {"x":1,"y":2}`, `Give a with at most 1 member`},
		{"a missing argument", `whole{"required":["b"]}`, `{}`, `b: required field missing`, `Provide b`},
		{"a missing member with a slash", `{"required":["b/c"]}`, `{}`, `a.b/c: required field missing`, `Provide a.b/c`},
		{"a member that another one needs", `{"dependentRequired":{"x":["y"]}}`, `{"x":1}`, `a.y: required field missing`, `Provide a.y`},
		{"the same in older words", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"x":["y"]}}`, `{"x":1}`, `a.y: required field missing`, `Provide a.y`},
		{"a member too many", `{"properties":{"x":{}},"additionalProperties":false}`, `{"y":1}`, `a.y: no such field, got 1`, `Leave out a.y`},
		{"a member that nothing has looked at", `{"properties":{"x":{}},"unevaluatedProperties":false}`, `{"y":1}`, `a.y: expected nothing, got 1`, `Leave out a.y`},
		{"what may not be there at all", `false`, `1`, `a: expected nothing, got 1`, `Leave out a`},
		{"a name", `{"propertyNames":{"maxLength":2}}`, `{"long":1}`, `a: expected another name than "long", got {"long":1}`, `Use another name than "long" in a`},
		{"several alternatives", `{"oneOf":[{"type":"integer"},{"minimum":1}]}`, `1`, `a: expected exactly one matching schema under oneOf, got 1`, `Change a so that it matches exactly one of its alternatives`},
		{"what is excluded", `{"not":{"type":"string"}}`, `""`, `a: expected a value that does not match the schema under not, got ""`, `Change a: its schema excludes the current value`},
		{"no JSON", `whole{}`, `{"a":`, `expected strict JSON: offset 5: the input ends, expected a value, got nothing`, `Send strict JSON: offset 5: the input ends, expected a value`},
		{
			"more violations than are told", `whole{"required":["a","b","c","d","e","f","g"]}`, `{}`,
			`a: required field missing; b: required field missing; c: required field missing; d: required field missing; e: required field missing; and 2 more`,
			"Provide a\nProvide b\nProvide c\nProvide d\nProvide e",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, whole := strings.CutPrefix(c.schema, "whole")
			value := c.value
			if !whole {
				text, value = `{"properties":{"a":`+text+`}}`, `{"a":`+value+`}`
			}
			s, err := schema.Compile([]byte(text), schema.Options{AssertFormat: true})
			if err != nil {
				t.Fatal(err)
			}
			violations := s.Validate([]byte(value))
			if diff := cmp.Diff(c.want, strings.Join(envelope.Suggestions(violations, nil), "\n")); diff != "" {
				t.Errorf("suggestions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.words, envelope.ViolationText(violations, nil)); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

// What no value brings about on purpose, and what a keyword says that is not
// known here.
func TestSuggestionsForRareViolations(t *testing.T) {
	for _, c := range []struct {
		violation schema.Violation
		want      string
	}{
		{schema.Violation{Keyword: "limit", Expected: "a value that is checked in bounded time", Got: "x"}, "Send less at a time or in a simpler form: the value needs too many steps to validate"},
		{schema.Violation{Path: "/a", Keyword: "$ref", Expected: "a reference without a cycle", Got: "1"}, "Tell the operator: a reference in the schema of a cannot be resolved"},
		{schema.Violation{Path: "/a", Keyword: "another", Expected: "something else", Got: "1"}, "Change a: something else"},
	} {
		if diff := cmp.Diff([]string{c.want}, envelope.Suggestions([]schema.Violation{c.violation, c.violation}, nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.violation.Keyword, diff)
		}
	}
}

// TestSilenceSuggestions has every failure without an answer: a call is only to
// be repeated at once where that is safe.
func TestSilenceSuggestions(t *testing.T) {
	const down, slow = "If it fails again, tell the operator what the message says: the service may be down or unreachable",
		"If it takes too long again, tell the operator: the tool may be slow, or calls need a longer timeout"
	for _, c := range []struct {
		code, executed, retry string
		want                  []string
	}{
		{"network_error", "no", "safe", []string{"Nothing was changed: try once more after a short while", down}},
		{"network_error", "unknown", "safe", []string{"Repeating this call is safe: try once more after a short while", down}},
		{"network_error", "yes", "safe", []string{"Repeating this call is safe: try once more after a short while", down}},
		{"network_error", "unknown", "unsafe", []string{"Find out with a tool that reads whether the call had its effect; only if it had none, try once more after a short while", down}},
		{"network_error", "yes", "unsafe", []string{"Do not repeat the call: find out with a tool that reads what it has changed"}},
		{"timeout", "no", "safe", []string{"Nothing was changed: try once more, requesting less if the arguments allow it", slow}},
		{"timeout", "unknown", "safe", []string{"Repeating this call is safe: try once more, requesting less if the arguments allow it", slow}},
		{"timeout", "unknown", "unsafe", []string{"Find out with a tool that reads whether the call had its effect; only if it had none, try once more, requesting less if the arguments allow it", slow}},
		{"authentication_error", "no", "safe", []string{"Ask the operator for the credential that the message names; until it is given, calling again does not help"}},
		{"internal_error", "unknown", "unsafe", nil},
	} {
		if diff := cmp.Diff(c.want, envelope.SilenceSuggestions(c.code, c.executed, c.retry)); diff != "" {
			t.Errorf("%s, executed %s, retry %s (-want +got):\n%s", c.code, c.executed, c.retry, diff)
		}
	}
}
