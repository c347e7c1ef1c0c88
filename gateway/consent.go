package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/reserve"
	"github.com/tenon-mcp/tenon/internal/shape"
)

// consentLife is how long a request for consent can be agreed to.
const consentLife = 10 * time.Minute

// asksConsent reports whether consent is due before t does its work.
func asksConsent(t *tenon.Tool) bool {
	destroys := t.Hints.Destructive != nil && *t.Hints.Destructive
	chosen := t.Consent.Mode == tenon.ConsentArg || t.Consent.Mode == tenon.ConsentHuman
	return t.Consent.Mode != tenon.ConsentOff && (t.Consent.Action != "" || t.Confirm != nil || destroys || t.Consent.Marked && chosen)
}

// consented is the stage between wall one and the handler. It returns a result
// where the call ends here: nothing was sent. With an error the call unwinds.
// The consent that was given stays used unless giveBack is called, which a call
// does that will be made again.
func (g *Gateway) consented(ctx context.Context, e *Entry, c *tenon.Call, own reserve.Own) (giveBack func(), res *tenon.Result, err error) {
	giveBack = func() {}
	if !asksConsent(&e.tool) {
		return giveBack, nil, nil
	}
	mode := e.tool.Consent.Mode
	if mode == tenon.ConsentHuman && own.Confirmed {
		return giveBack, shapeFailure(e, refusal(tenon.CodeValidation, "Only a person can agree to this call. Nothing was sent.", "Leave out "+e.checks.own.Of(reserve.Confirmed))), nil
	}
	q, err := confirmationOf(&e.tool, c.Args)
	if err != nil {
		return giveBack, g.failed(e, &tenon.Reply{}, err), nil
	}
	if mode != tenon.ConsentArg {
		answers, err := g.askPerson(ctx, c, q)
		switch {
		case err == nil:
			giveBack, res = g.personSaid(ctx, e, answers[0])
			return giveBack, res, nil
		case !errors.As(err, new(*tenon.CannotAskError)):
			res, err = g.personSilent(ctx, e, err)
			return giveBack, res, err
		case mode == tenon.ConsentHuman:
			return giveBack, shapeFailure(e, refusal(tenon.CodeAuthorization, "This call needs the consent of a person (mode human), and there is no way to ask one. Nothing was sent.",
				"Call where questions can be answered (elicitation), or ask the operator")), nil
		}
	}
	giveBack, res = g.confirmed(ctx, e, c, q, own)
	return giveBack, res, nil
}

// consentForm is what a person fills in. Consent is a field and not only the
// button of a form, because some clients press that by themselves.
const consentForm = `{"type":"object","properties":{"confirm":{"type":"boolean","title":"Do it","description":"true: the call is made; false: nothing is sent","default":false}},"required":["confirm"]}`

// question is what a person is asked about a call with these arguments.
func confirmationOf(t *tenon.Tool, args []byte) (q tenon.Question, err error) {
	if t.Confirm != nil {
		q, err = t.Confirm(args)
	} else {
		about := effectOf(t) + "."
		if text := strings.TrimSpace(string(args)); text != "" && text != "{}" {
			about += "\nArguments: " + shape.Excerpt(args, 1000)
		}
		q = tenon.Form("", about, []byte(consentForm))
	}
	q.Key = "tenon/consent"
	return q, err
}

// effect says what a tool would do.
func effectOf(t *tenon.Tool) string {
	if t.Consent.Effect != "" {
		return t.Consent.Effect
	}
	return "The tool " + t.Name + " may change or destroy what is there"
}

func (g *Gateway) askPerson(ctx context.Context, c *tenon.Call, q tenon.Question) ([]tenon.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	answers, err := c.Ask(ctx, q)
	if err == nil && len(answers) != 1 {
		err = tenon.Errorf(tenon.CodeInternal, "the question for consent has %d answers", len(answers))
	}
	return answers, err
}

// personSaid goes on only with a clear yes, once.
func (g *Gateway) personSaid(ctx context.Context, e *Entry, a tenon.Answer) (giveBack func(), res *tenon.Result) {
	giveBack = func() {}
	if !agreedTo(&e.tool, a) {
		return giveBack, shapeFailure(e, refusal(tenon.CodeAuthorization, "The person who was asked did not agree. Nothing was sent.",
			"Do not call again unless the person asks for it"))
	}
	if a.Round == "" {
		return giveBack, nil
	}
	key := "consent used " + a.Round
	fresh, err := g.state.PutNew(ctx, key, nil, 2*consentLife)
	switch {
	case err != nil:
		return giveBack, g.unkept(e, err)
	case !fresh:
		return giveBack, shapeFailure(e, refusal(tenon.CodeValidation, "This consent was used already. Nothing was sent.",
			"Call again without the answers: the person is asked anew"))
	}
	return func() { _, _, _ = g.state.Take(context.WithoutCancel(ctx), key) }, nil // one that stays is used, which is safe
}

// agreed reports whether an answer is a yes. A Confirmer's form is accepted as
// a whole.
func agreedTo(t *tenon.Tool, a tenon.Answer) bool {
	if t.Confirm != nil {
		return a.Action == "accept"
	}
	doc, err := rawjson.Parse(a.Body)
	return err == nil && a.Action == "accept" && string(doc.Raw(doc.Get(doc.Root(), "confirm"))) == "true"
}

// personSilent ends a call whose question has no answer.
func (g *Gateway) personSilent(ctx context.Context, e *Entry, err error) (*tenon.Result, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case unwinds(err):
		return nil, err
	case errors.Is(err, context.DeadlineExceeded):
		return shapeFailure(e, refusal(tenon.CodeTimeout, "The person who was asked did not answer in "+g.patience.String()+". Nothing was sent.",
			"Call again when the person is there")), nil
	}
	f := refusal(tenon.CodeOf(err), "The person could not be asked. Nothing was sent.")
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		f.message += " " + known.Message
	}
	return shapeFailure(e, f), nil
}

// confirmed goes on where the caller was asked for exactly this call and now
// agrees; else it is asked.
func (g *Gateway) confirmed(ctx context.Context, e *Entry, c *tenon.Call, q tenon.Question, own reserve.Own) (giveBack func(), res *tenon.Result) {
	giveBack = func() {}
	key := "consent " + reserve.Key(string(c.Subject), c.Tool, c.Args)
	if own.Confirmed {
		_, asked, err := g.state.Take(ctx, key)
		switch {
		case err != nil:
			return giveBack, g.unkept(e, err)
		case asked: // one that cannot be put back is asked for again, which is safe
			return func() { _ = g.state.Put(context.WithoutCancel(ctx), key, nil, consentLife) }, nil
		}
	}
	if err := g.state.Put(ctx, key, nil, consentLife); err != nil {
		return giveBack, g.unkept(e, err)
	}
	return giveBack, shapeConfirmation(&e.tool, q, e.checks.own.Told(reserve.Confirmed, c.OnPage))
}

// unkept fails closed: a consent that cannot be remembered cannot be given.
func (g *Gateway) unkept(e *Entry, err error) *tenon.Result {
	g.log.Error("a consent cannot be kept", "tool", e.tool.Name, "error", err)
	return shapeFailure(e, refusal(tenon.CodeInternal, "The consent that this call needs cannot be kept now. Nothing was sent.", "Try again later"))
}

// refusal is a failure before anything was sent.
func refusal(code tenon.Code, message string, suggestions ...string) failure {
	return failure{code: code, message: message, suggestions: suggestions, judged: judgement{verdict: tenon.Unchecked}}
}

// shapeConfirmation asks the caller for consent, who gives it by an argument: a
// structure of its own in the shape openapi-mcp, an error with the same
// structure as text in the others, in the envelope of shape flowmcp there.
func shapeConfirmation(t *tenon.Tool, question tenon.Question, argument string) *tenon.Result {
	action := t.Consent.Action
	if action == "" {
		action = tenon.RunTool
	}
	q := shape.Confirmation{Message: question.Message(), Action: string(action)}
	res := &tenon.Result{Request: q.JSON(), Meta: metaOf(t.Shape, &tenon.Reply{}, &judgement{verdict: tenon.Unchecked}, "no")}
	res.Content = []tenon.Block{{Text: res.Request}, {Text: []byte("Call again with " + argument + ": true if the user agrees.")}}
	switch t.Shape {
	case tenon.OpenAPIMCP:
		res.Structured = res.Request
		return res
	case tenon.FlowMCP:
		res.Structured = q.FlowMCP(t.Name)
		res.Content[0].Text = res.Structured
	case tenon.Native:
	}
	res.IsError = true
	return res
}
