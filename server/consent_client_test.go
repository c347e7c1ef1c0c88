package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/server"
)

// bookstore is an upstream that removes books and remembers which, in their
// order. It listens in memory, so that a bubble of synctest holds it.
type bookstore struct {
	mu      sync.Mutex
	removed []string
	conns   chan net.Conn
	closed  chan struct{}
	client  *http.Client
}

func openBookstore() (b *bookstore, closeDown func()) {
	b = &bookstore{conns: make(chan net.Conn), closed: make(chan struct{})}
	web := &http.Server{Handler: b}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = web.Serve(b) // until it is closed
	}()
	b.client = &http.Client{Transport: &http.Transport{DialContext: b.dial}}
	return b, func() {
		b.client.CloseIdleConnections()
		_ = web.Close()
		<-ended
	}
}

func (b *bookstore) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case b.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *bookstore) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.closed:
		return nil, io.EOF
	}
}

func (b *bookstore) Close() error   { close(b.closed); return nil }
func (b *bookstore) Addr() net.Addr { return &net.TCPAddr{} }

func (b *bookstore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removed = append(b.removed, r.Method+" "+r.URL.Path)
	w.WriteHeader(http.StatusNoContent)
}

func (b *bookstore) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.removed)
}

func (b *bookstore) count() int { return len(b.all()) }

// clientKind is a kind of client: how it speaks, and what it says it can do.
type clientKind struct {
	name         string
	revision     string // empty: the JSON-RPC endpoint, which has none
	capabilities string
	endpoint     string // "POST", "session" or "stdio"
}

// party is a client that calls the tool and, where it is asked, answers.
type party struct {
	clientKind
	t         *testing.T
	server    *server.Server
	env       tenon.Envelope
	published *schema.Schema // of its results
	headers   []string       // beside those of its revision
	session   string         // header
	pipe      *pipe          // stdio
	ears      []*ear
	heard     []came // in the order in which it was
	calls     []*pending
	ids       int // of the last request
}

// pending is a call of a party, and what became of it.
type pending struct {
	id        int // of its latest request
	arguments string
	question  string // before 2026-07-28: the id of the question that came
	state     string // since: what is to be sent with the answer
	said      string // the last answer
}

// meet connects such a client; headers are sent with each of its requests.
func (k clientKind) meet(t *testing.T, s *server.Server, headers ...string) *party {
	p := &party{clientKind: k, t: t, server: s, headers: headers}
	hello := legacyBody("initialize", `"protocolVersion":"`+k.revision+`","capabilities":`+k.capabilities)
	switch k.endpoint {
	case "stdio":
		p.pipe = converse(t.Context(), s)
		if !p.modern() {
			p.ids++
			p.send(hello)
		}
	case "session":
		p.ids++
		p.session = "Mcp-Session-Id: " + answer(s, post(hello, headers...)).Header().Get("Mcp-Session-Id")
	}
	return p
}

func (p *party) modern() bool { return p.revision == "2026-07-28" }

// leave ends what the party has open.
func (p *party) leave() {
	if p.pipe != nil {
		p.pipe.close(p.t)
	}
}

// send sends a message about remove_book.
func (p *party) send(body string) { p.sendTo("tools/call", "remove_book", body) }

// sendTo sends a message and waits until nothing moves.
func (p *party) sendTo(method, name, body string) {
	if p.pipe != nil {
		p.pipe.send(body)
		synctest.Wait()
		return
	}
	headers := slices.Clone(p.headers)
	if p.revision != "" {
		headers = append(headers, "MCP-Protocol-Version: "+p.revision)
	}
	switch {
	case p.modern():
		headers = append(headers, "Mcp-Method: "+method, "Mcp-Name: "+name)
	case p.session != "":
		headers = append(headers, p.session)
	}
	r := post(body, headers...)
	w := &ear{header: http.Header{}}
	p.ears = append(p.ears, w)
	var endpoint http.Handler = p.server
	if p.revision == "" {
		endpoint = p.server.JSONRPC()
	}
	go endpoint.ServeHTTP(w, r)
	synctest.Wait()
}

// ear takes a response while it is written.
type ear struct {
	output
	header http.Header
}

func (e *ear) Header() http.Header { return e.header }
func (e *ear) WriteHeader(int)     {}
func (e *ear) Flush()              {}

// came is what a client reads of a message.
type came struct {
	ID     any
	Method string
	Result *result
	Error  *struct{ Code int }
	line   string // all of it
}

// result is what it reads of the result of a call.
type result struct {
	ResultType        string
	RequestState      string
	InputRequests     map[string]json.RawMessage
	IsError           bool
	Type              string // the JSON-RPC endpoint's
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
	Meta              struct {
		Contract struct{ Executed, Retry string } `json:"tenon/contract"`
	} `json:"_meta"`
}

// messages are all that came so far.
func (p *party) messages() []came {
	text := ""
	if p.pipe != nil {
		text = p.pipe.out.take()
	}
	for _, e := range p.ears {
		text += e.take() + "\n"
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		if !strings.HasPrefix(line, "{") {
			continue
		}
		m := came{line: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		p.heard = append(p.heard, m)
	}
	return p.heard
}

// begin makes a call.
func (p *party) begin(arguments, more string) {
	c := &pending{arguments: arguments}
	p.calls = append(p.calls, c)
	p.request(c, arguments, more)
}

// request sends tools/call; more stands beside its arguments.
func (p *party) request(c *pending, arguments, more string) {
	p.ids++
	c.id = p.ids
	params := `"name":"remove_book","arguments":` + arguments + more
	if p.modern() {
		p.send(withMeta(strconv.Itoa(c.id), "tools/call", params, p.capabilities, ""))
	} else {
		p.heed(c, func() { p.send(asked(strconv.Itoa(c.id), "tools/call", params)) })
	}
	if m := p.answerTo(c); m != nil && m.Result != nil && m.Result.RequestState != "" {
		c.state = m.Result.RequestState
	}
}

// heed remembers the question that comes for a call.
func (p *party) heed(c *pending, while func()) {
	before := len(p.questions())
	while()
	if ids := p.questions(); len(ids) > before {
		c.question = ids[before]
	}
}

// questions are the ids of the questions that came.
func (p *party) questions() (ids []string) {
	for _, m := range p.messages() {
		if id, ok := m.ID.(string); ok && m.Method == "elicitation/create" {
			ids = append(ids, id)
		}
	}
	return ids
}

// answerTo finds the answer to a call's latest request; nil: there is none.
func (p *party) answerTo(c *pending) *came {
	all := p.messages()
	i := slices.IndexFunc(all, func(m came) bool { return m.Method == "" && m.ID == float64(c.id) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// respond answers the question of a call, where there was one. The arguments
// come with the answer since 2026-07-28.
func (p *party) respond(c *pending, arguments string) {
	switch {
	case c.state != "":
		p.request(c, arguments, `,"inputResponses":{"tenon/confirmation":`+c.said+`},"requestState":"`+c.state+`"`)
	case c.question != "":
		p.heed(c, func() { p.send(`{"jsonrpc":"2.0","id":"` + c.question + `","result":` + c.said + `}`) })
	}
}

// ended says in a word how a call ended.
func (p *party) ended(c *pending) string {
	m := p.answerTo(c)
	switch {
	case m == nil && c.question != "":
		return "asked"
	case m == nil:
		return "silent"
	case m.Error != nil:
		return "rpc " + strconv.Itoa(m.Error.Code)
	case m.Result.ResultType == "input_required":
		if m.Result.InputRequests["tenon/confirmation"] == nil {
			p.t.Errorf("the answer asks for something else: %v", m.Result.InputRequests)
		}
		return "asked"
	}
	text := ""
	if len(m.Result.Content) > 0 {
		text = m.Result.Content[0].Text
	}
	switch {
	case strings.Contains(text, `"type":"confirmation_request"`):
		p.check(m.Result, "confirmation_request", "no", p.env != tenon.OpenAPIMCP)
		return "request"
	case m.Result.IsError:
		p.check(m.Result, "error", "no", true)
		return refusal(text)
	}
	p.check(m.Result, "api_response", "yes", false)
	return "done"
}

// check holds the form of a result against what it has to say.
func (p *party) check(r *result, kind, executed string, isError bool) {
	p.t.Helper()
	if r.Meta.Contract.Executed != executed || r.Meta.Contract.Retry != "safe" || r.IsError != isError {
		p.t.Errorf("a result of %s says of itself %+v, isError %v", kind, r.Meta.Contract, r.IsError)
	}
	if p.revision == "" && r.Type != kind {
		p.t.Errorf("the JSON-RPC endpoint'says %q, want %q", r.Type, kind)
	}
	if r.StructuredContent == nil {
		return
	}
	if problems := p.published.Validate(r.StructuredContent); len(problems) > 0 {
		p.t.Errorf("%s does not fit what was published: %v", r.StructuredContent, problems)
	}
}

// refusal is a word for what the text of a failure says.
func refusal(text string) string {
	for said, word := range map[string]string{
		"The user did not confirm this call. Nothing was sent.":                        "declined",
		"cannot ask the user. Nothing was sent.":                                       "nobody",
		"did not answer within 10m0s. Nothing was sent.":                               "timeout",
		"Only the user can confirm this call. Nothing was sent.":                       "person",
		"This confirmation was already used. Nothing was sent.":                        "used",
		"Nothing was sent. the answer to the question does not fit: confirm: required": "misfit",
		"Invalid arguments: ": "invalid",
	} {
		if strings.Contains(text, said) {
			return word
		}
	}
	return text
}

// removing is a catalog of one tool, which removes a book.
func removing(t *testing.T, o openapi.Options) *gateway.Catalog {
	document := `{"openapi":"3.1.0","info":{"title":"books","version":"1"},"paths":{"/books/{book}":{"delete":{"operationId":"remove_book",` +
		`"parameters":[{"name":"book","in":"path","required":true,"schema":{"type":"integer"}}],"responses":{"204":{"description":"gone"}}}}}}`
	offer, err := openapi.Parse("books", []byte(document), o)
	if err != nil || len(offer.Diagnostics) > 0 {
		t.Fatal(err, offer.Diagnostics)
	}
	return gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{})
}

// A call that is confirmed by argument keeps its consent while its handler
// asks something of its own: under 2026-07-28 that takes another request. When
// the handler has done its work the consent is used.
func TestAConfirmedCallWhoseHandlerAsks(t *testing.T) {
	done := 0
	asks := tenon.Tool{
		Name: "wipe", Confirmation: tenon.ConfirmRule{Mode: tenon.ConfirmArg, Action: tenon.DeleteResource},
		Handler: func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
			for _, key := range []string{"which", "sure"} {
				a, err := c.RequestInput(ctx, tenon.FormRequest(key, key+"?", []byte(`{"type":"object","properties":{}}`)))
				if err != nil {
					return tenon.Response{}, err
				}
				if a[0].Action != "accept" {
					t.Errorf("%s: %+v", key, a)
				}
			}
			done++
			return tenon.Response{MediaType: "application/json", Body: []byte(`{"done":true}`), Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
		},
	}
	s := serve(server.Options{}, asks)
	call := func(arguments, more string) (r struct {
		ResultType   string
		RequestState string
		InputReqs    map[string]json.RawMessage `json:"inputRequests"`
		IsError      bool
		Content      json.RawMessage
	},
	) {
		t.Helper()
		body := exchange(s, "tools/call", "wipe", `"name":"wipe","arguments":`+arguments+more, forms)
		var m struct{ Result json.RawMessage }
		if err := json.Unmarshal([]byte(body), &m); err != nil || json.Unmarshal(m.Result, &r) != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return r
	}
	if r := call(`{}`, ""); !r.IsError || !strings.Contains(string(r.Content), "confirmation_request") {
		t.Fatalf("nobody was asked to confirm: %s", r.Content)
	}
	r := call(`{"__confirmed":true}`, "")
	for range 2 {
		if r.RequestState == "" || done != 0 {
			t.Fatalf("the handler asked nothing: %+v", r)
		}
		answers := map[string]json.RawMessage{}
		for key := range r.InputReqs {
			answers[key] = json.RawMessage(`{"action":"accept","content":{}}`)
		}
		said, err := json.Marshal(answers)
		if err != nil {
			t.Fatal(err)
		}
		r = call(`{"__confirmed":true}`, `,"inputResponses":`+string(said)+`,"requestState":"`+r.RequestState+`"`)
	}
	if r.IsError || done != 1 {
		t.Fatalf("the call was not made: %+v", r)
	}
	if r = call(`{"__confirmed":true}`, ""); !r.IsError || done != 1 {
		t.Errorf("the consent was used twice: %+v", r)
	}
}
