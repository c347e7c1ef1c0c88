package envelope

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// maxSuggestions bounds the violations for which something is suggested.
const maxSuggestions = 5

// Suggestions say how to correct the first violations of arguments, one sentence
// each.
func Suggestions(violations []schema.Violation, suggested Suggested) []string {
	var list []string
	for _, v := range joinTypes(violations) {
		if s := suggested.suggestion(v); !slices.Contains(list, s) {
			list = append(list, s)
		}
		if len(list) == maxSuggestions {
			break
		}
	}
	return list
}

// joinTypes merges violations that name one type each for the same place: the
// branches of a union.
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
		return "Leave out the duplicate items of " + name
	case "propertyNames":
		return "Use " + v.Expected + " in " + name
	case "oneOf":
		return "Change " + name + " so that it matches exactly one of its alternatives"
	case "not":
		return "Change " + name + ": its schema excludes the current value"
	case "syntax":
		return "Send " + v.Expected
	case "limit":
		return "Send less at a time or in a simpler form: the value needs too many steps to validate"
	case "$ref":
		return "Tell the operator: a reference in the schema of " + name + " cannot be resolved"
	}
	return "Change " + name + ": " + v.Expected
}

// typeWords writes types for people: "integer, null" is "an integer or null".
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

// example returns an example of a format; empty: there is none.
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

// SilenceSuggestions say what can help after no response or an incomplete one,
// depending on executed and retry as in _meta. A missing credential is for the
// operator. Other codes have none.
func SilenceSuggestions(code, executed, retry string) []string {
	switch code {
	case "authentication_error":
		return []string{"Ask the operator for the credential that the message names; until it is given, calling again does not help"}
	case "network_error", "timeout", "rate_limited":
	default:
		return nil
	}
	again, otherwise := "try once more after a short while", "If it fails again, tell the operator what the message says: the service may be down or unreachable"
	switch code {
	case "rate_limited":
		otherwise = "If this happens again, read the pending results first, make fewer calls at a time, or request less"
	case "timeout":
		again, otherwise = "try once more, requesting less if the arguments allow it", "If it takes too long again, tell the operator: the tool may be slow, or calls need a longer timeout"
	}
	switch {
	case executed == "no":
		return []string{"Nothing was changed: " + again, otherwise}
	case retry == "safe":
		return []string{"Repeating this call is safe: " + again, otherwise}
	case executed == "yes":
		return []string{"Do not repeat the call: find out with a tool that reads what it has changed"}
	}
	return []string{"Find out with a tool that reads whether the call had its effect; only if it had none, " + again, otherwise}
}
