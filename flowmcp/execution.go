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
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
)

// execution is one call of a tool with handlers: preRequest, then
// executeRequest or the request, then postRequest.
type execution struct {
	tool     tool
	options  *Options
	runner   *runner
	secrets  *secrets
	payload  []byte // the arguments including defaults
	draft    draft
	stage    string
	budget   *egress.Budget // for the responses to its handlers
	querying sync.Mutex     // one at a time, because the size of a result is not known before

	mu      sync.Mutex
	sent    tenon.Execution
	fetches int
	failed  error // the first failure of a fetch
	blocked error // the first request that was blocked
}

// draft is the request as handlers see it: their struct.
type draft struct {
	URL     string          `json:"url"`
	Method  string          `json:"method"`
	Headers json.RawMessage `json:"headers"` // an object with the file's order and spelling
	Body    json.RawMessage `json:"body"`
}

// outcome is the result of a stage that ends a call.
type outcome struct {
	Status   bool
	Messages []string
	Data     json.RawMessage
}

// callHandlers performs a call of a tool with handlers.
func (t tool) callHandlers(ctx context.Context, c *tenon.Call, o *Options, r *runner) (tenon.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	x := &execution{tool: t, options: o, runner: r, secrets: newSecrets(t.File, o), budget: egress.NewBudget(max(maxFetched, o.MaxResponse))}
	response, err := x.run(ctx, c.Args)
	response.Execution = x.sent
	if x.secrets.plain {
		t.redactLong(&response, o.Env) // short values in the code's own texts are its own
	}
	if err == nil && x.secrets.isIn(response.Body) {
		return tenon.Response{Execution: x.sent}, markerError("the result")
	}
	if err != nil && x.secrets.isIn([]byte(err.Error())) {
		return tenon.Response{Execution: x.sent}, markerError("an error")
	}
	return response, err
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
	var response tenon.Response
	if slices.Contains(stages, "executeRequest") {
		response, err = x.executeRequest(ctx)
	} else {
		response, err = x.request(ctx, slices.Contains(stages, "postRequest"))
	}
	if err != nil || response.Status < 200 || response.Status > 299 || !slices.Contains(stages, "postRequest") {
		return response, err
	}
	return x.postRequest(ctx, response)
}

// stages returns the stages that the tool implements.
func (x *execution) stages(ctx context.Context) ([]string, error) {
	if known := x.tool.File.Handlers.Stages[x.tool.Name]; known != nil {
		return known, nil
	}
	var stages []string
	err := x.call(ctx, "stages", x.beginArgs(1), nil, &stages)
	return stages, err
}

// prepare builds the payload and the request that the file describes.
func (x *execution) prepare(args []byte) error {
	if len(args) == 0 {
		args = []byte("{}")
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return validationError("the arguments are not valid JSON")
	}
	x.payload = x.tool.payload(doc)
	return x.buildDraft(doc)
}

// buildDraft builds the draft from arguments.
func (x *execution) buildDraft(doc *rawjson.Doc) error {
	t := x.tool
	v := values{doc: doc, env: x.secrets.marker, forHandler: true}
	address, err := t.address(strings.TrimSuffix(x.options.BaseURL, "/"), &v)
	if err != nil {
		return err
	}
	fields, err := t.header(&v)
	if err != nil {
		return err
	}
	if x.secrets.plain {
		if err := t.checkHandOut(address, x.options); err != nil {
			return err
		}
	}
	x.draft = draft{URL: address, Method: t.Method, Headers: appendFields(nil, fields), Body: t.body(&v)}
	if v.missing != "" {
		return &tenon.Error{Code: tenon.CodeRequest, Message: "the server parameter is not set: " + v.missing}
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

// payload returns the arguments with defaults applied.
func (t tool) payload(doc *rawjson.Doc) []byte {
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
	for _, p := range t.Parameters {
		for _, name := range p.Arguments() {
			if !given[name] && p.Type.Omitted != nil {
				add(name, p.Type.Omitted)
			}
		}
	}
	return append(dst, '}')
}

// call runs one function of the file's program and decodes its result. args is
// the unfinished object from material; body is the response of the upstream or
// nil.
func (x *execution) call(ctx context.Context, stage string, args, body []byte, result any) error {
	x.stage = stage
	args = append(args, '}')
	out, err := x.runner.run(ctx, x.tool.File, sandbox.Call{Function: stage, Args: args, Body: body, Budget: x.options.HandlerTimeout, HostCall: x.hostCall})
	if x.blocked != nil { // whatever the code returned is not used
		return x.blocked
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

// outcomePrefix is the prefix of an outcome without messages.
const outcomePrefix = `{"status":true,"messages":[],"data":`

// read decodes an outcome. The data can be large and is not parsed here; the
// gateway validates it like any body.
func (o *outcome) read(out []byte) error {
	if data, ok := bytes.CutPrefix(out, []byte(outcomePrefix)); ok && len(data) > 1 {
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

// explain converts the error of a stage. A failed request of the stage takes
// precedence over the exception it caused.
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

// beginArgs starts the arguments object of a stage, with capacity for more bytes.
func (x *execution) beginArgs(more int) []byte {
	dst := append(make([]byte, 0, len(x.tool.Name)+16+more), `{"tool":`...)
	return rawjson.AppendString(dst, x.tool.Name)
}

// stageArgs starts the arguments object that every stage gets.
func (x *execution) stageArgs() ([]byte, error) {
	s, err := json.Marshal(x.draft)
	if err != nil {
		return nil, handlerError("preRequest", "its request cannot be written", err)
	}
	dst := x.beginArgs(len(s) + len(x.payload) + 64)
	dst = append(append(dst, `,"struct":`...), s...)
	return append(append(dst, `,"payload":`...), x.payload...), nil
}

func (x *execution) preRequest(ctx context.Context) error {
	more, err := x.stageArgs()
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
		// Only the payload was changed: rebuild the request.
		doc, err := rawjson.Parse(got.Payload)
		if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
			return handlerError("preRequest", "SEC101 its payload is not an object", nil)
		}
		x.payload = got.Payload
		return x.buildDraft(doc)
	}
	x.payload = got.Payload
	return x.applyDraft(got.Struct)
}

// applyDraft applies a handler's changes to the request.
func (x *execution) applyDraft(d draft) error {
	if d.URL != "" {
		x.draft.URL = d.URL
	}
	switch d.Method {
	case "":
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete:
		x.draft.Method = d.Method
	default:
		return handlerError("preRequest", "SEC101 its method must be GET, POST, PUT or DELETE", nil)
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
	more, err := x.stageArgs()
	if err != nil {
		return tenon.Response{}, err
	}
	more = append(append(more, `,"secrets":`...), x.secrets.object()...)
	more = x.tool.appendDeclared(append(more, `,"declared":`...))
	var got outcome
	if err := x.call(ctx, "executeRequest", more, nil, &got); err != nil {
		return tenon.Response{}, err
	}
	return x.response("executeRequest", got, http.StatusOK, nil)
}

// response converts an outcome to a response. The messages of a failed outcome
// become the error.
func (x *execution) response(stage string, got outcome, status int, h http.Header) (tenon.Response, error) {
	if !got.Status {
		if x.failed != nil {
			return tenon.Response{}, x.failed
		}
		text := strings.Join(got.Messages, "; ")
		if text == "" {
			text = "no reason given"
		}
		return tenon.Response{}, handlerError(stage, clipText(text), nil)
	}
	return x.tool.handlerResponse(got.Data, status, h), nil
}

func clipText(text string) string {
	const limit = 2 << 10
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

func jsonString(raw []byte) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// request sends the request in the draft. handled reports whether a handler
// processes the response.
func (x *execution) request(ctx context.Context, handled bool) (tenon.Response, error) {
	var headers map[string]any
	if err := json.Unmarshal(x.draft.Headers, &headers); err != nil {
		return tenon.Response{}, handlerError("preRequest", "its headers are not an object", err)
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
			return tenon.Response{}, requestError("invalid header")
		}
		h.Set(name, text)
	}
	if text, ok := jsonString(x.draft.Body); ok && body != "" && !strings.Contains(h.Get("Content-Type"), "json") {
		body = text
	}
	w := &format.URLWriter{}
	w.Literal(x.draft.URL)
	res, err := x.send(ctx, fetchRequest{Method: x.draft.Method, URL: string(w.Out)}, h, body)
	response := x.tool.upstreamResponse(res, handled)
	x.tool.redact(&response, x.options.Env) // redacted again: it may have been in another charset
	return response, err
}

func (x *execution) postRequest(ctx context.Context, r tenon.Response) (tenon.Response, error) {
	args, err := x.stageArgs()
	if err != nil {
		return r, err
	}
	if x.tool.declares(textMedia) && x.tool.isBinary(r) {
		return r, nil // binary data cannot be passed as text, and is not a valid response of a tool that declares text
	}
	args, body := x.tool.appendBody(args, r)
	var got outcome
	if err := x.call(ctx, "postRequest", args, body, &got); err != nil {
		return tenon.Response{Status: 0}, err
	}
	if got.Status && x.tool.isBinary(r) && bytes.Equal(got.Data, inBase64(r.Body)) {
		return r, nil
	}
	return x.response("postRequest", got, r.Status, r.Header)
}

// recordRequest updates the execution state; the worst of several requests wins.
func (x *execution) recordRequest(method string, p egress.RequestState) {
	if p == egress.NotSent {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tool.IsRead(method) {
		x.sent.Reads = tenon.NoResponse
		return
	}
	repeatable := method == http.MethodPut || method == http.MethodDelete
	x.sent.Idempotent = repeatable && (x.sent.Idempotent || x.sent.Unsafe == tenon.NotSent)
	if p == egress.SentNoResponse || x.sent.Unsafe == tenon.NoResponse {
		x.sent.Unsafe = tenon.NoResponse
	} else {
		x.sent.Unsafe = tenon.Responded
	}
}

func requestError(what string) error { return &tenon.Error{Code: tenon.CodeRequest, Message: what} }

// plainMessage returns the text of one of our errors that code may read.
func plainMessage(err error) string {
	if e, ok := errors.AsType[*tenon.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

const defaultHandlerTime = 5 * time.Second
