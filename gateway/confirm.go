package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
)

// consentLife is how long a request for confirmation is valid.
const consentLife = 10 * time.Minute

// asksConsent reports whether calls of t need confirmation.
func asksConsent(t *tenon.Tool) bool {
	destroys := t.Annotations.Destructive != nil && *t.Annotations.Destructive
	chosen := t.Confirmation.Mode == tenon.ConfirmArg || t.Confirmation.Mode == tenon.ConfirmHuman
	return t.Confirmation.Mode != tenon.ConfirmOff && (t.Confirmation.Action != "" || t.Confirm != nil || destroys || t.Confirmation.Marked && chosen)
}

// confirm is the stage between input validation and the handler. It returns a
// result if the call ends here, before anything was sent; an error is for the
// transport. A confirmation counts for one call: release makes it valid again,
// for a call that will be repeated.
func (g *Gateway) confirm(ctx context.Context, e *Tool, c *tenon.Call, own reservedargs.Values, r *CallRecord) (release func(), res *tenon.Result, err error) {
	release = func() {}
	if !asksConsent(&e.tool) {
		return release, nil, nil
	}
	r.consented(ConsentDeclined)
	mode := e.tool.Confirmation.Mode
	if mode == tenon.ConfirmHuman && own.Confirmed {
		return release, errorResult(e, rejected(tenon.CodeValidation, "Only the user can confirm this call. Nothing was sent.", "Leave out "+e.checks.own.Of(reservedargs.Confirmed))), nil
	}
	q, err := confirmationOf(&e.tool, c.Args)
	if err != nil {
		return release, g.handlerError(e, &tenon.Response{}, err), nil
	}
	if mode != tenon.ConfirmArg {
		answers, err := g.askPerson(ctx, c, q)
		switch {
		case err == nil:
			if release, res = g.decision(ctx, e, answers[0]); res == nil {
				r.consented(ConsentPerson)
			}
			return release, res, nil
		case !errors.As(err, new(*tenon.UnsupportedInputError)):
			if unwinds(err) {
				r.consented(ConsentAsked)
			}
			res, err = g.noDecision(ctx, e, err)
			return release, res, err
		case mode == tenon.ConfirmHuman:
			return release, errorResult(e, rejected(tenon.CodeAuthorization, "This call needs confirmation by the user (mode human), and this client cannot ask the user. Nothing was sent.",
				"Use a client that supports elicitation, or ask the operator")), nil
		}
	}
	release, res = g.confirmed(ctx, e, c, q, own)
	switch {
	case res == nil:
		r.consented(ConsentArgument)
	case res.Confirmation != nil:
		r.consented(ConsentAsked)
	}
	return release, res, nil
}

// consentForm is the form for the user. Confirmation is a field, not only the
// button of the form, because some clients accept forms automatically.
const consentForm = `{"type":"object","properties":{"confirm":{"type":"boolean","title":"Confirm","description":"true: the call is made; false: nothing is sent","default":false}},"required":["confirm"]}`

// confirmationOf returns the request for confirmation of a call with these arguments.
func confirmationOf(t *tenon.Tool, args []byte) (q tenon.InputRequest, err error) {
	if t.Confirm != nil {
		q, err = t.Confirm(args)
	} else {
		about := effectOf(t) + "."
		if text := strings.TrimSpace(string(args)); text != "" && text != "{}" {
			about += "\nArguments: " + envelope.Excerpt(args, 1000)
		}
		q = tenon.FormRequest("", about, []byte(consentForm))
	}
	q.Key = "tenon/confirmation"
	return q, err
}

// effectOf describes the effect of a call of t.
func effectOf(t *tenon.Tool) string {
	if t.Confirmation.Effect != "" {
		return t.Confirmation.Effect
	}
	return "The tool " + t.Name + " may change or delete data"
}

func (g *Gateway) askPerson(ctx context.Context, c *tenon.Call, q tenon.InputRequest) ([]tenon.InputResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, g.inputTimeout)
	defer cancel()
	answers, err := c.RequestInput(ctx, q)
	if err == nil && len(answers) != 1 {
		err = tenon.Errorf(tenon.CodeInternal, "the request for confirmation has %d answers", len(answers))
	}
	return answers, err
}

// decision continues only after an explicit acceptance, which counts once.
func (g *Gateway) decision(ctx context.Context, e *Tool, a tenon.InputResponse) (release func(), res *tenon.Result) {
	release = func() {}
	if !agreedTo(&e.tool, a) {
		return release, errorResult(e, rejected(tenon.CodeAuthorization, "The user did not confirm this call. Nothing was sent.",
			"Do not call again unless the user asks for it"))
	}
	if a.RequestState == "" {
		return release, nil
	}
	key := "consent used " + a.RequestState
	fresh, err := g.store.PutIfAbsent(ctx, key, nil, 2*consentLife)
	switch {
	case err != nil:
		return release, g.storeFailed(e, err)
	case !fresh:
		return release, errorResult(e, rejected(tenon.CodeValidation, "This confirmation was already used. Nothing was sent.",
			"Call again without inputResponses: the user is asked again"))
	}
	return func() { _, _, _ = g.store.GetAndDelete(context.WithoutCancel(ctx), key) }, nil // if it fails, the confirmation stays used, which is safe
}

// agreedTo reports whether an answer confirms the call. The form of a
// ConfirmFunc needs only the action "accept".
func agreedTo(t *tenon.Tool, a tenon.InputResponse) bool {
	if t.Confirm != nil {
		return a.Action == "accept"
	}
	doc, err := rawjson.Parse(a.Body)
	return err == nil && a.Action == "accept" && string(doc.Raw(doc.Get(doc.Root(), "confirm"))) == "true"
}

// noDecision ends a call whose request for confirmation got no answer.
func (g *Gateway) noDecision(ctx context.Context, e *Tool, err error) (*tenon.Result, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case unwinds(err):
		return nil, err
	case errors.Is(err, context.DeadlineExceeded):
		return errorResult(e, rejected(tenon.CodeTimeout, "The user did not answer within "+g.inputTimeout.String()+". Nothing was sent.",
			"Call again when the user is available")), nil
	}
	f := rejected(tenon.CodeOf(err), "The user could not be asked. Nothing was sent.")
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		f.message += " " + known.Message
	}
	return errorResult(e, f), nil
}

// confirmed continues if the caller was asked to confirm exactly this call and
// now does; else it asks.
func (g *Gateway) confirmed(ctx context.Context, e *Tool, c *tenon.Call, q tenon.InputRequest, own reservedargs.Values) (release func(), res *tenon.Result) {
	release = func() {}
	key := "consent " + reservedargs.Key(string(c.Subject), c.Tool, c.Args)
	if own.Confirmed {
		_, asked, err := g.store.GetAndDelete(ctx, key)
		switch {
		case err != nil:
			return release, g.storeFailed(e, err)
		case asked: // if it cannot be restored, the caller is asked again, which is safe
			return func() { _ = g.store.Put(context.WithoutCancel(ctx), key, nil, consentLife) }, nil
		}
	}
	if err := g.store.Put(ctx, key, nil, consentLife); err != nil {
		return release, g.storeFailed(e, err)
	}
	return release, requestConfirmation(&e.tool, q, e.checks.own.Told(reservedargs.Confirmed, c.OnPage))
}

// storeFailed fails closed: without the store a confirmation cannot be checked.
func (g *Gateway) storeFailed(e *Tool, err error) *tenon.Result {
	g.log.Error("a consent cannot be kept", "tool", e.tool.Name, "error", err)
	return errorResult(e, withoutStore(err, "The confirmation that this call needs cannot be stored now. Nothing was sent."))
}

// retryStore is when a call that needs the store is worth another try. One that is away
// is back in seconds, or somebody has to look after it.
const retryStore = 5 * time.Second

// withoutStore is a failure of a call that got no further because the store failed.
func withoutStore(err error, message string) toolError {
	if errors.Is(err, tenon.ErrStoreFull) {
		return rejected(tenon.CodeInternal, message+" The store is full.", "Tell the operator if it stays so")
	}
	f := rejected(tenon.CodeInternal, message, fmt.Sprintf("Wait %d seconds, then try again; tell the operator if that does not help", tenon.RetrySeconds(retryStore)))
	f.retryAfter = retryStore
	return f
}

// rejected is a failure of a call before anything was sent.
func rejected(code tenon.Code, message string, suggestions ...string) toolError {
	return toolError{code: code, message: message, suggestions: suggestions, judged: outputCheck{verdict: tenon.Unchecked}}
}

// requestConfirmation asks the caller for confirmation by an argument: with the
// structure of the output-structure page in the envelope openapi-mcp, with an
// error that has this structure as text in the others.
func requestConfirmation(t *tenon.Tool, question tenon.InputRequest, argument string) *tenon.Result {
	action := t.Confirmation.Action
	if action == "" {
		action = tenon.RunTool
	}
	q := envelope.Confirmation{Message: question.Message(), Action: string(action)}
	res := &tenon.Result{Confirmation: q.JSON()}
	setOutcome(res, t.Envelope, &tenon.Response{}, &outputCheck{verdict: tenon.Unchecked}, "no")
	res.Content = []tenon.Content{{Text: res.Confirmation}, {Text: []byte("Call again with " + argument + ": true if the user agrees.")}}
	switch t.Envelope {
	case tenon.OpenAPIMCP:
		res.Structured = res.Confirmation
		return res
	case tenon.FlowMCP:
		notPermitted, _ := infoOf(tenon.CodeAuthorization) // as long as nobody has confirmed it
		res.Structured = q.FlowMCP(notPermitted.Number, t.Name)
		res.Content[0].Text = res.Structured
	case tenon.Native:
	}
	res.IsError = true
	return res
}
