package envelope

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// ViolationSummary says in one line what of a value that is delivered breaks its schema,
// of which there is a violation at least.
func ViolationSummary(violations []schema.Violation) string {
	if v := violations[len(violations)-1]; v.Keyword == "syntax" {
		return "This answer is not the JSON that its media type says: " + v.Got + "."
	}
	const shown = 3
	var places []string
	for _, v := range violations[:min(len(violations), shown)] {
		places = append(places, strings.TrimPrefix(v.Path+": "+reason(v), ": "))
	}
	if more := len(violations) - len(places); more > 0 {
		places = append(places, "and "+strconv.Itoa(more)+" more")
	}
	return "This answer breaks its published schema: " + strings.Join(places, "; ") + "."
}

// Nothing says that a success has no value: an answer without content reads as
// if it had got lost. What a function returns stays as the Python SDK has it.
func (a *Answer) Nothing() string {
	text := "The service answered " + strconv.Itoa(a.Status)
	if len(a.Body) > 0 {
		return text + " with null."
	}
	return text + " without a body."
}
