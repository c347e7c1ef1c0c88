package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

const bookSchema = `{"type":"object","properties":{"title":{"type":"string"},"stock":{"type":"integer"}},"required":["title"]}`

// bookContract declares one JSON success, an empty one, an image and a problem.
func bookContract() tenon.Contract {
	return tenon.Contract{
		Input: []byte(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`),
		Responses: []tenon.ResponseSchema{
			{Status: "200", MediaType: "application/json", Schema: []byte(bookSchema)},
			{Status: "200", MediaType: "image/png"},
			{Status: "200", MediaType: "text/csv"},
			{Status: "204"},
			{Status: "4XX", MediaType: "application/problem+json", Schema: []byte(`{"type":"object","required":["title"]}`)},
		},
	}
}

// objectContract declares nothing but objects, so that native wraps nothing.
func objectContract() tenon.Contract {
	c := bookContract()
	c.Responses = []tenon.ResponseSchema{c.Responses[0], c.Responses[4]}
	return c
}

// one builds a gateway with one tool "get_book" that answers with resp.
func one(tool tenon.Tool, handler tenon.Handler) *gateway.Gateway {
	tool.Name = "get_book"
	tool.Handler = handler
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	return gateway.New(c, gateway.Options{})
}

func answer(r tenon.Response) tenon.Handler {
	return func(context.Context, *tenon.Call) (tenon.Response, error) { return r, nil }
}

func jsonResponse(status int, body string) tenon.Response {
	return tenon.Response{Status: status, MediaType: "application/json", Body: []byte(body)}
}

func call(t *testing.T, g *gateway.Gateway, args string) *tenon.Result {
	t.Helper()
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "get_book", Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// verdictOf reads _meta["tenon/contract"].
func verdictOf(t *testing.T, res *tenon.Result) (c struct {
	Verdict, Executed, Retry, MediaType string
	Status                              int
	Violations                          []struct{ Path, Keyword, Expected, Got string }
},
) {
	t.Helper()
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(res.Meta, &meta); err != nil {
		t.Fatalf("_meta is no JSON object: %v\n%s", err, res.Meta)
	}
	if err := json.Unmarshal(meta["tenon/contract"], &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswersByPolicyAndEnvelope(t *testing.T) {
	fits := jsonResponse(200, `{"title":"Emma","stock":9007199254740993}`)
	breaks := jsonResponse(200, `{"stock":"12"}`)
	tests := map[string]struct {
		policy     tenon.Policy
		env        tenon.Envelope
		resp       tenon.Response
		isError    bool
		verdict    string
		structured string // exact; empty: none
		text       string // contained in the text copy
	}{
		"a fit passes byte for byte": {
			tenon.Enforce, tenon.Native, fits, false, "fits", `{"title":"Emma","stock":9007199254740993}`, `"stock": 9007199254740993`,
		},
		"a violation under enforce is an error that names the fields": {
			tenon.Enforce, tenon.Native, breaks, true, "violated", "", "title: required field missing; stock: expected integer, got \"12\"",
		},
		"a violation under warn is delivered": {
			tenon.Warn, tenon.Native, breaks, false, "violated", `{"stock":"12"}`, `"stock": "12"`,
		},
		"a violation under off is passed through": {
			tenon.Off, tenon.Native, breaks, false, "", `{"stock":"12"}`, `"stock": "12"`,
		},
		"openapi-mcp wraps the data": {
			tenon.Enforce, tenon.OpenAPIMCP, fits, false, "fits",
			`{"OutputFormat":"structured","OutputType":"json","type":"api_response","data":{"title":"Emma","stock":9007199254740993},"metadata":{"status_code":200,"headers":{}}}`,
			`"type":"api_response"`,
		},
		"openapi-mcp under enforce answers with its error form": {
			tenon.Enforce, tenon.OpenAPIMCP, jsonResponse(200, `{}`), true, "violated",
			`{"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":"contract_violation",` +
				`"message":"The response of get_book violates its schema: title: required field missing",` +
				`"details":{"field":"title","reason":"required field missing","violations":[{"path":"","keyword":"required","expected":"member \"title\"","got":"nothing"}]},` +
				`"suggestions":["Tell the operator: the API does not match its description"]}}`,
			"contract_violation",
		},
		"an undeclared status is its own violation": {
			tenon.Enforce, tenon.Native, jsonResponse(201, `{"title":"Emma"}`), true, "undeclared", "", "expected 200, got 201",
		},
		"an undeclared media type is its own violation": {
			tenon.Warn, tenon.OpenAPIMCP,
			tenon.Response{Status: 200, MediaType: "text/html; charset=utf-8", Body: []byte("<p>")},
			false, "undeclared",
			`{"OutputFormat":"unstructured","OutputType":"text","type":"api_response","data":"<p>","metadata":{"status_code":200,"headers":{}}}`, "<p>",
		},
		"an empty answer is null": {
			tenon.Enforce, tenon.OpenAPIMCP,
			tenon.Response{Status: 204},
			false, "fits",
			`{"OutputFormat":"structured","OutputType":"json","type":"api_response","data":null,"metadata":{"status_code":204,"headers":{}}}`, "null",
		},
		"an image is described, its bytes are a block": {
			tenon.Enforce, tenon.OpenAPIMCP,
			tenon.Response{Status: 200, MediaType: "image/png", Body: []byte("png")},
			false, "fits",
			`{"OutputFormat":"structured","OutputType":"image","type":"api_response","data":{"mimeType":"image/png","bytes":3,` +
				`"sha256":"8f5f96a7ddb9cb66fc2e02c08f0b0dfd8d3a5f3e6c33e8f8ffd4c7cd4a7c8c45","block":1},"metadata":{"status_code":200,"headers":{}}}`, "image/png",
		},
		"what is not strict JSON is delivered as text under warn": {
			tenon.Warn, tenon.OpenAPIMCP, jsonResponse(200, `{"title":"a","title":"b"}`), false, "violated",
			`{"OutputFormat":"unstructured","OutputType":"text","type":"api_response","data":"{\"title\":\"a\",\"title\":\"b\"}","metadata":{"status_code":200,"headers":{}}}`, "title",
		},
		"line breaks between tokens are taken out": {
			tenon.Enforce, tenon.Native, jsonResponse(200, "{\n  \"title\": \"Emma\"\r\n}\n"), false, "fits", `{"title":"Emma"}`, "Emma",
		},
		"an error status is an error whatever the policy": {
			tenon.Warn, tenon.OpenAPIMCP,
			tenon.Response{Status: 404, MediaType: "application/problem+json", Body: []byte(`{"title":"No such book","detail":"there is no book 7"}`)},
			true, "fits",
			`{"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":"not_found","message":"HTTP 404 Not Found: there is no book 7",` +
				`"details":{"status":404,"mediaType":"application/problem+json","body":{"title":"No such book","detail":"there is no book 7"}},` +
				`"suggestions":["Check the identifier, for example with a tool that lists or searches"]}}`, "there is no book 7",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			contract := bookContract()
			if tt.env == tenon.Native {
				contract = objectContract()
			}
			g := one(tenon.Tool{Policy: tt.policy, Envelope: tt.env, Contract: contract}, answer(tt.resp))
			res := call(t, g, `{"id":7}`)
			if res.IsError != tt.isError {
				t.Errorf("isError = %v, want %v", res.IsError, tt.isError)
			}
			want := tt.structured
			if i := strings.Index(want, `"sha256":"`); i >= 0 { // the digest is checked in its own test
				end := i + len(`"sha256":"`) + 64
				want = want[:i] + string(res.Structured[i:end]) + want[end:]
			}
			if diff := cmp.Diff(want, string(res.Structured)); diff != "" {
				t.Errorf("structuredContent (-want +got):\n%s", diff)
			}
			if len(res.Content) == 0 || !strings.Contains(string(res.Content[0].Text), tt.text) {
				t.Errorf("text %+v does not contain %q", res.Content, tt.text)
			}
			if tt.policy != tenon.Off {
				if c := verdictOf(t, res); c.Verdict != tt.verdict {
					t.Errorf("verdict %q, want %q (%v)", c.Verdict, tt.verdict, c.Violations)
				}
			}
		})
	}
}

func TestBadArgumentsReachNoHandler(t *testing.T) {
	g := one(tenon.Tool{Envelope: tenon.OpenAPIMCP, Contract: bookContract()}, func(context.Context, *tenon.Call) (tenon.Response, error) {
		t.Error("the handler was called")
		return tenon.Response{}, nil
	})
	for _, args := range []string{`{}`, ``, `{"id":"seven"}`, `{"id":7,"extra":1}`, `{"id":7,"id":8}`, `[1]`, `nope`} {
		res := call(t, g, args)
		if !res.IsError || !strings.Contains(string(res.Structured), `"code":"validation_error"`) {
			t.Errorf("%s was accepted: %s", args, res.Structured)
		}
		if c := verdictOf(t, res); c.Executed != "no" || c.Retry != "safe" {
			t.Errorf("%s: executed %s, retry %s", args, c.Executed, c.Retry)
		}
	}
}

// TestCoercedArguments are validated, sent and reported as they were read.
func TestCoercedArguments(t *testing.T) {
	for args, want := range map[string]struct {
		got  string // what the handler gets; empty: nothing
		meta string // contained in _meta; empty: no word of it
	}{
		`{"id":7}`:                      {`{"id":7}`, ""},
		`{"id":"7"}`:                    {`{"id":7}`, `"tenon/arguments":{"coerced":[{"path":"/id","kind":"parse-json","old":"\"7\"","new":"7"}]}`},
		`"{\"id\":\"7\"}"`:              {`{"id":7}`, `{"path":"/id","kind":"parse-json"`},
		`{"id":"7","extra":1}`:          {"", `{"path":"/id","kind":"parse-json"`},
		`{"id":"seven"}`:                {"", ""},
		`{"id":"7","id":"8"}`:           {"", ""},
		`{"id":"[7]"}`:                  {"", ""},
		`{"id":"\u0037"}`:               {`{"id":7}`, `"coerced"`},
		`{"id":"99999999999999999999"}`: {`{"id":99999999999999999999}`, `"coerced"`},
	} {
		var got string
		g := one(tenon.Tool{Contract: bookContract()}, func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			got = string(c.Args)
			return jsonResponse(200, `{"title":"Emma"}`), nil
		})
		meta := string(call(t, g, args).Meta)
		if got != want.got {
			t.Errorf("%s: the handler got %s, want %s", args, got, want.got)
		}
		if !strings.Contains(meta, want.meta) || want.meta == "" && strings.Contains(meta, "coerced") {
			t.Errorf("%s: _meta is %s, want %s", args, meta, want.meta)
		}
	}
}

func TestExecutedAndRetry(t *testing.T) {
	tests := map[string]struct {
		sent            tenon.Execution
		executed, retry string
		sentence        string
	}{
		"nothing unsafe left":            {tenon.Execution{}, "yes", "safe", "server_error"},
		"an unsafe request was answered": {tenon.Execution{Unsafe: tenon.Responded}, "yes", "unsafe", "This call was executed and must not be repeated"},
		"an unsafe request got lost":     {tenon.Execution{Unsafe: tenon.NoResponse}, "unknown", "unsafe", "It is not known whether this call was executed"},
		"a repeatable one was answered":  {tenon.Execution{Unsafe: tenon.Responded, Idempotent: true}, "yes", "safe", "server_error"},
		"a repeatable one got lost":      {tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: true}, "unknown", "safe", "server_error"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resp := jsonResponse(500, `{"title":"broken"}`)
			resp.Execution = tt.sent
			res := call(t, one(tenon.Tool{Envelope: tenon.OpenAPIMCP, Contract: bookContract()}, answer(resp)), `{"id":1}`)
			c := verdictOf(t, res)
			if c.Executed != tt.executed || c.Retry != tt.retry {
				t.Errorf("executed %s, retry %s; want %s, %s", c.Executed, c.Retry, tt.executed, tt.retry)
			}
			if !strings.Contains(string(res.Structured), tt.sentence) {
				t.Errorf("the text does not say %q: %s", tt.sentence, res.Structured)
			}
		})
	}
}

// A call that is ended from outside has a result where it may have left
// something behind: whoever still listens is told.
func TestACallThatIsEndedTellsWhatItLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		sent tenon.Execution
		want string // in the text; empty: there is only the context's error
	}{
		"nothing unsafe left":            {tenon.Execution{}, ""},
		"an unsafe request was answered": {tenon.Execution{Unsafe: tenon.Responded}, "This call was executed and must not be repeated as it is. "},
		"an unsafe request got lost":     {tenon.Execution{Unsafe: tenon.NoResponse}, "It is not known whether this call was executed: "},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			g := one(tenon.Tool{}, func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
				cancel()
				<-ctx.Done()
				return tenon.Response{Execution: tt.sent}, ctx.Err()
			})
			res, err := g.Call(ctx, &tenon.Call{Tool: "get_book", Args: []byte(`{}`)})
			if tt.want == "" {
				if res != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("%v, %v", res, err)
				}
				return
			}
			if err != nil || !res.IsError || !strings.Contains(string(res.Content[0].Text), tt.want) {
				t.Errorf("%v, %+v", err, res)
			}
		})
	}
}

func TestPanicIsAToolErrorWithAnIncident(t *testing.T) {
	var logged bytes.Buffer
	tool := tenon.Tool{Name: "get_book", Handler: func(context.Context, *tenon.Call) (tenon.Response, error) { panic("secret inside") }}
	c := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
	g := gateway.New(c, gateway.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	res := call(t, g, `{}`)
	text := string(res.Content[0].Text)
	if !res.IsError || strings.Contains(text, "secret") {
		t.Errorf("got %q", text)
	}
	_, incident, _ := strings.Cut(text, "incident ")
	incident, _, _ = strings.Cut(incident, " ")
	if incident == "" || !strings.Contains(logged.String(), incident) {
		t.Errorf("incident %q is not in the log:\n%s", incident, logged.String())
	}
	if c := verdictOf(t, res); c.Executed != "unknown" || c.Retry != "unsafe" {
		t.Errorf("executed %s, retry %s", c.Executed, c.Retry)
	}
}

func TestSlowHandlerEndsInATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := one(tenon.Tool{Envelope: tenon.OpenAPIMCP}, func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			<-ctx.Done()
			return tenon.Response{}, ctx.Err()
		})
		began := time.Now()
		res := call(t, g, `{}`)
		want := `"error":{"code":"timeout","message":"the call took longer than 1m0s and was ended"`
		if !strings.Contains(string(res.Structured), want) || time.Since(began) != time.Minute {
			t.Errorf("after %v: %s", time.Since(began), res.Structured)
		}
	})
}

func TestAnotherDeadlineHasItsOwnWords(t *testing.T) {
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	<-ended.Done()
	for name, tt := range map[string]struct {
		err           error
		code, message string
	}{
		"of a context":           {ended.Err(), "timeout", "context deadline exceeded"},
		"with words before it":   {fmt.Errorf("the warehouse is closed: %w", ended.Err()), "timeout", "the warehouse is closed: context deadline exceeded"},
		"joined with others":     {errors.Join(errors.New("no route"), ended.Err()), "timeout", "no route\ncontext deadline exceeded"},
		"of the network":         {&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, "timeout", "read tcp: i/o timeout"},
		"with a code of its own": {&tenon.Error{Code: tenon.CodeConflict, Message: "it is locked", Err: ended.Err()}, "conflict", "it is locked"},
		"a context that ended":   {fmt.Errorf("gave up: %w", context.Canceled), "internal_error", "gave up: context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, handler := range []tenon.Handler{
				func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, tt.err },
				func(context.Context, *tenon.Call) (tenon.Response, error) {
					return tenon.Response{Status: 200, MediaType: "application/x-ndjson", Items: func(yield func([]byte, error) bool) { yield(nil, tt.err) }}, nil
				},
			} {
				res := call(t, one(tenon.Tool{Envelope: tenon.OpenAPIMCP}, handler), `{}`)
				message, _ := json.Marshal(tt.message)
				if got := string(res.Structured); !strings.Contains(got, `"code":"`+tt.code+`"`) || !strings.Contains(got, strings.Trim(string(message), `"`)) {
					t.Errorf("want %s, %s, got %s", tt.code, tt.message, got)
				}
			}
		})
	}
}

func TestCallerWhoIsGoneGetsNoResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := one(tenon.Tool{}, func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
		cancel()
		<-ctx.Done()
		return tenon.Response{}, ctx.Err()
	})
	if res, err := g.Call(ctx, &tenon.Call{Tool: "get_book"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", res, err)
	}
}

func TestUnknownToolIsAnError(t *testing.T) {
	g := one(tenon.Tool{}, answer(tenon.Response{}))
	if _, err := g.Call(t.Context(), &tenon.Call{Tool: "nope"}); tenon.CodeOf(err) != tenon.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestNativeText(t *testing.T) {
	anything := tenon.Contract{Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(`{}`)}}}
	tests := map[string]struct {
		body       string
		text       []string
		structured string
	}{
		"an object is indented":          {`{"a":1}`, []string{"{\n  \"a\": 1\n}"}, `{"result":{"a":1}}`},
		"a string is as it is":           {`"hé\n\"x\""`, []string{"hé\n\"x\""}, `{"result":"hé\n\"x\""}`},
		"a number is JSON":               {`12345678901234567890`, []string{"12345678901234567890"}, `{"result":12345678901234567890}`},
		"a list is a block an item":      {`["a",{"b":2},3]`, []string{"a", "{\n  \"b\": 2\n}", "3"}, `{"result":["a",{"b":2},3]}`},
		"an empty list has no block":     {`[]`, []string{}, `{"result":[]}`},
		"null has no block":              {`null`, []string{}, `{"result":null}`},
		"a large object stays as it is":  {`{"a":"` + strings.Repeat("x", 9000) + `"}`, []string{`{"a":"` + strings.Repeat("x", 9000) + `"}`}, `{"result":{"a":"` + strings.Repeat("x", 9000) + `"}}`},
		"a long list is one block":       {"[" + strings.Repeat("1,", 1000) + "1]", []string{"[" + strings.Repeat("1,", 1000) + "1]"}, `{"result":[` + strings.Repeat("1,", 1000) + "1]}"},
		"angle brackets are not escaped": {`"<&>"`, []string{"<&>"}, `{"result":"<&>"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			res := call(t, one(tenon.Tool{Contract: anything}, answer(tenon.Response{MediaType: "application/json", Body: []byte(tt.body)})), `{}`)
			got := []string{}
			for _, b := range res.Content {
				got = append(got, string(b.Text))
			}
			if diff := cmp.Diff(tt.text, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.structured, string(res.Structured)); diff != "" {
				t.Errorf("structuredContent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCredentialHeadersStayHere(t *testing.T) {
	resp := jsonResponse(200, `{"title":"Emma"}`)
	resp.Header = http.Header{"Set-Cookie": {"sid=1"}, "Www-Authenticate": {"Basic"}, "Link": {"<a>", "<b>"}, "Connection": {"close"}, "Etag": {`"1"`}}
	for env, member := range map[tenon.Envelope]func(*tenon.Result) []byte{
		tenon.OpenAPIMCP: func(r *tenon.Result) []byte { return r.Structured },
		tenon.Native:     func(r *tenon.Result) []byte { return r.Meta },
	} {
		got := string(member(call(t, one(tenon.Tool{Envelope: env, Contract: bookContract()}, answer(resp)), `{"id":1}`)))
		if !strings.Contains(got, `{"status_code":200,"headers":{"Etag":"\"1\"","Link":"<a>, <b>"}}`) {
			t.Errorf("%s: %s", env, got)
		}
	}
}

// TestAListAndACallAtOnce is for the race detector: what a list renders is not
// read by a call that does not wait for it.
func TestAListAndACallAtOnce(t *testing.T) {
	for _, envelope := range allEnvelopes {
		for range 20 {
			g := one(tenon.Tool{Envelope: envelope, Contract: bookContract()}, answer(jsonResponse(200, `{"title":"Emma"}`)))
			listed := make(chan bool)
			go func() {
				g.Catalog().Tools()[0].Definition()
				close(listed)
			}()
			if res := call(t, g, `{"id":1}`); res.IsError {
				t.Fatalf("%s", res.Message)
			}
			<-listed
		}
	}
}
