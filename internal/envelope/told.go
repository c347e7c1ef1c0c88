package envelope

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// ViolationSummary describes in one line the violations, at least one, of a value
// that is delivered.
func ViolationSummary(violations []schema.Violation) string {
	if v := violations[len(violations)-1]; v.Keyword == "syntax" {
		return "This answer is not JSON, although its media type says so: " + v.Got + "."
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

// Nothing is the text of a success without a value: an empty result looks like a
// lost one. Results of functions have none, as in the Python SDK.
func (a *Answer) Nothing() string {
	text := "The service answered " + strconv.Itoa(a.Status)
	if len(a.Body) > 0 {
		return text + " with null."
	}
	return text + " without a body."
}
