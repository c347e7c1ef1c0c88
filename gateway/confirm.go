package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
)

// consentLife is how long a request for consent can be agreed to.
const consentLife = 10 * time.Minute

// asksConsent reports whether consent is due before t does its work.
func asksConsent(t *tenon.Tool) bool {
	destroys := t.Annotations.Destructive != nil && *t.Annotations.Destructive
	chosen := t.Confirmation.Mode == tenon.ConfirmArg || t.Confirmation.Mode == tenon.ConfirmHuman
	return t.Confirmation.Mode != tenon.ConfirmOff && (t.Confirmation.Action != "" || t.Confirm != nil || destroys || t.Confirmation.Marked && chosen)
}

// confirm is the stage between input validation and the handler. It returns a result
// where the call ends here: nothing was sent. With an error the call unwinds.
// The consent that was given stays used unless giveBack is called, which a call
// does that will be made again.
func (g *Gateway) confirm(ctx context.Context, e *Tool, c *tenon.Call, own reservedargs.Values) (giveBack func(), res *tenon.Result, err error) {
	giveBack = func() {}
	if !asksConsent(&e.tool) {
		return giveBack, nil, nil
	}
	mode := e.tool.Confirmation.Mode
	if mode == tenon.ConfirmHuman && own.Confirmed {
		return giveBack, errorResult(e, rejected(tenon.CodeValidation, "Only a person can agree to this call. Nothing was sent.", "Leave out "+e.checks.own.Of(reservedargs.Confirmed))), nil
	}
	q, err := confirmationOf(&e.tool, c.Args)
	if err != nil {
		return giveBack, g.handlerError(e, &tenon.Response{}, err), nil
	}
	if mode != tenon.ConfirmArg {
		answers, err := g.askPerson(ctx, c, q)
		switch {
		case err == nil:
			giveBack, res = g.decision(ctx, e, answers[0])
			return giveBack, res, nil
		case !errors.As(err, new(*tenon.UnsupportedInputError)):
			res, err = g.noDecision(ctx, e, err)
			return giveBack, res, err
		case mode == tenon.ConfirmHuman:
			return giveBack, errorResult(e, rejected(tenon.CodeAuthorization, "This call needs the consent of a person (mode human), and there is no way to ask one. Nothing was sent.",
				"Call where questions can be answered (elicitation), or ask the operator")), nil
		}
	}
	giveBack, res = g.confirmed(ctx, e, c, q, own)
	return giveBack, res, nil
}

// consentForm is what a person fills in. Consent is a field and not only the
// button of a form, because some clients press that by themselves.
const consentForm = `{"type":"object","properties":{"confirm":{"type":"boolean","title":"Do it","description":"true: the call is made; false: nothing is sent","default":false}},"required":["confirm"]}`

// confirmationOf is what a person is asked about a call with these arguments.
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
	q.Key = "tenon/consent"
	return q, err
}

// effectOf says what a tool would do.
func effectOf(t *tenon.Tool) string {
	if t.Confirmation.Effect != "" {
		return t.Confirmation.Effect
	}
	return "The tool " + t.Name + " may change or destroy what is there"
}

func (g *Gateway) askPerson(ctx context.Context, c *tenon.Call, q tenon.InputRequest) ([]tenon.InputResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, g.inputTimeout)
	defer cancel()
	answers, err := c.RequestInput(ctx, q)
	if err == nil && len(answers) != 1 {
		err = tenon.Errorf(tenon.CodeInternal, "the question for consent has %d answers", len(answers))
	}
	return answers, err
}

// decision goes on only with a clear yes, once.
func (g *Gateway) decision(ctx context.Context, e *Tool, a tenon.InputResponse) (giveBack func(), res *tenon.Result) {
	giveBack = func() {}
	if !agreedTo(&e.tool, a) {
		return giveBack, errorResult(e, rejected(tenon.CodeAuthorization, "The person who was asked did not agree. Nothing was sent.",
			"Do not call again unless the person asks for it"))
	}
	if a.RequestState == "" {
		return giveBack, nil
	}
	key := "consent used " + a.RequestState
	fresh, err := g.store.PutIfAbsent(ctx, key, nil, 2*consentLife)
	switch {
	case err != nil:
		return giveBack, g.storeFailed(e, err)
	case !fresh:
		return giveBack, errorResult(e, rejected(tenon.CodeValidation, "This consent was used already. Nothing was sent.",
			"Call again without the answers: the person is asked anew"))
	}
	return func() { _, _, _ = g.store.GetAndDelete(context.WithoutCancel(ctx), key) }, nil // one that stays is used, which is safe
}

// agreedTo reports whether an answer is a yes. A ConfirmFunc's form is accepted as
// a whole.
func agreedTo(t *tenon.Tool, a tenon.InputResponse) bool {
	if t.Confirm != nil {
		return a.Action == "accept"
	}
	doc, err := rawjson.Parse(a.Body)
	return err == nil && a.Action == "accept" && string(doc.Raw(doc.Get(doc.Root(), "confirm"))) == "true"
}

// noDecision ends a call whose question has no answer.
func (g *Gateway) noDecision(ctx context.Context, e *Tool, err error) (*tenon.Result, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case unwinds(err):
		return nil, err
	case errors.Is(err, context.DeadlineExceeded):
		return errorResult(e, rejected(tenon.CodeTimeout, "The person who was asked did not answer in "+g.inputTimeout.String()+". Nothing was sent.",
			"Call again when the person is there")), nil
	}
	f := rejected(tenon.CodeOf(err), "The person could not be asked. Nothing was sent.")
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		f.message += " " + known.Message
	}
	return errorResult(e, f), nil
}

// confirmed goes on where the caller was asked for exactly this call and now
// agrees; else it is asked.
func (g *Gateway) confirmed(ctx context.Context, e *Tool, c *tenon.Call, q tenon.InputRequest, own reservedargs.Values) (giveBack func(), res *tenon.Result) {
	giveBack = func() {}
	key := "consent " + reservedargs.Key(string(c.Subject), c.Tool, c.Args)
	if own.Confirmed {
		_, asked, err := g.store.GetAndDelete(ctx, key)
		switch {
		case err != nil:
			return giveBack, g.storeFailed(e, err)
		case asked: // one that cannot be put back is asked for again, which is safe
			return func() { _ = g.store.Put(context.WithoutCancel(ctx), key, nil, consentLife) }, nil
		}
	}
	if err := g.store.Put(ctx, key, nil, consentLife); err != nil {
		return giveBack, g.storeFailed(e, err)
	}
	return giveBack, shapeConfirmation(&e.tool, q, e.checks.own.Told(reservedargs.Confirmed, c.OnPage))
}

// storeFailed fails closed: a consent that cannot be remembered cannot be given.
func (g *Gateway) storeFailed(e *Tool, err error) *tenon.Result {
	g.log.Error("a consent cannot be kept", "tool", e.tool.Name, "error", err)
	return errorResult(e, rejected(tenon.CodeInternal, "The consent that this call needs cannot be kept now. Nothing was sent.", "Try again later"))
}

// rejected is a failure before anything was sent.
func rejected(code tenon.Code, message string, suggestions ...string) toolError {
	return toolError{code: code, message: message, suggestions: suggestions, judged: outputCheck{verdict: tenon.Unchecked}}
}

// shapeConfirmation asks the caller for consent, who gives it by an argument: a
// structure of its own in the envelope openapi-mcp, an error with the same
// structure as text in the others, in the envelope of shape flowmcp there.
func shapeConfirmation(t *tenon.Tool, question tenon.InputRequest, argument string) *tenon.Result {
	action := t.Confirmation.Action
	if action == "" {
		action = tenon.RunTool
	}
	q := envelope.Confirmation{Message: question.Message(), Action: string(action)}
	res := &tenon.Result{Confirmation: q.JSON(), Meta: metaOf(t.Envelope, &tenon.Response{}, &outputCheck{verdict: tenon.Unchecked}, "no")}
	res.Content = []tenon.Content{{Text: res.Confirmation}, {Text: []byte("Call again with " + argument + ": true if the user agrees.")}}
	switch t.Envelope {
	case tenon.OpenAPIMCP:
		res.Structured = res.Confirmation
		return res
	case tenon.FlowMCP:
		res.Structured = q.FlowMCP(t.Name)
		res.Content[0].Text = res.Structured
	case tenon.Native:
	}
	res.IsError = true
	return res
}
