package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/schema"
)

// way is one way in which a call ends that has a result.
type way struct {
	tool    func(*rapid.T, *tenon.Tool) // nil: nothing is special
	gateway gateway.Options
	args    string // empty: {"id":1}
	asker   tenon.Requester
	handler func(*rapid.T, declared) tenon.Handler // nil: the answer fits
	ends    string                                 // a code; or "data", "request"
}

// declared is a schema with values that fit it and that do not.
type declared struct{ schema, fits, breaks string }

func contracts() []declared {
	return []declared{
		{bookSchema, `{"title":"Emma"}`, `{"stock":"many"}`},
		{librarySchema, `{"page":1,"items":[{"id":1},{"id":2,"note":"ü"},{"id":3}]}`, `{"page":1}`},
		{`{"type":"array","items":{"type":"integer"}}`, `[1,2,3,4,5,6,7,8,9,10]`, `[1,"x"]`},
		{`{"type":["string","null"]}`, `null`, `7`},
		{`{"type":"number"}`, `9007199254740993`, `{}`},
		{`{"anyOf":[{"type":"object","required":["a"]},{"type":"boolean"}]}`, `true`, `{"b":1}`},
		{`{"const":{"type":"error"}}`, `{"type":"error"}`, `{"type":"confirmation_request"}`},
		{`{}`, `[[null]]`, `{"unfinished":`},
	}
}

func consentBy(mode tenon.ConfirmMode) func(*rapid.T, *tenon.Tool) {
	return func(t *rapid.T, tool *tenon.Tool) {
		actions := []tenon.Action{"", tenon.CreateResource, tenon.ReplaceResource, tenon.UpdateResource, tenon.DeleteResource, tenon.RunTool}
		destructive := true
		tool.Annotations.Destructive = &destructive
		tool.Confirmation = tenon.ConfirmRule{Mode: mode, Action: rapid.SampledFrom(actions).Draw(t, "action"), Effect: rapid.String().Draw(t, "effect")}
	}
}

func responses(r tenon.Response) func(*rapid.T, declared) tenon.Handler {
	return func(*rapid.T, declared) tenon.Handler { return answer(r) }
}

// fails answers with an error of a code, or none, and a message that is drawn.
func fails(code tenon.Code) func(*rapid.T, declared) tenon.Handler {
	return func(t *rapid.T, _ declared) tenon.Handler {
		err := errors.New(rapid.String().Draw(t, "message"))
		if code != "" {
			err = &tenon.Error{Code: code, Message: err.Error()}
		}
		resp := tenon.Response{Execution: tenon.Execution{Unsafe: rapid.SampledFrom([]tenon.RequestState{tenon.NotSent, tenon.NoResponse, tenon.Responded}).Draw(t, "sent")}}
		return func(context.Context, *tenon.Call) (tenon.Response, error) { return resp, err }
	}
}

// errorStatus answers with a status of a code and a body of any kind.
func errorStatus(code tenon.Code) func(*rapid.T, declared) tenon.Handler {
	return func(t *rapid.T, _ declared) tenon.Handler {
		status := rapid.SampledFrom(statusesOf(code)).Draw(t, "status")
		media := rapid.SampledFrom([]string{"", "application/json", "application/problem+json", "text/html; charset=utf-8", "image/png"}).Draw(t, "media")
		return answer(tenon.Response{Status: status, MediaType: media, Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body")})
	}
}

func breaksUnder(policy tenon.Policy, ends string) way {
	return way{
		tool:    func(_ *rapid.T, tool *tenon.Tool) { tool.Policy = policy },
		handler: func(_ *rapid.T, p declared) tenon.Handler { return answer(jsonResponse(200, p.breaks)) },
		ends:    ends,
	}
}

// ways are the ways in which a call ends: with data, whole or in parts, with a
// request for consent, and with an error of every code.
func ways() map[string]way {
	full := memstore.New(memstore.Options{MaxBytes: 1})
	yes := says("accept", `{"confirm":true}`)
	all := map[string]way{
		"an answer that fits":            {ends: "data"},
		"a part":                         {tool: func(_ *rapid.T, tool *tenon.Tool) { tool.MaxResult = 100 }, ends: "data"},
		"more than may be sent":          {tool: func(_ *rapid.T, tool *tenon.Tool) { tool.MaxResult = 1 }, ends: "request_error"},
		"an empty answer":                {handler: responses(tenon.Response{Status: 204}), ends: "data"},
		"a text":                         {handler: responses(tenon.Response{Status: 200, MediaType: "text/csv", Body: []byte("a,b")}), ends: "data"},
		"a picture":                      {handler: responses(tenon.Response{Status: 200, MediaType: "image/png", Body: []byte("\x89PNG")}), ends: "data"},
		"a violation under warn":         breaksUnder(tenon.Warn, "data"),
		"a violation under enforce":      breaksUnder(tenon.Enforce, "contract_violation"),
		"a violation under repair":       breaksUnder(tenon.Repair, "contract_violation"),
		"bad arguments":                  {args: `{"id":"x","more":1}`, ends: "validation_error"},
		"a token that nobody gave":       {tool: func(_ *rapid.T, tool *tenon.Tool) { tool.MaxResult = 10 }, args: `{"resume_token":"x.2"}`, ends: "validation_error"},
		"fields that nobody can read":    {tool: func(_ *rapid.T, tool *tenon.Tool) { tool.Fields = true }, args: `{"id":1,"fields":7}`, ends: "validation_error"},
		"consent by argument":            {tool: consentBy(tenon.ConfirmArg), ends: "request"},
		"consent asserted at once":       {tool: consentBy(tenon.ConfirmArg), args: `{"id":1,"confirmed":true}`, ends: "request"},
		"consent of who cannot be asked": {tool: consentBy(tenon.ConfirmAuto), asker: mute(), ends: "request"},
		"consent of a person":            {tool: consentBy(tenon.ConfirmHuman), asker: yes, ends: "data"},
		"a person who declines":          {tool: consentBy(tenon.ConfirmAuto), asker: says("decline", ""), ends: "authorization_error"},
		"no person":                      {tool: consentBy(tenon.ConfirmHuman), asker: mute(), ends: "authorization_error"},
		"an argument instead of one":     {tool: consentBy(tenon.ConfirmHuman), asker: yes, args: `{"id":1,"confirmed":true}`, ends: "validation_error"},
		"a person who is silent":         {tool: consentBy(tenon.ConfirmAuto), gateway: gateway.Options{InputTimeout: 1}, asker: &sameAnswer{err: context.DeadlineExceeded}, ends: "timeout"},
		"a question that fails":          {tool: consentBy(tenon.ConfirmAuto), asker: &sameAnswer{err: errors.New("no form")}, ends: "internal_error"},
		"consent that cannot be kept":    {tool: consentBy(tenon.ConfirmArg), gateway: gateway.Options{Store: full}, ends: "internal_error"},
		"an error without a code":        {handler: fails(""), ends: "internal_error"},
		"a panic": {handler: func(*rapid.T, declared) tenon.Handler {
			return func(context.Context, *tenon.Call) (tenon.Response, error) { panic("inside") }
		}, ends: "internal_error"},
		"a call that takes too long": {
			gateway: gateway.Options{Timeout: time.Nanosecond},
			handler: func(*rapid.T, declared) tenon.Handler {
				return func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
					<-ctx.Done()
					return tenon.Response{}, ctx.Err()
				}
			},
			ends: "timeout",
		},
	}
	for _, code := range allCodes() {
		all["an error of "+string(code)] = way{handler: fails(code), ends: string(code)}
		if statusesOf(code) != nil {
			all["a status of "+string(code)] = way{handler: errorStatus(code), ends: string(code)}
		}
	}
	return all
}

func statusesOf(code tenon.Code) (all []int) {
	for status := 300; status < 600; status++ {
		if tenon.CodeOfStatus(status) == code {
			all = append(all, status)
		}
	}
	return all
}

// allCodes are the codes that are listed, and some that authors chose.
func allCodes() []tenon.Code {
	all := []tenon.Code{"out_of_stock", "\"},{\"\n\xff\u2028"}
	for _, c := range tenon.Codes() {
		all = append(all, c.Code)
	}
	return all
}

// TestEveryAnswerFitsItsEnvelope states: however a call ends, its structure fits
// the schema that the tool publishes, in every envelope; and only the envelope native
// has failures without a structure.
func TestEveryAnswerFitsItsEnvelope(t *testing.T) {
	all := ways()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { all[name].fits(t) })
		})
	}
}

func (w way) fits(t *rapid.T) {
	p := rapid.SampledFrom(contracts()).Draw(t, "contract")
	contract := bookContract()
	contract.Responses[0].Schema = []byte(p.schema)
	tool := tenon.Tool{
		Name: "get_book", Envelope: rapid.SampledFrom(allEnvelopes).Draw(t, "envelope"),
		Policy: rapid.SampledFrom([]tenon.Policy{tenon.Enforce, tenon.Repair, tenon.Warn}).Draw(t, "policy"),
	}
	if rapid.Bool().Draw(t, "nothing else is declared") {
		contract.Responses, tool.Policy = contract.Responses[:1], tenon.Warn
	}
	tool.Contract = contract
	if w.tool != nil {
		w.tool(t, &tool)
	}
	tool.Handler = answer(jsonResponse(200, p.fits))
	if w.handler != nil {
		tool.Handler = w.handler(t, p)
	}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	if w.args == "" {
		w.args = `{"id":1}`
	}
	res, err := gateway.New(c, w.gateway).Call(context.Background(), &tenon.Call{Tool: "get_book", Args: []byte(w.args), Requester: w.asker})
	if err != nil {
		t.Fatal(err)
	}
	if ended := endOf(res); ended != w.ends {
		t.Fatalf("ended with %s: %s", ended, res.Content[0].Text)
	}
	_, output := c.Find("get_book").Schemas()
	fitsEnvelope(t, tool.Envelope, output, res)
}

// endOf says in a word how a call ended.
func endOf(res *tenon.Result) string {
	switch {
	case res.Confirmation != nil:
		return "request"
	case res.IsError:
		return string(res.Code)
	}
	return "data"
}

func fitsEnvelope(t *rapid.T, s tenon.Envelope, output []byte, res *tenon.Result) {
	ended := endOf(res)
	bare := s == tenon.Native && ended != "data"
	if (res.Structured == nil) != bare {
		t.Fatalf("%s in the env %s has the structure %s", ended, s, res.Structured)
	}
	if bare {
		if !res.IsError {
			t.Fatal("a success has no structure")
		}
		return
	}
	published, err := schema.Compile(output, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diagnostics := published.Validate(res.Structured); len(diagnostics) > 0 {
		t.Fatalf("%s does not fit %s: %v", res.Structured, output, diagnostics)
	}
	var form struct{ Type string }
	want := map[string]string{"data": "api_response", "request": "confirmation_request"}[ended]
	if want == "" {
		want = "error"
	}
	if err := json.Unmarshal(res.Structured, &form); err != nil || (s == tenon.OpenAPIMCP || ended == "request") && form.Type != want {
		t.Fatalf("%v: type %s, want %s", err, form.Type, want)
	}
}
