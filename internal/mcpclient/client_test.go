package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/server"
)

// workshop has a tool that tells of its progress, one that asks, one that waits,
// one that fails and one whose answer has parts.
func workshop(t *testing.T, waits <-chan struct{}) *server.Server {
	t.Helper()
	form := []byte(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	features, err := gofunc.Functions{
		gofunc.Func("dig", "Digs.", func(ctx context.Context, _ struct{}) (string, error) {
			gofunc.CallFromContext(ctx).NotifyProgress(1, 3, "begun")
			gofunc.CallFromContext(ctx).NotifyProgress(2, 3, "")
			return "a hole", nil
		}),
		gofunc.Func("greet", "Greets.\nWhom, it asks.", func(ctx context.Context, _ struct{}) (string, error) {
			who, err := gofunc.CallFromContext(ctx).RequestInput(ctx, tenon.FormRequest("who", "Who is it?", form))
			if err != nil {
				return "", err
			}
			return who[0].Action + " " + string(who[0].Body), nil
		}),
		gofunc.Func("wait", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-waits:
				return "at last", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}),
		gofunc.Func("fail", "Fails.", func(context.Context, struct{}) (string, error) {
			return "", &tenon.Error{Code: tenon.CodeConflict, Message: "there is a hole already"}
		}),
		gofunc.Func("count", "Counts.", func(context.Context, struct{}) (list []int, err error) {
			for i := range 500 {
				list = append(list, i)
			}
			return list, nil
		}),
	}.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range features.Tools {
		features.Tools[i].MaxResult = 1000
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: features}}, gateway.BuildOptions{}), gateway.Options{})
	return server.New(g, server.Options{Name: "workshop", Version: "7", Secret: []byte("of the test")})
}

// ways are the ways to a server, in both revisions.
func ways() map[string]func(*testing.T, *server.Server) *mcpclient.Client {
	ways := map[string]func(*testing.T, *server.Server) *mcpclient.Client{}
	for _, revision := range []string{mcpclient.Legacy, mcpclient.Modern} {
		o := mcpclient.Options{Name: "test", Version: "1", Revision: revision, Elicitation: true}
		ways["HTTP, "+revision] = func(t *testing.T, s *server.Server) *mcpclient.Client {
			web := httptest.NewServer(s)
			t.Cleanup(web.Close)
			c := mcpclient.OverHTTP(web.URL, web.Client(), nil, o)
			t.Cleanup(c.Close)
			return c
		}
		ways["pipes, "+revision] = func(t *testing.T, s *server.Server) *mcpclient.Client {
			theirs, mine := io.Pipe()
			fromThem, toMe := io.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				err := s.ServeStdio(context.WithoutCancel(t.Context()), theirs, toMe)
				_ = toMe.CloseWithError(errors.Join(err, io.EOF))
			}()
			c := mcpclient.OverPipes(mine, fromThem, func() {
				_ = mine.Close()
				_ = fromThem.Close()
				<-done
			}, o)
			t.Cleanup(c.Close)
			return c
		}
	}
	return ways
}

// person answers the questions of a server.
type person struct {
	asked  []string
	answer tenon.InputResponse
	err    error
}

func (p *person) RequestInput(_ context.Context, questions ...tenon.InputRequest) (all []tenon.InputResponse, err error) {
	for _, q := range questions {
		p.asked = append(p.asked, string(q.Kind)+": "+q.Message())
		all = append(all, p.answer)
	}
	return all, p.err
}

func TestClient(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			c := connect(t, workshop(t, nil))
			who, err := c.Initialize(t.Context())
			if diff := cmp.Diff(mcpclient.Server{Name: "workshop", Version: "7", Revision: name[len(name)-10:]}, who); err != nil || diff != "" {
				t.Errorf("%v, the server (-want +got):\n%s", err, diff)
			}
			tools, err := c.Tools(t.Context())
			if err != nil || len(tools) != 6 || tools[1].Name != "greet" || tools[1].Description != "Greets.\nWhom, it asks." || tools[1].InputSchema == nil || tools[1].OutputSchema == nil {
				t.Errorf("%v, %d tools: %+v", err, len(tools), tools)
			}
			t.Run("progress", func(t *testing.T) { progress(t, c) })
			t.Run("elicitation", func(t *testing.T) { elicitation(t, c) })
			t.Run("failures", func(t *testing.T) { failures(t, c) })
			t.Run("parts", func(t *testing.T) { parts(t, c) })
		})
	}
}

func progress(t *testing.T, c *mcpclient.Client) {
	var told []string
	res, err := c.Call(t.Context(), &tenon.Call{Tool: "dig", ProgressFunc: func(done, total float64, note string) {
		told = append(told, fmt.Sprint(done, " of ", total, " ", note))
	}})
	if err != nil || string(res.Structured) != `{"result":"a hole"}` {
		t.Errorf("%v: %+v", err, res)
	}
	if diff := cmp.Diff([]string{"1 of 3 begun", "2 of 3 "}, told); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if res, err = c.Call(t.Context(), &tenon.Call{Tool: "dig"}); err != nil || res.IsError {
		t.Errorf("who wants no progress: %v, %+v", err, res)
	}
}

func elicitation(t *testing.T, c *mcpclient.Client) {
	p := &person{answer: tenon.InputResponse{Action: "accept", Body: []byte("{\n \"name\": \"Ada\" }")}}
	res, err := c.Call(t.Context(), &tenon.Call{Tool: "greet", Requester: p})
	if err != nil || string(res.Structured) != `{"result":"accept {\"name\":\"Ada\"}"}` {
		t.Errorf("%v: %s", err, res.Structured)
	}
	if diff := cmp.Diff([]string{"form: Who is it?"}, p.asked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	res, err = c.Call(t.Context(), &tenon.Call{Tool: "greet", Requester: &person{answer: tenon.InputResponse{Action: "decline"}}})
	if err != nil || string(res.Structured) != `{"result":"decline "}` {
		t.Errorf("%v: %s", err, res.Structured)
	}
	again := &tenon.InputRequiredError{}
	if _, err = c.Call(t.Context(), &tenon.Call{Tool: "greet", Requester: &person{err: again}}); err != error(again) { //nolint:errorlint // unwrapped, as transports want it
		t.Errorf("the error of who is asked became %v", err)
	}
	if res, err := c.Call(t.Context(), &tenon.Call{Tool: "greet"}); err == nil && !res.IsError {
		t.Errorf("nobody can be asked, and the answer is %s", res.Structured)
	}
}

func failures(t *testing.T, c *mcpclient.Client) {
	res, err := c.Call(t.Context(), &tenon.Call{Tool: "fail"})
	if err != nil || !res.IsError || !strings.Contains(res.Message, "there is a hole already") {
		t.Errorf("%v: %+v", err, res)
	}
	_, err = c.Call(t.Context(), &tenon.Call{Tool: "gräbt nicht"})
	if no, ok := errors.AsType[*mcpclient.ServerError](err); !ok || no.Code != -32602 {
		t.Errorf("a tool that is not there: %v", err)
	}
	if _, err := c.Call(t.Context(), &tenon.Call{Tool: "dig", Args: []byte(`{`)}); err == nil {
		t.Error("what is no JSON was sent")
	}
}

func parts(t *testing.T, c *mcpclient.Client) {
	ask := func(args []byte) (*tenon.Result, error) {
		return c.Call(t.Context(), &tenon.Call{Tool: "count", Args: args})
	}
	first, err := ask(nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []gateway.AnswerPart
	if err := mcpclient.Follow(first, ask, func(res *tenon.Result, here mcpclient.Part) error {
		all = append(all, gateway.AnswerPart{Value: res.Structured, Cuts: []string{"/result" + here.Cut}})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	whole, err := gateway.JoinParts(all...)
	if err != nil || len(all) < 3 || strings.Count(string(whole), ",") != 499 {
		t.Errorf("%v, %d parts: %.300s", err, len(all), whole)
	}
	missing := &mcpclient.IncompleteError{}
	err = mcpclient.Follow(first, func([]byte) (*tenon.Result, error) {
		return &tenon.Result{IsError: true, Message: "it is gone"}, nil
	}, func(*tenon.Result, mcpclient.Part) error { return nil })
	if !errors.As(err, &missing) || missing.After != 1 || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("a part that is missing: %v", err)
	}
}

// Calls overlap: one that waits holds up no other, and one that is given up
// leaves the conversation as it was.
func TestCallsOverlap(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			waits := make(chan struct{})
			c := connect(t, workshop(t, waits))
			if _, err := c.Initialize(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			given := make(chan error)
			go func() {
				_, err := c.Call(ctx, &tenon.Call{Tool: "wait"})
				given <- err
			}()
			slow := make(chan *tenon.Result)
			go func() {
				res, err := c.Call(t.Context(), &tenon.Call{Tool: "wait"})
				if err != nil {
					t.Error(err)
				}
				slow <- res
			}()
			if res, err := c.Call(t.Context(), &tenon.Call{Tool: "dig"}); err != nil || res.IsError {
				t.Errorf("%v, %+v", err, res)
			}
			cancel()
			if err := <-given; !errors.Is(err, context.Canceled) {
				t.Errorf("the call that was given up: %v", err)
			}
			close(waits)
			if res := <-slow; res == nil || string(res.Structured) != `{"result":"at last"}` {
				t.Errorf("the call that waited: %+v", res)
			}
		})
	}
}

// What a server over HTTP does wrong is told in words that name it.
func TestOddServers(t *testing.T) {
	const listed = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}`
	for name, of := range map[string]struct {
		status int
		kind   string
		body   string
		want   string // of the error of Tools
	}{
		"a page of text":         {500, "text/plain", "out of order\n", "the server answers HTTP 500: out of order"},
		"JSON of another kind":   {401, "application/json", `{"message":"who are you?"}`, `the server answers HTTP 401: {"message":"who are you?"}`},
		"a refusal without id":   {403, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not you"}}`, "tools/list: JSON-RPC error -32000: not you"},
		"nothing":                {200, "application/json", "", "tools/list: the server sent no answer"},
		"a stream of nothing":    {200, "text/event-stream", ": nothing\n\n", "tools/list: the server sent no answer"},
		"half a message":         {200, "text/event-stream", "data: {\"id\"\n\n", "tools/list: the server sent what is no JSON-RPC: unexpected end of JSON input"},
		"the answer for another": {200, "application/json", `{"jsonrpc":"2.0","id":77,"result":{}}`, "tools/list: the server sent no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", of.kind)
				w.WriteHeader(of.status)
				_, _ = io.WriteString(w, of.body)
			}))
			defer web.Close()
			c := mcpclient.OverHTTP(web.URL+"/mcp", web.Client(), nil, mcpclient.Options{Name: "test", Version: "1"})
			if _, err := c.Tools(t.Context()); err == nil || err.Error() != of.want {
				t.Errorf("the error is %v", err)
			}
		})
	}
	answers := func(result func(n int) string) *mcpclient.Client {
		n := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, n, result(n))
		}))
		t.Cleanup(web.Close)
		return mcpclient.OverHTTP(web.URL+"/mcp", web.Client(), nil, mcpclient.Options{Name: "test", Version: "1"})
	}
	t.Run("a list of 100 MB", func(t *testing.T) {
		page := strings.Repeat("d", 20<<20)
		c := answers(func(n int) string {
			return fmt.Sprintf(`{"tools":[{"name":"a","description":%q}],"nextCursor":"%d"}`, page, n)
		})
		if _, err := c.Tools(t.Context()); err == nil || err.Error() != "the list of tools has more than 64 MB" {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("a tool that is a number", func(t *testing.T) {
		c := answers(func(int) string { return `{"tools":[{"name":"a"},7]}` })
		if _, err := c.Tools(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "tools/list: tool 2 is not of the protocol's form: ") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("a list without end", func(t *testing.T) {
		n := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Replace(listed, `"id":1`, fmt.Sprintf(`"id":%d`, n), 1))
		}))
		defer web.Close()
		c := mcpclient.OverHTTP(web.URL+"/mcp", web.Client(), nil, mcpclient.Options{Name: "test", Version: "1"})
		if _, err := c.Tools(t.Context()); err == nil || err.Error() != `the list of tools does not end: the cursor "x" came twice` {
			t.Errorf("the error is %v", err)
		}
	})
}

// byHand is a server on pipes whose part the test plays. In a bubble, so that a
// message which does not come fails the test at once.
type byHand struct {
	*mcpclient.Client

	t   *testing.T
	in  io.Reader
	out io.WriteCloser
}

func playServer(t *testing.T) *byHand {
	theirs, mine := io.Pipe()
	fromThem, toMe := io.Pipe()
	c := mcpclient.OverPipes(mine, fromThem, func() {
		_ = mine.Close()
		_ = fromThem.Close()
	}, mcpclient.Options{Name: "test", Version: "1"})
	t.Cleanup(c.Close)
	return &byHand{Client: c, t: t, in: theirs, out: toMe}
}

func (s *byHand) say(text string) {
	if _, err := io.WriteString(s.out, text+"\n"); err != nil {
		s.t.Error(err)
	}
}

// hear is the next message of the client.
func (s *byHand) hear() string {
	text := make([]byte, 1000)
	n, err := s.in.Read(text)
	if err != nil {
		s.t.Error(err)
	}
	return string(text[:n])
}

// A server on pipes may print what is no message, is alive between requests and
// asks about it, and ends.
func TestPipesOfOthers(t *testing.T) { synctest.Test(t, pipesOfOthers) }

func pipesOfOthers(t *testing.T) {
	s := playServer(t)
	s.say("welcome!")
	s.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	if got := s.hear(); got != `{"jsonrpc":"2.0","id":"p","result":{}}`+"\n" {
		t.Errorf("the answer to a ping is %s", got)
	}
	s.say(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	if got := s.hear(); !strings.Contains(got, `"id":2,"error":{"code":-32601`) {
		t.Errorf("the answer to a question is %s", got)
	}
	listed := make(chan error)
	list := func() {
		_, err := s.Tools(t.Context())
		listed <- err
	}
	go list()
	s.hear()
	s.say(`{broken`)
	if err := <-listed; err == nil || !strings.Contains(err.Error(), "no JSON-RPC") {
		t.Errorf("half a message: %v", err)
	}
	go list()
	s.hear()
	s.say(`{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
	if err := <-listed; err != nil {
		t.Errorf("after half a message: %v", err)
	}
	go list()
	s.hear()
	_ = s.out.Close()
	if err := <-listed; err == nil || err.Error() != "tools/list: the server has ended the conversation" {
		t.Errorf("after the end: %v", err)
	}
	_, err := s.Tools(t.Context())
	if err == nil || err.Error() != "tools/list: the server has ended the conversation" {
		t.Errorf("a request after the end: %v", err)
	}
}

// With several calls on pipes nobody knows whose person a question is for.
func TestNobodyIsAskedForAnother(t *testing.T) { synctest.Test(t, nobodyIsAskedForAnother) }

func nobodyIsAskedForAnother(t *testing.T) {
	s := playServer(t)
	const question = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"May it?"}}`
	people := []*person{{answer: tenon.InputResponse{Action: "accept"}}, {answer: tenon.InputResponse{Action: "accept"}}}
	answered := make(chan *tenon.Result)
	call := func(p *person) {
		res, err := s.Call(t.Context(), &tenon.Call{Tool: "ask", Requester: p})
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}
	go call(people[0])
	s.hear()
	go call(people[1])
	s.hear()
	s.say(question)
	if got := s.hear(); !strings.Contains(got, `"error":{"code":-32601`) {
		t.Errorf("one of two was asked: %s", got)
	}
	s.say(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"one"}]}}`)
	if res := <-answered; res == nil || string(res.Content[0].Text) != "one" {
		t.Errorf("the first call: %+v", res)
	}
	s.say(question)
	if got := s.hear(); !strings.Contains(got, `"id":"q","result":{"action":"accept"}`) {
		t.Errorf("the answer of the only one is %s", got)
	}
	s.say(`{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	if res := <-answered; res == nil || len(people[0].asked)+len(people[1].asked) != 1 {
		t.Errorf("asked: %v, %v", people[0].asked, people[1].asked)
	}
}

// Every block of a result is there, with what it holds.
func TestBlocks(t *testing.T) { synctest.Test(t, blocks) }

func blocks(t *testing.T) {
	s := playServer(t)
	results := make(chan *tenon.Result)
	go func() {
		res, err := s.Call(t.Context(), &tenon.Call{Tool: "show"})
		if err != nil {
			t.Error(err)
		}
		results <- res
	}()
	s.hear()
	s.say(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"_meta":{"a":1},"content":[{"type":"image","mimeType":"image/png","data":"AAEC"},` +
		`{"type":"audio","mimeType":"audio/wav","data":"AA==","annotations":{"priority":1}},{"type":"text","text":"it is broken"},` +
		`{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"c"}},{"type":"resource","resource":{"uri":"a:c","blob":"AQ=="}},` +
		`{"type":"resource_link","uri":"d:e","name":"f","size":7},{"type":"hologram","x":1}]}}`)
	want := &tenon.Result{IsError: true, Message: "it is broken", Meta: []byte(`{"a":1}`), Content: []tenon.Content{
		tenon.Image("image/png", []byte{0, 1, 2}),
		{Type: tenon.AudioContent, MediaType: "audio/wav", Data: []byte{0}, Annotations: []byte(`{"priority":1}`)},
		tenon.Text("it is broken"),
		tenon.Embedded("a:b", "text/plain", "c"),
		{Type: tenon.EmbeddedResource, URI: "a:c", Data: []byte{1}},
		{Type: tenon.ResourceLink, URI: "d:e", Name: "f", Size: 7},
		tenon.Text(`{"type":"hologram","x":1}`),
	}}
	if diff := cmp.Diff(want, <-results); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
}
