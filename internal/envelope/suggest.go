package envelope

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// maxSuggestions bounds the faults for which something is suggested.
const maxSuggestions = 5

// Suggestions say what would make the first faults of arguments good, each in
// a sentence that can be acted upon.
func Suggestions(violations []schema.Violation, meant Suggested) []string {
	var list []string
	for _, v := range joinTypes(violations) {
		if s := meant.suggestion(v); !slices.Contains(list, s) {
			list = append(list, s)
		}
		if len(list) == maxSuggestions {
			break
		}
	}
	return list
}

// joinTypes makes one violation of those that each name one type for the same
// place: they are the branches of a union.
func joinTypes(violations []schema.Violation) []schema.Violation {
	joined := make([]schema.Violation, 0, len(violations))
	at := map[string]int{}
	for _, v := range violations {
		if v.Keyword == "type" {
			if i, ok := at[v.Path]; ok {
				joined[i].Expected += ", " + v.Expected
				continue
			}
			at[v.Path] = len(joined)
		}
		joined = append(joined, v)
	}
	return joined
}

func suggestion(v schema.Violation) string {
	name := field(v)
	if name == "" {
		name = "the arguments"
	}
	if isMissing(v) {
		return "Provide " + name
	}
	switch v.Keyword {
	case "additionalProperties", "false":
		return "Leave out " + name
	case "type":
		return "Give " + name + " as " + typeWords(v.Expected)
	case "format":
		return "Give " + name + " in the " + v.Expected + example(strings.TrimPrefix(v.Expected, "format "))
	case "pattern", "multipleOf":
		return "Give " + name + " as " + v.Expected
	case "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return "Set " + name + " to " + v.Expected
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return "Give " + name + " with " + v.Expected
	case "contains", "minContains", "maxContains":
		return "Give " + name + " with " + v.Expected + " in its schema"
	case "uniqueItems":
		return "Leave out the items of " + name + " that are there twice"
	case "propertyNames":
		return "Use " + v.Expected + " in " + name
	case "oneOf":
		return "Change " + name + " so that it fits one of its alternatives alone"
	case "not":
		return "Change " + name + ": its schema refuses what it is now"
	case "syntax":
		return "Send " + v.Expected
	case "limit":
		return "Send less at once, in a simpler form: what there is needs too many steps to check"
	case "$ref":
		return "Tell the operator: a reference in the schema of " + name + " leads nowhere"
	}
	return "Change " + name + ": " + v.Expected
}

// typeWords says in words what types there may be: "integer, null" is "an
// integer or null".
func typeWords(types string) string {
	var words []string
	for name := range strings.SplitSeq(strings.ReplaceAll(types, " or ", ", "), ", ") {
		if w := typeWord(name); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if i := slices.Index(words, "null"); i >= 0 {
		words = append(slices.Delete(words, i, i+1), "null")
	}
	last := len(words) - 1
	if last < 1 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func typeWord(name string) string {
	switch name {
	case "string", "number":
		return "a " + name
	case "integer", "object":
		return "an " + name
	case "array":
		return "a list"
	case "boolean":
		return "true or false"
	}
	return name
}

// example shows a format; empty: its name is all that there is.
func example(format string) string {
	switch format {
	case "date-time":
		return ", such as 2026-01-31T10:00:00Z"
	case "date":
		return ", such as 2026-01-31"
	case "time":
		return ", such as 10:00:00Z"
	case "duration":
		return ", such as P1DT12H"
	case "email":
		return ", such as name@example.com"
	case "uri":
		return ", such as https://example.com/a"
	case "uuid":
		return ", such as 123e4567-e89b-42d3-a456-426614174000"
	case "ipv4":
		return ", such as 192.0.2.1"
	case "ipv6":
		return ", such as 2001:db8::1"
	case "hostname":
		return ", such as www.example.com"
	}
	return ""
}

// SilenceSuggestions say what may help where there was no answer, or none that
// is whole, by what is known of the call's effect: executed and retry are as
// in the contract's report. A credential that is missing is the operator's to
// give. There are none for other codes.
func SilenceSuggestions(code, executed, retry string) []string {
	switch code {
	case "authentication_error":
		return []string{"Ask the operator for the credential that the message names; until it is given, calling again does not help"}
	case "network_error", "timeout", "rate_limited":
	default:
		return nil
	}
	again, otherwise := "try once more after a short while", "If it fails again, tell the operator what the message says: the service may be down, or it cannot be reached from here"
	switch code {
	case "rate_limited":
		otherwise = "If there is no room again, read the answers under way first, make fewer calls at a time, or ask for less"
	case "timeout":
		again, otherwise = "try once more, asking for less if the arguments allow it", "If it takes too long again, tell the operator: what the tool does may be slow, or calls need more time than they are given"
	}
	switch {
	case executed == "no":
		return []string{"Nothing was changed: " + again, otherwise}
	case retry == "safe":
		return []string{"Doing this twice is the same as once: " + again, otherwise}
	case executed == "yes":
		return []string{"Do not repeat the call: find out with a tool that reads what it has changed"}
	}
	return []string{"Find out with a tool that reads whether the call had its effect; only if it had none, " + again, otherwise}
}
