package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// toolError is the failure of a call.
type toolError struct {
	code        tenon.Code
	message     string         // for the model
	details     []byte         // JSON object; nil: none
	suggestions []string       // what to do next
	resp        tenon.Response // the response, as far as it arrived; its body is in details or left out
	judged      outputCheck
	silent      bool   // no complete response arrived
	text        []byte // the data that broke its contract, for the model to read; nil: none

	retryAfter time.Duration // 0: not known
}

// refusedArguments is the failure of input validation; nothing was sent.
func refusedArguments(e *Tool, violations []schema.Violation) *tenon.Result {
	input, _ := e.Schemas() // as the caller knows it
	hint := envelope.SuggestFor(input, violations)
	return errorResult(e, toolError{
		code: tenon.CodeValidation, message: "Invalid arguments: " + envelope.ViolationText(violations, hint), details: envelope.ViolationDetails(violations, hint),
		suggestions: envelope.Suggestions(violations, hint), judged: outputCheck{verdict: tenon.Unchecked},
	})
}

func refusedFields(e *Tool, err error) *tenon.Result {
	name := e.checks.own.Of(reservedargs.Fields)
	return errorResult(e, rejected(tenon.CodeValidation, "Invalid argument "+name+": "+err.Error(), "Leave out "+name+" to see everything"))
}

// violation is the failure of output validation. Under enforce no data is
// delivered; under repair it is delivered as text.
func contractViolation(t *tenon.Tool, r *tenon.Response, j outputCheck) toolError {
	f := toolError{
		code: tenon.CodeContract, message: "The response of " + t.Name + " violates its schema: " + envelope.ViolationText(j.violations, nil),
		details:     envelope.ViolationDetails(j.violations, nil),
		suggestions: []string{"Tell the operator: the API does not match its description"},
		resp:        *r, judged: j,
	}
	if r.Status == 0 { // no HTTP service: a function
		f.suggestions = []string{"Tell the author of the tool: its results do not match its schema"}
	}
	if t.Policy == tenon.Repair {
		a := answerOf(r, j.form)
		f.text = a.Text()
	}
	return f
}

// upstreamError is a response with a status outside 2xx. Its body is never data.
func upstreamError(r *tenon.Response, j outputCheck) toolError {
	a := answerOf(r, j.form)
	f := toolError{code: tenon.CodeOfStatus(r.Status), message: "HTTP " + strconv.Itoa(r.Status), details: a.ErrorDetails(), resp: *r, judged: j}
	if text := http.StatusText(r.Status); text != "" {
		f.message += " " + text
	}
	if said := a.Said(); said != "" {
		f.message += ": " + said
	}
	if where := a.Location(); where != "" {
		f.message += "; it was not followed to " + where
	}
	f.suggestions = statusSuggestions(f.code, r.Status, r.Header)
	return f
}

// executed says whether the call was executed. A call that only reads was
// executed if a response arrived, unless that is a redirect; after an incomplete
// response it is unknown.
func (f *toolError) executed() string {
	switch r := &f.resp; {
	case r.Execution.Unsafe != tenon.NotSent || r.Status/100 == 3:
		return r.Execution.Executed()
	case f.silent && r.Execution.Reads == tenon.Responded && r.Status == 0:
		return "yes" // a function that marks its result as an error
	case f.silent && (r.Execution.Reads != tenon.NotSent || r.Status != 0):
		return "unknown"
	case !f.silent && (r.Status != 0 || f.code == tenon.CodeContract):
		return "yes"
	}
	return "no"
}

// Numbers in the envelope flowmcp that no code has.
const (
	statusNumber = 1  // the one of the format's page: the upstream answered with an error status
	ownNumber    = 99 // of a code that its author has chosen
)

// number returns the failure's number in the envelope flowmcp.
func (f *toolError) number() int {
	if f.code != tenon.CodeContract && f.resp.Status != 0 && f.resp.Status/100 != 2 {
		return statusNumber
	}
	if known, ok := infoOf(f.code); ok {
		return known.Number
	}
	return ownNumber
}

// infoOf returns what is known of a code; ok is false for an author's own.
func infoOf(code tenon.Code) (known tenon.CodeInfo, ok bool) {
	for _, known := range tenon.Codes() {
		if known.Code == code {
			return known, true
		}
	}
	return tenon.CodeInfo{}, false
}

// statusSuggestions say what can help after an error status.
func statusSuggestions(code tenon.Code, status int, header http.Header) []string {
	switch after := header.Get("Retry-After"); {
	case status/100 == 3:
		return []string{envelope.RedirectSuggestion(status)}
	case code == tenon.CodeRateLimited && after != "":
		return []string{"Wait until Retry-After: " + envelope.Excerpt([]byte(after), 64)}
	}
	known, _ := infoOf(code)
	return []string{known.Advice}
}
