package server

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// JSONRPC returns the endpoint of plain JSON-RPC: tools/list, tools/call and ping in a POST,
// without handshake, session or headers of its own. Whatever the envelope of a
// tool, the top of a call's result is the output structure (OutputFormat,
// OutputType, type and what belongs to the type) beside MCP's own members; a
// tool's failure is such a structure too, never an error of JSON-RPC.
//
// Pages of other origins may use it where Options.AllowedOrigins names them.
func (s *Server) JSONRPC() http.Handler { return http.HandlerFunc(s.serveJSONRPC) }

func (s *Server) serveJSONRPC(w http.ResponseWriter, r *http.Request) {
	if s.crossOrigin(w, r) {
		return
	}
	closeAfter(w, r)
	e := s.admit(r)
	if e == nil && r.Method != http.MethodPost {
		e = jsonrpc.Refused(http.StatusMethodNotAllowed, "only POST is served here")
	}
	if e == nil {
		r, e = s.identify(r) //nolint:contextcheck // Authenticate has the context of r
	}
	if e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	body, in, e := s.body(w, r)
	defer in.done()
	if e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	// A client that sends no more may still read: nothing on this endpoint says that
	// an end of what it sends is an end of its wish.
	q := &request{server: s, era: legacy, plain: true, outlives: true, intake: in, header: r.Header}
	m := &q.Message
	e = jsonrpc.Decode(body, m)
	switch {
	case e != nil:
		s.refuse(w, r, m.ID, e)
	case m.Notification || m.Response:
		w.WriteHeader(http.StatusAccepted)
	default:
		a := s.newAnswer()
		defer s.release(a)
		s.attribute(q, r)
		s.respondAndSend(r.Context(), q, a, w, func(e *jsonrpc.Error) { s.send(w, s.httpStatus(legacy, e), a) })
	}
}

// plainMethod is the table of the JSON-RPC endpoint.
func plainMethod(name string) method {
	switch name {
	case "tools/list", "tools/call", "ping":
		return methodOf(name)
	}
	return method{}
}

// callPlain writes the result of tools/call with the output structure on top.
func (s *Server) callPlain(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	r, err := s.gateway.Call(ctx, q.call())
	if code := tenon.CodeOf(err); code == tenon.CodeNotFound || code == tenon.CodeRateLimited || code == tenon.CodeAuthorization || code == tenon.CodeAuthentication || err != nil && ctx.Err() != nil {
		return s.callFailed(q, a, err)
	}
	if err != nil {
		r = s.plainFailure(q, err)
	}
	meta := r.Meta
	q.toolFailed = r.IsError
	a.plainResult(q, meta, r)
	if !s.reserveResult(ctx, q, a) {
		n := a.holds()
		q.toolFailed = true
		a.reset()
		a.plainResult(q, meta, undeliveredResult(n))
	}
	return nil
}

func (a *answer) plainResult(q *request, meta []byte, r *tenon.Result) {
	a.begin(q, meta)
	structure := inside(r.Structured)
	if !isStructure(r.Structured) {
		structure = inside(structureOf(r))
	}
	if a.buf[len(a.buf)-1] != '{' {
		a.write(",")
	}
	a.put(structure, asIs)
	a.callResult(r, "")
	a.end()
}

// plainFailure is the result of a call that has none: nobody can be asked
// here.
func (s *Server) plainFailure(q *request, err error) *tenon.Result {
	e := s.callFailed(q, &answer{}, err)
	return &tenon.Result{IsError: true, Code: tenon.CodeRequest, Message: e.Message, Content: []tenon.Content{{Text: []byte(e.Message)}}}
}

// isStructure reports whether a value is an output structure already.
func isStructure(value []byte) bool { return bytes.HasPrefix(value, []byte(`{"OutputFormat":`)) }

// structureOf makes the output structure of a result in another envelope.
func structureOf(r *tenon.Result) []byte {
	if r.Confirmation != nil {
		return r.Confirmation
	}
	if r.IsError {
		b := []byte(`{"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":`)
		b = rawjson.AppendString(b, r.Code) // an author's own can be any text
		b = rawjson.AppendString(append(b, `,"message":`...), r.Message)
		b = append(append(b, `,"details":`...), cmp.Or(string(r.Details), "{}")...)
		b = append(b, `,"suggestions":[`...)
		for i, s := range r.Suggestions {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendString(b, s)
		}
		return append(b, "]}}"...)
	}
	b := []byte(`{"OutputFormat":"structured","OutputType":"json"`)
	if r.Value == nil {
		b = []byte(`{"OutputFormat":"unstructured","OutputType":"text"`)
	}
	b = append(b, `,"type":"api_response","data":`...)
	if r.Value == nil {
		b = rawjson.AppendString(b, textOf(r))
	} else {
		b = append(b, r.Value...)
	}
	b = append(append(b, `,"metadata":`...), upstreamOf(r.Meta)...)
	return append(appendPartial(b, r.Meta), '}')
}

// appendPartial writes the members of a part, in every envelope.
func appendPartial(dst, meta []byte) []byte {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return dst
	}
	partial := doc.Get(doc.Root(), "tenon/partial")
	if doc.Get(partial, "part") == rawjson.None {
		return dst
	}
	token := doc.Get(partial, "resume_token")
	if token == rawjson.None { // the last part: clients ask on while partial is true
		return append(dst, `,"partial":false`...)
	}
	return append(append(dst, `,"partial":true,"resume_token":`...), doc.Raw(token)...)
}

// textOf joins the text of a result.
func textOf(r *tenon.Result) string {
	var parts []string
	for i := range r.Content {
		if r.Content[i].Type == tenon.TextContent {
			parts = append(parts, string(r.Content[i].Text))
		}
	}
	return strings.Join(parts, "\n")
}

// upstreamOf returns what a result says of its upstream; {}: there was none.
func upstreamOf(meta []byte) []byte {
	if doc, err := rawjson.Parse(meta); err == nil {
		if n := doc.Get(doc.Root(), "tenon/upstream"); n != rawjson.None {
			return doc.Raw(n)
		}
	}
	return []byte("{}")
}
