package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/server"
)

// matrixRun is a cell at work.
type matrixRun struct {
	cell
	t         *testing.T
	source    *source
	server    *server.Server
	published *schema.Schema
	ann       *party
	parties   []*party
	heard     strings.Builder // all answers
	contract  string          // of the first part
}

// join connects a caller.
func (m *matrixRun) join(name string) *party {
	var headers []string
	if m.client.endpoint != "stdio" {
		headers = []string{"Authorization: Bearer " + secret + "-" + name}
	}
	p := m.client.meet(m.t, m.server, headers...)
	m.parties = append(m.parties, p)
	return p
}

func (m *matrixRun) leave() {
	for _, p := range m.parties {
		p.leave()
	}
}

// heardResult is what a client reads of a result.
type heardResult struct {
	raw  []byte
	code int // of an error of JSON-RPC

	ResultType, TaskID, Status string
	Result                     json.RawMessage // of a task
	IsError                    bool
	Content                    []struct{ Type, Text, Data string }
	StructuredContent          json.RawMessage
	Data                       json.RawMessage // the JSON-RPC endpoint's
	Partial                    *bool           // as above
	Meta                       struct {
		Contract heardContract `json:"tenon/contract"`
		Partial  struct {
			Part, Parts int
			Pointer     string
			Pointers    []string
			Continued   []string
			Token       string `json:"resume_token"`
		} `json:"tenon/partial"`
		Arguments struct{ Coerced []struct{ Path string } } `json:"tenon/arguments"`
	} `json:"_meta"`
}

// heardContract is what a result says of the call.
type heardContract struct {
	Verdict, Executed, Retry string
	all                      string
}

func (h *heardContract) UnmarshalJSON(text []byte) error {
	type plain heardContract
	h.all = string(text)
	return json.Unmarshal(text, (*plain)(h))
}

func (m *matrixRun) read(raw []byte) *heardResult {
	r := &heardResult{raw: raw}
	if err := json.Unmarshal(raw, r); err != nil {
		m.t.Fatalf("%v: %s", err, raw)
	}
	return r
}

// request sends a request and waits for its answer.
func (m *matrixRun) request(p *party, method, name, params string) *heardResult {
	m.t.Helper()
	p.ids++
	about := &pending{id: p.ids}
	if p.modern() {
		p.sendTo(method, name, withMeta(strconv.Itoa(p.ids), method, params, p.capabilities, ""))
	} else {
		p.sendTo(method, name, asked(strconv.Itoa(p.ids), method, params))
	}
	if p.answerTo(about) == nil { // a stream may wait for more, a call for its task
		time.Sleep(11 * time.Second)
		synctest.Wait()
	}
	got := p.answerTo(about)
	if got == nil {
		m.t.Fatalf("%s %s: no answer", method, params)
	}
	m.heard.WriteString(got.line)
	if got.Error != nil {
		return &heardResult{code: got.Error.Code, raw: []byte(got.line)}
	}
	var whole struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(got.line), &whole); err != nil {
		m.t.Fatal(err)
	}
	return m.read(whole.Result)
}

// call calls list, or the tool that stands before it.
func (m *matrixRun) call(p *party, arguments string) *heardResult {
	m.t.Helper()
	if m.way == forwarded {
		return m.request(p, "tools/call", "call_tool", `"name":"call_tool","arguments":{"tool":"list","arguments":`+arguments+`}`)
	}
	return m.request(p, "tools/call", "list", `"name":"list","arguments":`+arguments)
}

func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// arguments are those of the call.
func (m *matrixRun) arguments() string {
	page := "7"
	if m.coerced {
		page = `"7"`
	}
	if m.kind.declares {
		return `{"page":` + page + `,"resume_token":"the tool's own"}`
	}
	return `{"page":` + page + `}`
}

// resume asks for a part: of the tool itself, with the arguments of the first
// call, or of the tool that hands out all parts.
func (m *matrixRun) resume(p *party, token string, direct bool) *heardResult {
	m.t.Helper()
	if !direct {
		return m.request(p, "tools/call", "next_part", `"name":"next_part","arguments":{"resume_token":"`+token+`"}`)
	}
	name := "resume_token"
	if m.kind.declares {
		name = "tenon_resume_token"
	}
	return m.call(p, strings.TrimSuffix(m.arguments(), "}")+`,"`+name+`":"`+token+`"}`)
}

// run makes the call of a cell and takes all parts of its answer.
func (m *matrixRun) run() {
	m.source.arrive(1)
	arguments := m.arguments()
	if m.way == forwarded && m.coerced { // there are arguments in arguments
		arguments = string(quoted(arguments))
	}
	r := m.call(m.ann, arguments)
	if m.way == asTask {
		r = m.awaited(r)
	}
	m.checkCall(r)
	var parts []gateway.AnswerPart
	for number := 1; ; number++ {
		partial := &r.Meta.Partial
		part := gateway.AnswerPart{Value: m.value(r), Cuts: partial.Pointers, Continued: partial.Continued}
		if part.Cuts == nil {
			part.Cuts = []string{partial.Pointer}
		}
		parts = append(parts, part)
		m.checkPart(r, number)
		token := partial.Token
		if token == "" {
			break
		}
		if len(parts) > items {
			m.t.Fatal("there is no end of parts")
		}
		if m.other {
			m.refused(m.join("bob"), token)
		}
		m.source.arrive(number + 1)
		again := m.ann
		if m.client.endpoint != "stdio" {
			again = m.join("ann") // who comes back on another connection is still the same
		}
		r = m.resume(m.ann, token, number%2 > 0)
		if repeated := m.resume(again, token, number%2 == 0); !bytes.Equal(r.raw, repeated.raw) {
			m.t.Errorf("part %d is\n%s\nand then\n%s", number+1, r.raw, repeated.raw)
		}
	}
	whole := parts[0].Value
	if len(parts) > 1 {
		var err error
		if whole, err = gateway.JoinParts(parts...); err != nil {
			m.t.Fatal(err)
		}
	}
	if want := m.body(m.kind.became, 0, items); string(whole) != want {
		m.t.Errorf("the parts make\n%s\nwant\n%s", whole, want)
	}
	if (len(parts) > 2) != (m.way != atOnce) {
		m.t.Errorf("there are %d parts", len(parts))
	}
	if m.source.calls != 1 {
		m.t.Errorf("the source was called %d times", m.source.calls)
	}
	if m.way == atOnce && m.other {
		m.checkCall(m.call(m.join("bob"), m.arguments()))
		if h := m.source.header; len(h) != 2 || h[0] == h[1] {
			m.t.Errorf("another caller's call came with %d credentials", len(h))
		}
	}
}

// awaited waits for a task, and returns the result of its call.
func (m *matrixRun) awaited(begun *heardResult) *heardResult {
	m.t.Helper()
	if begun.ResultType != "task" {
		m.t.Fatalf("no task: %s", begun.raw)
	}
	id := begun.TaskID
	for range 2 {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if !m.other {
				break
			}
			if r := m.request(m.join("bob"), method, id, `"taskId":"`+id+`","inputResponses":{}`); r.code != -32602 || bytes.Contains(r.raw, []byte(mark)) {
				m.t.Errorf("%s of another caller: %s", method, r.raw)
			}
		}
		time.Sleep(11 * time.Second) // then it has ended
		synctest.Wait()
	}
	get := func() *heardResult { return m.request(m.ann, "tasks/get", id, `"taskId":"`+id+`"`) }
	r := get()
	if r.Status != "completed" || !bytes.Equal(r.raw, get().raw) {
		m.t.Fatalf("the task: %s", r.raw)
	}
	return m.read(r.Result)
}

// refused makes sure that a token gives somebody else nothing.
func (m *matrixRun) refused(p *party, token string) {
	m.t.Helper()
	for _, direct := range []bool{true, false} {
		r := m.resume(p, token, direct)
		if !r.IsError || bytes.Contains(r.raw, []byte(mark)) || r.Meta.Contract.Executed != "no" || r.Meta.Contract.Retry != "safe" {
			m.t.Errorf("another caller got %s", r.raw)
		}
	}
}

// checkCall checks what only the first result of a call says.
func (m *matrixRun) checkCall(r *heardResult) {
	m.t.Helper()
	want := `{"page":7}`
	if m.kind.declares {
		want = `{"page":7,"resume_token":"the tool's own"}`
	}
	if args := m.source.args; len(args) == 0 || args[len(args)-1] != want {
		m.t.Errorf("the source was called with %q, want %s", args, want)
	}
	if h := m.source.header; m.client.endpoint != "stdio" && !strings.Contains(h[len(h)-1], secret) {
		m.t.Error("the source was called without the credential of the caller")
	}
	var paths, told []string
	if m.coerced {
		if m.way == forwarded {
			told = append(told, "/arguments", "/arguments/page")
		} else {
			told = append(told, "/page")
		}
	}
	for _, h := range r.Meta.Arguments.Coerced {
		paths = append(paths, h.Path)
	}
	if strings.Join(paths, " ") != strings.Join(told, " ") {
		m.t.Errorf("coerced: %q, want %q", paths, told)
	}
	image := base64.StdEncoding.EncodeToString([]byte(picture))
	if has := len(r.Content) > 1 && r.Content[0].Text == ownText && r.Content[1].Data == image; has != m.blocks {
		m.t.Errorf("the content of the source is not there as it should be: %s", r.raw)
	}
}

// checkPart checks what every part says.
func (m *matrixRun) checkPart(r *heardResult, number int) {
	m.t.Helper()
	contract := r.Meta.Contract
	if r.IsError || contract.Verdict != m.kind.verdict || contract.Executed != m.kind.executed || contract.Retry != m.kind.retry {
		m.t.Fatalf("part %d: %s", number, r.raw)
	}
	if number == 1 {
		m.contract = contract.all
	}
	if contract.all != m.contract && m.way != streamed { // a stream is judged as it arrives
		m.t.Errorf("part %d says %s, the first one %s", number, contract.all, m.contract)
	}
	m.checkWords(r)
	if partial := &r.Meta.Partial; m.way != atOnce && (partial.Part != number || (partial.Token == "") != (partial.Part == partial.Parts) && m.way != streamed) {
		m.t.Errorf("part %d says it is %+v", number, *partial)
	}
	if m.kind.verdict != "violated" {
		if broken := m.published.Validate(r.StructuredContent); len(broken) > 0 {
			m.t.Errorf("part %d breaks what was published: %v", number, broken)
		}
	}
	if m.way != atOnce && m.way != streamed && !m.blocks && 2*len(m.value(r)) > partLimit {
		m.t.Errorf("part %d has %d bytes, and as many of text", number, len(m.value(r)))
	}
	if !bytes.Contains(r.raw, []byte(`"X-Request-Id":"told"`)) {
		m.t.Errorf("part %d does not tell the headers that may be told: %s", number, r.raw)
	}
	if (!m.blocks || number > 1) && (len(r.Content) == 0 || !strings.Contains(r.Content[0].Text, mark)) {
		m.t.Errorf("part %d has no text of its value: %s", number, r.raw)
	}
}

// checkWords checks what a part says of the next one beside _meta: in the
// output structure, or in words for the model.
func (m *matrixRun) checkWords(r *heardResult) {
	m.t.Helper()
	token := r.Meta.Partial.Token
	want := `"partial":false`
	if token != "" {
		want = `"partial":true,"resume_token":"` + token + `"`
	}
	if m.env == tenon.OpenAPIMCP && bytes.Contains(r.StructuredContent, []byte(want)) != (m.way != atOnce) {
		m.t.Errorf("the output structure has to say %s where there are parts: %s", want, r.StructuredContent)
	}
	if m.client.revision == "" && (r.Partial == nil) != (m.way == atOnce) || r.Partial != nil && *r.Partial != (token != "") {
		m.t.Errorf("the JSON-RPC endpoint does not say whether this is a part: %s", r.raw)
	}
	if m.env == tenon.OpenAPIMCP || m.way == atOnce {
		return
	}
	said := r.Content[len(r.Content)-1].Text
	if token != "" && !strings.Contains(said, `call next_part with {"resume_token":"`+token+`"}`) || token == "" && !strings.HasSuffix(said, "It is the last one.") {
		m.t.Errorf("the words of a part are %q", said)
	}
}

// value is that of a part, wherever the envelope has it.
func (m *matrixRun) value(r *heardResult) []byte {
	m.t.Helper()
	var in struct{ Result, Data json.RawMessage }
	if err := json.Unmarshal(r.StructuredContent, &in); err != nil {
		m.t.Fatalf("%v: %s", err, r.raw)
	}
	value := r.StructuredContent
	switch {
	case m.env != tenon.Native:
		value = in.Data
	case m.way == streamed:
		value = in.Result
	}
	if m.client.revision == "" && !bytes.Equal(r.Data, value) {
		m.t.Errorf("the JSON-RPC endpoint'says %s beside %s", r.Data, value)
	}
	return value
}
