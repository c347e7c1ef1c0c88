package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/elicitation"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

var _ tenon.Requester = (*request)(nil)

// RequestInput puts questions to the client behind q: at once in the legacy era, where
// a stream leads there; in the modern one by ending the request, to be made
// again with the answers (basic/patterns/mrtr).
func (q *request) RequestInput(ctx context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	answers, err := q.ask(ctx, questions)
	if err == nil {
		q.awaitPages(ctx, questions, answers)
	}
	return answers, err
}

func (q *request) ask(ctx context.Context, questions []tenon.InputRequest) ([]tenon.InputResponse, error) {
	can := q.Capabilities
	if q.era == legacy {
		if q.peer == nil || q.out == nil {
			can = nil
		} else {
			can = q.peer.can()
		}
	}
	for _, question := range questions {
		if !able(can, question.Kind) {
			return nil, &tenon.UnsupportedInputError{Kind: question.Kind}
		}
	}
	if q.task != nil {
		if answers, ok, err := q.askTask(ctx, questions); ok {
			return answers, err
		}
	}
	if q.era == modern {
		return q.recall(questions)
	}
	answers := make([]tenon.InputResponse, len(questions))
	for i, question := range questions {
		var err error
		if answers[i], err = q.askUntilFits(ctx, question); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// askTask asks what earlier rounds did not answer through the task that the
// call has become; false: it is none.
func (q *request) askTask(ctx context.Context, questions []tenon.InputRequest) (answers []tenon.InputResponse, isTask bool, err error) {
	answers = make([]tenon.InputResponse, len(questions))
	var missing []tenon.InputRequest
	var places []int
	for i, question := range questions {
		var ok bool
		if answers[i], ok = q.accepted(question, q.answers[question.Key]); !ok {
			missing, places = append(missing, question), append(places, i)
		}
	}
	if missing == nil {
		return nil, false, nil // nothing needs to be asked, whoever answers
	}
	asked, isTask, err := q.task.ask(ctx, missing)
	for i := range asked {
		answers[places[i]] = asked[i]
	}
	return answers, isTask, err
}

// askUntilFits asks a question again whose form was filled in wrongly.
func (q *request) askUntilFits(ctx context.Context, question tenon.InputRequest) (answer tenon.InputResponse, err error) {
	for range maxTries {
		if answer, err = q.askNow(ctx, question); err != nil {
			return tenon.InputResponse{}, err
		}
		if err = q.misfit(question, answer); err == nil {
			return answer, nil
		}
	}
	return tenon.InputResponse{}, err
}

// misfit says what is wrong with the fields of a form: the source that asked
// never sees such an answer.
func (q *request) misfit(question tenon.InputRequest, answer tenon.InputResponse) error {
	if answer.Action != "accept" || answer.Body == nil {
		return nil
	}
	return elicitation.Check(question, answer.Body)
}

// accepted reads an answer and reports whether it can be handed on.
func (q *request) accepted(question tenon.InputRequest, raw []byte) (tenon.InputResponse, bool) {
	answer, ok := answerOf(question.Kind, raw)
	return answer, ok && q.misfit(question, answer) == nil
}

// recall finds the answers that came with this request or an earlier round,
// and asks for those that are missing.
func (q *request) recall(questions []tenon.InputRequest) ([]tenon.InputResponse, error) {
	answers := make([]tenon.InputResponse, len(questions))
	var missing []tenon.InputRequest
	for i, question := range questions {
		answer, ok := answerOf(question.Kind, q.answers[question.Key])
		wrong := q.misfit(question, answer)
		if wrong != nil {
			if q.tries++; q.tries >= maxTries {
				return nil, wrong
			}
		}
		if answers[i] = answer; !ok || wrong != nil {
			missing = append(missing, question)
		}
		answers[i].RequestState = q.series
	}
	if missing != nil {
		return nil, &tenon.InputRequiredError{Requests: missing}
	}
	return answers, nil
}

// askNow sends a request of our own and waits for its answer.
func (q *request) askNow(ctx context.Context, question tenon.InputRequest) (tenon.InputResponse, error) {
	id, came, done := q.peer.question()
	if done == nil {
		return tenon.InputResponse{}, &tenon.UnsupportedInputError{Kind: question.Kind}
	}
	defer done()
	question.Params = withElicitationID(question)
	m := append(rawjson.AppendString([]byte(`{"jsonrpc":"2.0","id":`), id), ',')
	q.notify(append(appendQuestion(m, question)[:], '}'))
	select {
	case m := <-came:
		if m.Failed {
			return tenon.InputResponse{}, &tenon.Error{Code: tenon.CodeRequest, Message: "the client answered the question with an error", Err: fmt.Errorf("%s", jsonrpc.Clip(string(m.Result)))}
		}
		answer, ok := answerOf(question.Kind, m.Result)
		if !ok {
			return tenon.InputResponse{}, &tenon.Error{Code: tenon.CodeRequest, Message: "the client's answer is not of the form that the protocol asks for"}
		}
		return answer, nil
	case <-ctx.Done():
		m := rawjson.AppendString([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), id)
		q.notify(append(m, "}}"...))
		return tenon.InputResponse{}, ctx.Err()
	}
}

// appendQuestion writes the members method and params.
func appendQuestion(dst []byte, q tenon.InputRequest) []byte {
	method := "elicitation/create"
	switch q.Kind {
	case tenon.Sampling:
		method = "sampling/createMessage"
	case tenon.Roots:
		method = "roots/list"
	case tenon.ElicitForm, tenon.ElicitURL:
	}
	dst = rawjson.AppendString(append(dst, `"method":`...), method)
	params := q.Params
	if len(params) == 0 {
		params = []byte("{}")
	}
	dst = append(dst, `,"params":`...)
	if compact, err := rawjson.AppendCompact(dst, params); err == nil {
		return compact
	}
	return append(dst, "{}"...)
}

// answerOf reads what a client answered. One that is not of the protocol's
// form is no answer.
func answerOf(k tenon.InputKind, raw []byte) (tenon.InputResponse, bool) {
	doc, err := rawjson.Parse(raw)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return tenon.InputResponse{}, false
	}
	kind := func(key string) rawjson.Kind { return doc.Kind(doc.Get(doc.Root(), key)) }
	switch k {
	case tenon.Sampling:
		return tenon.InputResponse{Body: bytes.Clone(raw)}, kind("role") == rawjson.String && kind("content") != rawjson.Invalid
	case tenon.Roots:
		return tenon.InputResponse{Body: bytes.Clone(raw)}, kind("roots") == rawjson.Array
	case tenon.ElicitForm, tenon.ElicitURL:
	}
	a := tenon.InputResponse{Action: doc.Str(doc.Get(doc.Root(), "action"))}
	content := doc.Get(doc.Root(), "content")
	if doc.Kind(content) == rawjson.Object {
		a.Body = bytes.Clone(doc.Raw(content))
	}
	complete := a.Action != "accept" || k == tenon.ElicitURL || a.Body != nil
	return a, complete && slices.Contains([]string{"accept", "decline", "cancel"}, a.Action)
}

// hasRounds reports whether q may be answered with questions: no other method
// may (basic/patterns/mrtr).
func (q *request) hasRounds() bool {
	named := methodOf(q.Method).named
	return named == byName || named == byURI
}

// needInput answers that input is needed.
func (q *request) needInput(a *answer, questions []tenon.InputRequest) *jsonrpc.Error {
	state := roundState{answers: q.answers, tries: q.tries, series: q.series}
	a.envelope(q.ID)
	a.write(`,"result":`)
	a.openAs(q, "input_required", nil)
	a.member("inputRequests")
	a.write("{")
	for _, question := range questions {
		if question.Key == "" || slices.Contains(state.asked, question.Key) {
			return q.server.internal("a handler's questions have no keys of their own", question.Key, "tool", jsonrpc.Clip(q.Name))
		}
		state.asked = append(state.asked, question.Key)
		a.member(jsonInside(question.Key))
		a.write("{")
		a.buf = append(appendQuestion(a.buf, question), '}')
	}
	a.write("}")
	a.member("requestState")
	sealed, ok := q.server.states.seal(q, &state)
	if !ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the answers are too long to go on"}
	}
	a.text(sealed)
	a.end()
	return nil
}

// jsonInside is s as it stands between the quotes of a JSON string.
func jsonInside(s string) string {
	b := rawjson.AppendString(nil, s)
	return string(b[1 : len(b)-1])
}

// missingCapability refuses a request that needs more than its client can do.
func missingCapability(q *request, k tenon.InputKind) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the client cannot answer what this request has to ask"}
	if q.era == legacy {
		return e
	}
	needs := `{"elicitation":{"form":{}}}`
	switch k {
	case tenon.ElicitURL:
		needs = `{"elicitation":{"url":{}}}`
	case tenon.Sampling:
		needs = `{"sampling":{}}`
	case tenon.Roots:
		needs = `{"roots":{}}`
	case tenon.ElicitForm:
	}
	e.Code, e.Status = jsonrpc.CodeCapability, http.StatusBadRequest
	e.Data = []byte(`{"requiredCapabilities":` + needs + `}`)
	return e
}
