package flowmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// execution is one call of a tool that has handlers: preRequest, then
// executeRequest or the request, then postRequest.
type execution struct {
	route   *route
	options *Options
	runner  *runner
	secrets *secrets
	payload []byte // the arguments, defaults put in
	draft   draft
	stage   string
	budget  *egress.Budget // of the answers that its handlers ask for
	queries sync.Mutex     // one at a time: what a query reads is not known before

	mu      sync.Mutex
	sent    tenon.Execution
	fetches int
	failed  error // the first failure of a fetch
	refused error // the first request that the rules kept from leaving
}

// draft is the request as handlers see it: their struct.
type draft struct {
	URL     string          `json:"url"`
	Method  string          `json:"method"`
	Headers json.RawMessage `json:"headers"` // an object in the order and the spelling of the file
	Body    json.RawMessage `json:"body"`
}

// outcome is what a stage that ends a call hands back.
type outcome struct {
	Status   bool
	Messages []string
	Data     json.RawMessage
}

// handle makes a call of a tool that has handlers.
func (t *route) handle(ctx context.Context, c *tenon.Call, o *Options, r *runner) (tenon.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	x := &execution{route: t, options: o, runner: r, secrets: newSecrets(t.file, o), budget: egress.NewBudget(max(maxFetched, o.MaxAnswer))}
	reply, err := x.run(ctx, c.Args)
	reply.Execution = x.sent
	if x.secrets.open {
		t.hideLong(&reply, o.Env) // what the code itself says under a short name is its own
	}
	if err == nil && x.secrets.in(reply.Body) {
		return tenon.Response{Execution: x.sent}, errMarker("the result")
	}
	if err != nil && x.secrets.in([]byte(err.Error())) {
		return tenon.Response{Execution: x.sent}, errMarker("an error")
	}
	return reply, err
}

func (x *execution) run(ctx context.Context, args []byte) (tenon.Response, error) {
	if err := x.prepare(args); err != nil {
		return tenon.Response{}, err
	}
	stages, err := x.stages(ctx)
	if err != nil {
		return tenon.Response{}, err
	}
	if slices.Contains(stages, "preRequest") {
		if err := x.preRequest(ctx); err != nil {
			return tenon.Response{}, err
		}
	}
	var reply tenon.Response
	if slices.Contains(stages, "executeRequest") {
		reply, err = x.executeRequest(ctx)
	} else {
		reply, err = x.request(ctx, slices.Contains(stages, "postRequest"))
	}
	if err != nil || reply.Status < 200 || reply.Status > 299 || !slices.Contains(stages, "postRequest") {
		return reply, err
	}
	return x.postRequest(ctx, reply)
}

// stages are those that the tool has.
func (x *execution) stages(ctx context.Context) ([]string, error) {
	if known := x.route.file.handlers.stages[x.route.name]; known != nil {
		return known, nil
	}
	var stages []string
	err := x.call(ctx, "stages", x.tool(1), nil, &stages)
	return stages, err
}

// prepare makes the payload and the request that the file describes.
func (x *execution) prepare(args []byte) error {
	if len(args) == 0 {
		args = []byte("{}")
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return invalid("the arguments are no JSON")
	}
	x.payload = x.route.payload(doc)
	return x.describe(doc)
}

// describe builds the draft from arguments.
func (x *execution) describe(doc *rawjson.Doc) error {
	t := x.route
	v := values{doc: doc, env: x.secrets.marker, lax: true}
	address, err := t.address(strings.TrimSuffix(x.options.BaseURL, "/"), &v)
	if err != nil {
		return err
	}
	fields, err := t.header(&v)
	if err != nil {
		return err
	}
	if x.secrets.open {
		if err := t.mayHandOut(address, x.options); err != nil {
			return err
		}
	}
	x.draft = draft{URL: address, Method: t.method, Headers: appendFields(nil, fields), Body: t.body(&v)}
	if v.missing != "" {
		return &tenon.Error{Code: tenon.CodeRequest, Message: "the operator has not set " + v.missing}
	}
	return nil
}

func appendFields(dst []byte, fields []field) []byte {
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, f.name), ':')
		dst = rawjson.AppendString(dst, f.value)
	}
	return append(dst, '}')
}

// payload is the arguments object with the defaults that are sent.
func (t *route) payload(doc *rawjson.Doc) []byte {
	dst := []byte{'{'}
	given := map[string]bool{}
	add := func(key string, value []byte) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		given[key] = true
		dst = append(rawjson.AppendString(dst, key), ':')
		dst = append(dst, value...)
	}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		add(doc.Key(n), doc.Raw(n))
	}
	for _, p := range t.parameters {
		for _, name := range p.arguments() {
			if !given[name] && p.z.omitted != nil {
				add(name, p.z.omitted)
			}
		}
	}
	return append(dst, '}')
}

// call runs one function of the file's program and reads its result. args is
// what material began; body is what the upstream answered, nil: nothing yet.
func (x *execution) call(ctx context.Context, stage string, args, body []byte, result any) error {
	x.stage = stage
	args = append(args, '}')
	out, err := x.runner.run(ctx, x.route.file, sandbox.Call{Function: stage, Args: args, Body: body, Budget: x.options.HandlerTime, Ask: x.ask})
	if x.refused != nil { // whatever the code made of it is no answer
		return x.refused
	}
	if err != nil {
		return x.explain(stage, err)
	}
	if o, ok := result.(*outcome); ok {
		err = o.read(out)
	} else {
		err = json.Unmarshal(out, result)
	}
	if err != nil {
		return handlerError(stage, "its result cannot be read", err)
	}
	return nil
}

// quiet is how an outcome begins that has nothing to say but its data.
const quiet = `{"status":true,"messages":[],"data":`

// read takes an outcome apart. The data can be large and stays as it is: the
// gateway looks at it as at every body, whatever the worker made of it.
func (o *outcome) read(out []byte) error {
	if data, ok := bytes.CutPrefix(out, []byte(quiet)); ok && len(data) > 1 {
		o.Status, o.Data = true, data[:len(data)-1]
		return nil
	}
	doc, err := rawjson.Parse(out)
	if err != nil {
		return err
	}
	root := doc.Root()
	o.Status = string(doc.Raw(doc.Get(root, "status"))) == "true"
	list := doc.Get(root, "messages")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		o.Messages = append(o.Messages, doc.Str(n))
	}
	o.Data = doc.Raw(doc.Get(root, "data"))
	return nil
}

// explain says why a stage failed. A fault of one of its requests says more
// than what the code made of it.
func (x *execution) explain(stage string, err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return err
	}
	if marked := x.failed; marked != nil && e.Kind == sandbox.Thrown {
		return marked
	}
	known := handlerError(stage, e.Message, nil)
	if e.Kind == sandbox.Deadline {
		known.Code = tenon.CodeTimeout
	}
	if e.Detail != "" {
		known.Err = errors.New(e.Detail)
	}
	return known
}

func handlerError(stage, what string, err error) *tenon.Error {
	return &tenon.Error{Code: tenon.CodeServer, Message: "the handler " + stage + " failed: " + what, Err: err}
}

// tool begins the arguments of a stage, with room for so many bytes more.
func (x *execution) tool(more int) []byte {
	dst := append(make([]byte, 0, len(x.route.name)+16+more), `{"tool":`...)
	return rawjson.AppendString(dst, x.route.name)
}

// material is what every stage gets.
func (x *execution) material() ([]byte, error) {
	s, err := json.Marshal(x.draft)
	if err != nil {
		return nil, handlerError("preRequest", "its request cannot be written", err)
	}
	dst := x.tool(len(s) + len(x.payload) + 64)
	dst = append(append(dst, `,"struct":`...), s...)
	return append(append(dst, `,"payload":`...), x.payload...), nil
}

func (x *execution) preRequest(ctx context.Context) error {
	more, err := x.material()
	if err != nil {
		return err
	}
	before, _ := json.Marshal(x.draft)
	var got struct {
		Struct  draft           `json:"struct"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := x.call(ctx, "preRequest", more, nil, &got); err != nil {
		return err
	}
	after, _ := json.Marshal(got.Struct)
	if changed := !bytes.Equal(got.Payload, compact(x.payload)); changed && bytes.Equal(before, after) {
		// Only the payload was changed: the request is made again of it.
		doc, err := rawjson.Parse(got.Payload)
		if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
			return handlerError("preRequest", "SEC101 its payload is no object", nil)
		}
		x.payload = got.Payload
		return x.describe(doc)
	}
	x.payload = got.Payload
	return x.keep(got.Struct)
}

// keep takes over what a handler made of the request.
func (x *execution) keep(d draft) error {
	if d.URL != "" {
		x.draft.URL = d.URL
	}
	switch d.Method {
	case "":
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete:
		x.draft.Method = d.Method
	default:
		return handlerError("preRequest", "SEC101 its method is none of GET, POST, PUT and DELETE", nil)
	}
	if len(d.Headers) > 0 && d.Headers[0] == '{' {
		x.draft.Headers = d.Headers
	}
	if len(d.Body) > 0 && !bytes.Equal(d.Body, []byte("null")) {
		x.draft.Body = d.Body
	}
	return nil
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func (x *execution) executeRequest(ctx context.Context) (tenon.Response, error) {
	more, err := x.material()
	if err != nil {
		return tenon.Response{}, err
	}
	more = append(append(more, `,"secrets":`...), x.secrets.all()...)
	more = x.route.appendDeclared(append(more, `,"declared":`...))
	var got outcome
	if err := x.call(ctx, "executeRequest", more, nil, &got); err != nil {
		return tenon.Response{}, err
	}
	return x.reply("executeRequest", got, http.StatusOK, nil)
}

// reply is what an outcome says. A handler that gives up says why in its
// messages.
func (x *execution) reply(stage string, got outcome, status int, h http.Header) (tenon.Response, error) {
	if !got.Status {
		if x.failed != nil {
			return tenon.Response{}, x.failed
		}
		text := strings.Join(got.Messages, "; ")
		if text == "" {
			text = "it gave no reason"
		}
		return tenon.Response{}, handlerError(stage, clipText(text), nil)
	}
	return x.route.made(got.Data, status, h), nil
}

func clipText(text string) string {
	const limit = 2 << 10
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

func textOf(raw []byte) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// request sends the request that stands in the draft. Where a handler takes the
// answer it is not looked at here.
func (x *execution) request(ctx context.Context, handled bool) (tenon.Response, error) {
	var headers map[string]any
	if err := json.Unmarshal(x.draft.Headers, &headers); err != nil {
		return tenon.Response{}, handlerError("preRequest", "its headers are no object", err)
	}
	h := http.Header{}
	body := ""
	if x.draft.Method == http.MethodPost || x.draft.Method == http.MethodPut {
		h.Set("Content-Type", "application/json")
		body = string(x.draft.Body)
	}
	for name, value := range headers {
		text, ok := value.(string)
		if raw, err := json.Marshal(value); !ok && err == nil {
			text = string(raw)
		}
		if !validHeader(name, text) {
			return tenon.Response{}, refused("a header cannot be sent")
		}
		h.Set(name, text)
	}
	if text, ok := textOf(x.draft.Body); ok && body != "" && !strings.Contains(h.Get("Content-Type"), "json") {
		body = text
	}
	w := &urlWriter{}
	w.literal(x.draft.URL)
	res, err := x.send(ctx, wanted{Method: x.draft.Method, URL: string(w.out)}, h, body)
	reply := x.route.received(res, handled)
	x.route.hide(&reply, x.options.Env) // in another charset it was not found
	return reply, err
}

func (x *execution) postRequest(ctx context.Context, r tenon.Response) (tenon.Response, error) {
	args, err := x.material()
	if err != nil {
		return r, err
	}
	if x.route.declares(textMedia) && x.route.binary(r) {
		return r, nil // no text for a handler of texts, and no answer of a tool that declares one
	}
	args, body := x.route.forHandler(args, r)
	var got outcome
	if err := x.call(ctx, "postRequest", args, body, &got); err != nil {
		return tenon.Response{Status: 0}, err
	}
	if got.Status && x.route.binary(r) && bytes.Equal(got.Data, inBase64(r.Body)) {
		return r, nil
	}
	return x.reply("postRequest", got, r.Status, r.Header)
}

// record notes how far a request got. The worst of several counts.
func (x *execution) record(method string, p egress.RequestState) {
	if p == egress.NotSent {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.route.reading(method) {
		x.sent.Reads = tenon.NoResponse
		return
	}
	repeatable := method == http.MethodPut || method == http.MethodDelete
	x.sent.Idempotent = repeatable && (x.sent.Idempotent || x.sent.Unsafe == tenon.NotSent)
	if p == egress.SentNoAnswer || x.sent.Unsafe == tenon.NoResponse {
		x.sent.Unsafe = tenon.NoResponse
	} else {
		x.sent.Unsafe = tenon.Responded
	}
}

func refused(what string) error { return &tenon.Error{Code: tenon.CodeRequest, Message: what} }

// plainMessage is the text of an error of ours that code may read.
func plainMessage(err error) string {
	if e, ok := errors.AsType[*tenon.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

const defaultHandlerTime = 5 * time.Second
