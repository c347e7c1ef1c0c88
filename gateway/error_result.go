package gateway

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// toolError is a call that did not succeed.
type toolError struct {
	code        tenon.Code
	message     string         // for the model
	details     []byte         // JSON object; nil: none
	suggestions []string       // what to do next
	reply       tenon.Response // what came, as far as it did; its body is in details or not at all
	judged      outputCheck
	silent      bool   // there is no whole answer
	text        []byte // the data that broke its contract, for the model to read; nil: none
}

// refusedArguments is the failure of input validation. Nothing was sent.
func refusedArguments(e *Tool, violations []schema.Violation) *tenon.Result {
	input, _ := e.Schemas() // what the caller was told
	meant := envelope.SuggestFor(input, violations)
	return errorResult(e, toolError{
		code: tenon.CodeValidation, message: "Invalid arguments: " + envelope.ViolationText(violations, meant), details: envelope.ViolationDetails(violations, meant),
		suggestions: envelope.Suggestions(violations, meant), judged: outputCheck{verdict: tenon.Unchecked},
	})
}

func refusedFields(e *Tool, err error) *tenon.Result {
	name := e.checks.own.Of(reservedargs.Fields)
	return errorResult(e, rejected(tenon.CodeValidation, "Invalid argument "+name+": "+err.Error(), "Leave out "+name+" to see everything"))
}

// violation is the failure of output validation. Under enforce no data leaves; under repair
// it does as text, since what could safely be repaired was.
func contractViolation(t *tenon.Tool, r *tenon.Response, j outputCheck) toolError {
	f := toolError{
		code: tenon.CodeContract, message: "The answer of " + t.Name + " breaks its contract: " + envelope.ViolationText(j.violations, nil),
		details:     envelope.ViolationDetails(j.violations, nil),
		suggestions: []string{"Tell the operator: the service answers otherwise than its description says"},
		reply:       *r, judged: j,
	}
	if r.Status == 0 { // no service is behind it: a function of somebody's own
		f.suggestions = []string{"Tell whoever wrote the tool: what it returns is not what its schema says"}
	}
	if t.Policy == tenon.Repair {
		a := answerOf(r, j.form)
		f.text = a.Text()
	}
	return f
}

// upstreamError is an answer with a status that is not a success. Its body is
// never data.
func upstreamError(r *tenon.Response, j outputCheck) toolError {
	a := answerOf(r, j.form)
	f := toolError{code: tenon.CodeOfStatus(r.Status), message: "HTTP " + strconv.Itoa(r.Status), details: a.ErrorDetails(), reply: *r, judged: j}
	if text := http.StatusText(r.Status); text != "" {
		f.message += " " + text
	}
	if said := a.Said(); said != "" {
		f.message += ": " + said
	}
	if where := a.Location(); where != "" {
		f.message += "; it was not followed to " + where
	}
	f.suggestions = envelope.StatusSuggestions(string(f.code), r.Status, r.Header)
	return f
}

// executed says whether the call was executed. One that only reads was, where
// the service answered, unless it asks for the request elsewhere; of an answer
// that broke off nobody knows.
func (f *toolError) executed() string {
	switch r := &f.reply; {
	case r.Execution.Unsafe != tenon.NotSent || r.Status/100 == 3:
		return r.Execution.Executed()
	case f.silent && r.Execution.Reads == tenon.Responded && r.Status == 0:
		return "yes" // a function that says itself that it failed
	case f.silent && (r.Execution.Reads != tenon.NotSent || r.Status != 0):
		return "unknown"
	case !f.silent && (r.Status != 0 || f.code == tenon.CodeContract):
		return "yes"
	}
	return "no"
}

// number is the failure's number in the flowmcp shape: 1 is the upstream's
// status. docs/errors.md has the others.
func (f *toolError) number() int {
	if f.code != tenon.CodeContract && f.reply.Status != 0 && f.reply.Status/100 != 2 {
		return 1
	}
	return 2 + slices.Index([]tenon.Code{tenon.CodeValidation, tenon.CodeNetwork, tenon.CodeTimeout, tenon.CodeContract, tenon.CodeRequest, tenon.CodeAuthorization, tenon.CodeInternal, tenon.CodeServer, tenon.CodeAuthentication, tenon.CodeRateLimited}, f.code)
}
