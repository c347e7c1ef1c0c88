package envelope

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// maxErrorBody bounds how much of an upstream's error body is delivered.
const maxErrorBody = 16 << 10

// Failure is what a caller sees of a failed call.
type Failure struct {
	Tool        string
	Code        string
	Number      int      // in the envelope flowmcp, as 2 is E002
	Message     string   // for the model
	Details     []byte   // JSON object; nil: none
	Suggestions []string // what to do next
}

// Location returns the target of a redirect; empty: the response is not one.
func (a *Answer) Location() string {
	if a.Status/100 != 3 {
		return ""
	}
	return Excerpt([]byte(a.Header.Get("Location")), 500)
}

// ErrorDetails is {"status":…,"location":…,"mediaType":…,"body":…} of a response
// that is not a success; the body is bounded.
func (a *Answer) ErrorDetails() []byte {
	dst := append([]byte(nil), `{"status":`...)
	dst = strconv.AppendInt(dst, int64(a.Status), 10)
	if where := a.Location(); where != "" {
		dst = append(dst, `,"location":`...)
		dst = rawjson.AppendString(dst, where)
	}
	if len(a.Body) > 0 {
		dst = append(dst, `,"mediaType":`...)
		dst = rawjson.AppendString(dst, Essence(a.Media))
		dst = append(dst, `,"body":`...)
		dst = a.appendErrorBody(dst)
	}
	return append(dst, '}')
}

func (a *Answer) appendErrorBody(dst []byte) []byte {
	switch {
	case a.Form == Binary:
		return rawjson.AppendString(dst, strconv.Itoa(len(a.Body))+" bytes of "+Essence(a.Media))
	case a.Form == JSON && len(a.Body) <= maxErrorBody:
		return append(dst, oneLine(a.Body)...)
	}
	return rawjson.AppendString(dst, Excerpt(a.Body, maxErrorBody))
}

// Said finds the message in an error body: the members of problem+json
// (RFC 9457) and other common ones, or a short text.
func (a *Answer) Said() string {
	if a.Form == Text && len(a.Body) <= 300 {
		return strings.TrimSpace(Excerpt(a.Body, 300))
	}
	if a.Form != JSON || len(a.Body) > maxErrorBody {
		return ""
	}
	doc, err := rawjson.Parse(a.Body)
	if err != nil {
		return ""
	}
	for _, path := range []string{"/detail", "/message", "/error/message", "/error_description", "/title", "/error"} {
		if s := doc.Str(doc.Pointer(path)); s != "" {
			return Excerpt([]byte(s), 500)
		}
	}
	return ""
}

// ViolationDetails is {"field":…,"reason":…,"violations":[…]}: the first violation as
// the output-structure page has it, and all of them; nil without one.
func ViolationDetails(violations []schema.Violation, suggested Suggested) []byte {
	if len(violations) == 0 {
		return nil
	}
	dst := []byte(`{"field":`)
	dst = rawjson.AppendString(dst, field(violations[0]))
	dst = append(dst, `,"reason":`...)
	dst = rawjson.AppendString(dst, suggested.reason(violations[0]))
	dst = append(dst, `,"violations":`...)
	dst = appendViolations(dst, violations)
	return append(dst, '}')
}

// ViolationText describes violations in one line.
func ViolationText(violations []schema.Violation, suggested Suggested) string {
	const shown = 5
	var b strings.Builder
	for i, v := range violations[:min(len(violations), shown)] {
		if i > 0 {
			b.WriteString("; ")
		}
		if name := field(v); name != "" && suggested[v.Path] == nil {
			b.WriteString(name + ": ")
		}
		b.WriteString(suggested.reason(v))
	}
	if more := len(violations) - shown; more > 0 {
		b.WriteString("; and " + strconv.Itoa(more) + " more")
	}
	return b.String()
}

// field writes the place of a violation for people: items.3.name. For a missing
// property it is that property.
func field(v schema.Violation) string {
	path := dotted(v.Path)
	if !isMissing(v) {
		return path
	}
	name, err := strconv.Unquote(strings.TrimPrefix(v.Expected, "member "))
	switch {
	case err != nil:
		return path
	case path == "":
		return name
	}
	return path + "." + name
}

// dotted writes a JSON Pointer with dots, for people.
func dotted(pointer string) string {
	path := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(path)
}

// isMissing reports whether the violation is a missing property, required always
// or beside another one.
func isMissing(v schema.Violation) bool {
	return v.Keyword == "required" || v.Keyword == "dependentRequired" || v.Keyword == "dependencies"
}

func reason(v schema.Violation) string {
	switch {
	case isMissing(v):
		return "required field missing"
	case v.Keyword == "additionalProperties":
		return "no such field, got " + v.Got
	}
	return "expected " + v.Expected + ", got " + v.Got
}

// Excerpt shortens text to at most limit bytes, at a rune boundary.
func Excerpt(text []byte, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.ToValidUTF8(string(text[:limit]), "\uFFFD") + "…"
}

// RedirectSuggestion says what can help after a status 3xx.
func RedirectSuggestion(status int) string {
	switch status {
	case http.StatusNotModified:
		return "The resource has not changed: leave out the conditional arguments (such as If-None-Match or If-Modified-Since) to get it whole"
	case http.StatusSeeOther:
		return "The call was executed: read the outcome with a tool that reads"
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return "The call was not executed: tell the operator that the service expects it at the other URL"
	}
	return "Tell the operator: the service redirects this call to another URL than its description has; find out with a tool that reads whether a call that changes something had its effect"
}
