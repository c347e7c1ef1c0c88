package tenon

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// maxErrorBody bounds how much of an upstream's error body travels.
const maxErrorBody = 16 << 10

// failure is everything that a caller learns of a call that did not succeed.
type failure struct {
	code        Code
	message     string   // for the model
	details     []byte   // JSON object; nil: none
	suggestions []string // what to do next
	about       about
}

// invalidArguments is the failure of wall one. Nothing was sent.
func invalidArguments(violations []schema.Violation) failure {
	var b strings.Builder
	b.WriteString("Invalid arguments: ")
	writeViolations(&b, violations)
	f := failure{code: CodeValidation, message: b.String(), details: faultDetails(violations), about: about{verdict: Unchecked}}
	for _, v := range violations[:min(len(violations), 5)] {
		f.suggestions = append(f.suggestions, suggestion(v))
	}
	return f
}

// breach is the failure of wall two under enforce: no data leaves.
func breach(t *Tool, r *Reply, j judgement) failure {
	var b strings.Builder
	b.WriteString("The answer of " + t.Name + " breaks its contract: ")
	writeViolations(&b, j.violations)
	return failure{
		code: CodeContract, message: b.String(), details: faultDetails(j.violations),
		suggestions: []string{"Tell the operator: the service answers otherwise than its description says"},
		about:       aboutReply(r, j),
	}
}

// upstreamError is an answer with a status that is not a success. Its body is
// never data.
func upstreamError(r *Reply, j judgement) failure {
	f := failure{code: CodeOfStatus(r.Status), about: aboutReply(r, j)}
	f.message = "HTTP " + strconv.Itoa(r.Status)
	if text := http.StatusText(r.Status); text != "" {
		f.message += " " + text
	}
	if said := upstreamSaid(r, j); said != "" {
		f.message += ": " + said
	}
	f.details = append(f.details, `{"status":`...)
	f.details = strconv.AppendInt(f.details, int64(r.Status), 10)
	if len(r.Body) > 0 {
		f.details = append(f.details, `,"mediaType":`...)
		f.details = rawjson.AppendString(f.details, essence(r.Media))
		f.details = append(f.details, `,"body":`...)
		f.details = appendErrorBody(f.details, r, j)
	}
	f.details = append(f.details, '}')
	f.suggestions = statusSuggestions(f.code, r.Header)
	return f
}

func aboutReply(r *Reply, j judgement) about {
	return about{verdict: j.verdict, violations: j.violations, sent: r.Sent, status: r.Status, media: r.Media, header: r.Header}
}

func appendErrorBody(dst []byte, r *Reply, j judgement) []byte {
	switch {
	case j.form == formBinary:
		return rawjson.AppendString(dst, strconv.Itoa(len(r.Body))+" bytes of "+essence(r.Media))
	case j.form == formJSON && len(r.Body) <= maxErrorBody:
		return append(dst, oneLine(r.Body)...)
	}
	return rawjson.AppendString(dst, excerpt(r.Body, maxErrorBody))
}

// upstreamSaid finds the sentence for people in an error body: the members of
// problem+json (RFC 9457) and the usual others, or a short text.
func upstreamSaid(r *Reply, j judgement) string {
	if j.form == formText && len(r.Body) <= 300 {
		return strings.TrimSpace(excerpt(r.Body, 300))
	}
	if j.form != formJSON || len(r.Body) > maxErrorBody {
		return ""
	}
	doc, err := rawjson.Parse(r.Body)
	if err != nil {
		return ""
	}
	for _, path := range []string{"/detail", "/message", "/error/message", "/error_description", "/title", "/error"} {
		if s := doc.Str(doc.Pointer(path)); s != "" {
			return excerpt([]byte(s), 500)
		}
	}
	return ""
}

func statusSuggestions(code Code, header http.Header) []string {
	switch code { //nolint:exhaustive // only the codes that a status can have
	case CodeValidation, CodeRequest:
		return []string{"Change the arguments as the message says, then call again"}
	case CodeAuthentication:
		return []string{"Ask the operator for a valid credential for this service"}
	case CodeAuthorization:
		return []string{"The credential lacks a permission: ask the operator, or use another tool"}
	case CodeNotFound:
		return []string{"Check the identifier, for example with a tool that lists or searches"}
	case CodeConflict:
		return []string{"Read the present state first, then decide"}
	case CodeRateLimited:
		if after := header.Get("Retry-After"); after != "" {
			return []string{"Wait until Retry-After: " + excerpt([]byte(after), 64)}
		}
		return []string{"Wait a while before the next call"}
	}
	return []string{"The service has a problem of its own: wait, then try once more if the call may be repeated"}
}

// faultDetails writes {"field":…,"reason":…,"faults":[…]}: the first fault in
// the words of the structure, and all of them.
func faultDetails(violations []schema.Violation) []byte {
	if len(violations) == 0 {
		return nil
	}
	dst := []byte(`{"field":`)
	dst = rawjson.AppendString(dst, field(violations[0]))
	dst = append(dst, `,"reason":`...)
	dst = rawjson.AppendString(dst, reason(violations[0]))
	dst = append(dst, `,"faults":`...)
	dst = appendViolations(dst, violations)
	return append(dst, '}')
}

func writeViolations(b *strings.Builder, violations []schema.Violation) {
	const shown = 5
	for i, v := range violations[:min(len(violations), shown)] {
		if i > 0 {
			b.WriteString("; ")
		}
		if name := field(v); name != "" {
			b.WriteString(name + ": ")
		}
		b.WriteString(reason(v))
	}
	if more := len(violations) - shown; more > 0 {
		b.WriteString("; and " + strconv.Itoa(more) + " more")
	}
}

// field names the place of a violation as a person would: items.3.name. A
// missing member is named itself.
func field(v schema.Violation) string {
	path := strings.TrimPrefix(v.Path, "/")
	path = strings.ReplaceAll(path, "/", ".")
	path = strings.NewReplacer("~1", "/", "~0", "~").Replace(path)
	if v.Keyword != "required" {
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

func reason(v schema.Violation) string {
	if v.Keyword == "required" {
		return "required field missing"
	}
	return "expected " + v.Expected + ", got " + v.Got
}

func suggestion(v schema.Violation) string {
	name := field(v)
	switch {
	case v.Keyword == "required":
		return "Provide " + name
	case v.Keyword == "additionalProperties":
		return "Leave out " + name
	case name == "":
		return "Send " + v.Expected
	}
	return "Give " + name + " as " + v.Expected
}
