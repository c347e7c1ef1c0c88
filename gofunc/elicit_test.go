package gofunc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

type (
	size struct {
		Liters float64 `json:"liters" doc:"How much." check:"min=1,max=60"`
		Note   *string `json:"note" doc:"For the driver."`
	}
	grade struct {
		Grade string   `json:"grade" check:"enum=diesel|petrol,default=petrol"`
		Extra []string `json:"extra,omitempty" check:"each.enum=wash|air"`
	}
	order   struct{ Questions int }
	receipt struct {
		Liters float64  `json:"liters"`
		Grade  string   `json:"grade"`
		Extra  []string `json:"extra"`
	}
)

// counted is a function that asks as often as its argument says. It counts
// how often it began and how often it did its work.
type counted struct{ began, worked int }

func (n *counted) fill(ctx context.Context, o order) (receipt, error) {
	n.began++
	r := receipt{Liters: 1, Grade: "petrol"}
	if o.Questions > 0 {
		s, err := gofunc.Elicit[size](ctx, "size", "How much?")
		if err != nil {
			return receipt{}, err
		}
		r.Liters = s.Liters
	}
	if o.Questions > 1 {
		g, err := gofunc.Elicit[grade](ctx, "grade", "Of what?")
		if err != nil {
			return receipt{}, err
		}
		r.Grade, r.Extra = g.Grade, g.Extra
	}
	gofunc.CallFromContext(ctx).NotifyProgress(1, 1, "filled")
	n.worked++
	return r, nil
}

// person answers the questions of a server behind pipes, as a client of one
// revision.
type person struct {
	t        *testing.T
	revision string
	answers  map[string]string // by the message; several, a line each, for a question that is put again
	asked    []string          // params of the questions
	out      *bufio.Scanner
	in       io.Writer
	id       int
}

func (p *person) modern() bool { return p.revision == "2026-07-28" }

func (p *person) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

// message is what can come from a server.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Error  *struct{ Message string }
	Result struct {
		ResultType        string
		InputRequests     map[string]struct{ Params json.RawMessage }
		RequestState      string
		StructuredContent json.RawMessage
		IsError           bool
		Content           []struct{ Text string }
	}
}

func (p *person) next() (m message) {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatal("the server has ended")
	}
	if err := json.Unmarshal(p.out.Bytes(), &m); err != nil {
		p.t.Fatalf("%v: %s", err, p.out.Bytes())
	}
	return m
}

// answer notes a question and finds what to say to it.
func (p *person) answer(params json.RawMessage) string {
	p.asked = append(p.asked, string(params))
	var q struct{ Message string }
	if err := json.Unmarshal(params, &q); err != nil {
		p.t.Fatal(err)
	}
	answer, rest, more := strings.Cut(p.answers[q.Message], "\n")
	if more {
		p.answers[q.Message] = rest
	}
	return answer
}

// call makes a call and answers all questions until there is a result.
func (p *person) call(args string) message {
	p.t.Helper()
	more := ""
	for {
		p.id++
		meta := ""
		if p.modern() {
			meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"p","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
		}
		p.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fill","arguments":%s%s%s}}`, p.id, args, more, meta)
		m := p.next()
		for m.Method != "" {
			if m.Method == "elicitation/create" {
				p.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, p.answer(m.Params))
			}
			m = p.next()
		}
		if m.Result.ResultType != "input_required" {
			return m
		}
		var all []string
		for key, q := range m.Result.InputRequests {
			all = append(all, fmt.Sprintf("%q:%s", key, p.answer(q.Params)))
		}
		more = fmt.Sprintf(`,"inputResponses":{%s},"requestState":%q`, strings.Join(all, ","), m.Result.RequestState)
	}
}

// meet starts a server with the function and shakes hands.
func meet(t *testing.T, revision string, f gofunc.Function, answers map[string]string) *person {
	t.Helper()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	ended := make(chan error, 1)
	s := server.New(gatewayOf(t, f), server.Options{})
	go func() {
		ended <- s.ServeStdio(context.Background(), toServer, fromServer)
		_ = fromServer.Close() // a pipe of this process closes
	}()
	t.Cleanup(func() {
		_ = in.Close() // as above
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	p := &person{t: t, revision: revision, answers: answers, out: bufio.NewScanner(out), in: in}
	if !p.modern() {
		can := `{"elicitation":{}}`
		if revision == "2025-03-26" { // which has no questions
			can = `{}`
		}
		p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"p","version":"1"}}}`, revision, can)
		p.next()
		p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return p
}

const (
	sizeForm  = `{"mode":"form","message":"How much?","requestedSchema":{"properties":{"liters":{"description":"How much.","maximum":60,"minimum":1,"title":"Liters","type":"number"},"note":{"description":"For the driver.","title":"Note","type":"string"}},"required":["liters"],"type":"object"}}`
	gradeForm = `{"mode":"form","message":"Of what?","requestedSchema":{"properties":{"grade":{"default":"petrol","enum":["diesel","petrol"],"title":"Grade","type":"string"},"extra":{"items":{"enum":["wash","air"],"type":"string"},"title":"Extra","type":"array"}},"type":"object"}}`
)

// TestAFunctionAsks: the work is done once however many questions stand before
// it, in every revision that can ask. Under 2026-07-28 the function begins
// anew after each question, before that it waits.
func TestAFunctionAsks(t *testing.T) {
	yes := map[string]string{
		"How much?": `{"action":"accept","content":{"liters":12.5}}`,
		"Of what?":  `{"action":"accept","content":{"extra":["air"]}}`,
	}
	asked := []string{sizeForm, gradeForm}
	results := []string{
		`{"liters":1,"grade":"petrol","extra":[]}`,
		`{"liters":12.5,"grade":"petrol","extra":[]}`,
		`{"liters":12.5,"grade":"petrol","extra":["air"]}`,
	}
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for questions := range 3 {
			t.Run(fmt.Sprintf("%s, %d questions", revision, questions), func(t *testing.T) {
				var n counted
				p := meet(t, revision, gofunc.Func("fill", "", n.fill), yes)
				m := p.call(fmt.Sprintf(`{"Questions":%d}`, questions))
				if diff := cmp.Diff(results[questions], string(m.Result.StructuredContent)); diff != "" {
					t.Errorf("result (-want +got):\n%s%v", diff, m)
				}
				if diff := cmp.Diff(asked[:questions], p.asked); questions > 0 && diff != "" {
					t.Errorf("questions (-want +got):\n%s", diff)
				}
				want := counted{began: 1, worked: 1}
				if p.modern() {
					want.began += questions
				}
				if n != want {
					t.Errorf("began and worked %v times, want %v", n, want)
				}
			})
		}
	}
}

// TestWhoCannotBeAsked: the first revision has no questions, so a function
// that needs one does nothing.
func TestWhoCannotBeAsked(t *testing.T) {
	var n counted
	p := meet(t, "2025-03-26", gofunc.Func("fill", "", n.fill), nil)
	if m := p.call(`{"Questions":1}`); m.Error == nil || n.worked != 0 {
		t.Errorf("worked %d times: %+v", n.worked, m)
	}
	if m := p.call(`{"Questions":0}`); m.Error != nil || n.worked != 1 {
		t.Errorf("worked %d times: %+v", n.worked, m)
	}
}

func TestAnswersThatAreNoYes(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"no":                  {`{"action":"decline"}`, "Error executing tool fill: the question size was answered with no: nothing was done"},
		"the form was closed": {`{"action":"cancel"}`, "Error executing tool fill: the question size was closed without an answer: nothing was done"},
	} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+", "+revision, func(t *testing.T) {
				var n counted
				p := meet(t, revision, gofunc.Func("fill", "", n.fill), map[string]string{"How much?": tt.answer})
				m := p.call(`{"Questions":1}`)
				if !m.Result.IsError || len(m.Result.Content) != 1 || !strings.Contains(m.Result.Content[0].Text, tt.want) || n.worked != 0 {
					t.Errorf("worked %d times: %+v", n.worked, m)
				}
			})
		}
	}
}

// TestAFormThatDoesNotFitIsPutAgain: the function never sees such an answer.
func TestAFormThatDoesNotFitIsPutAgain(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		var n counted
		p := meet(t, revision, gofunc.Func("fill", "", n.fill), map[string]string{
			"How much?": `{"action":"accept","content":{"liters":61}}` + "\n" + `{"action":"accept","content":{"liters":60}}`,
		})
		m := p.call(`{"Questions":1}`)
		if len(p.asked) != 2 || n.worked != 1 || !strings.HasPrefix(string(m.Result.StructuredContent), `{"liters":60,`) {
			t.Errorf("%s: asked %d times, worked %d: %+v", revision, len(p.asked), n.worked, m)
		}
	}
}

func TestFormsAreFlat(t *testing.T) {
	for name, tt := range map[string]struct {
		ask  func(context.Context) error
		want string
	}{
		"an object inside": {func(ctx context.Context) error {
			_, err := gofunc.Elicit[struct{ Where loc }](ctx, "k", "m")
			return err
		}, "not a field of a form"},
		"a list of anything": {func(ctx context.Context) error {
			_, err := gofunc.Elicit[struct{ Names []string }](ctx, "k", "m")
			return err
		}, "its items need an enum"},
		"no struct": {func(ctx context.Context) error {
			_, err := gofunc.Elicit[int](ctx, "k", "m")
			return err
		}, "a form is a struct"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.ask(t.Context())
			if tenon.CodeOf(err) != tenon.CodeInternal || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	_, err := gofunc.Elicit[size](t.Context(), "k", "m")
	if cannot := new(tenon.UnsupportedInputError); !errors.As(err, &cannot) {
		t.Errorf("outside a call: %v", err)
	}
}

// TestConfirmIsAskedBeforeTheFunctionBegins: a no costs nothing, a yes is
// followed by one run.
func TestConfirmIsAskedBeforeTheFunctionBegins(t *testing.T) {
	ask := gofunc.Confirm(func(o order) tenon.InputRequest {
		return gofunc.ConfirmRequest(fmt.Sprintf("Ask %d times?", o.Questions))
	})
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for answer, want := range map[string]counted{
			`{"action":"accept","content":{}}`: {began: 1, worked: 1},
			`{"action":"decline"}`:             {},
			`{"action":"cancel"}`:              {},
		} {
			var n counted
			f := gofunc.Func("fill", "", n.fill).With(gofunc.Options{Confirm: ask})
			p := meet(t, revision, f, map[string]string{"Ask 0 times?": answer})
			m := p.call(`{"Questions":0}`)
			if n != want || len(p.asked) != 1 || m.Result.IsError != (want.worked == 0) {
				t.Errorf("%s, %s: asked %q, %+v, %+v", revision, answer, p.asked, n, m)
			}
		}
	}
}

func TestConfirmationIsAboutTheArguments(t *testing.T) {
	f := gofunc.Func("fill", "", new(counted).fill)
	ask := gofunc.Confirm(func(o order) tenon.InputRequest {
		return gofunc.ConfirmRequest(fmt.Sprintf("Ask %d times?", o.Questions))
	})
	tool, err := f.With(gofunc.Options{Confirm: ask}).Tool()
	if err != nil {
		t.Fatal(err)
	}
	q, err := tool.Confirm([]byte(`{"Questions":2.0}`))
	if err != nil || q.Message() != "Ask 2 times?" || q.Kind != tenon.ElicitForm || q.Key == "" {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := tool.Confirm([]byte(`{"Questions":1e40}`)); tenon.CodeOf(err) != tenon.CodeValidation {
		t.Errorf("arguments that Go cannot hold: %v", err)
	}
	if tool, err = f.Tool(); err != nil || tool.Confirm != nil {
		t.Errorf("nothing was asked for: %v", err)
	}
	_, err = gofunc.Func("f", "", func(context.Context, loc) (int, error) { return 0, nil }).With(gofunc.Options{Confirm: ask}).Tool()
	if want := "function f: Confirm takes a gofunc_test.order, the function a gofunc_test.loc"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
