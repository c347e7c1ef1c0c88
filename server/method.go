package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
)

// request is a message that wants an answer, with all that a method may know
// about where it came from.
type request struct {
	message
	server  *Server
	subject tenon.Subject

	revision string // legacy: what is known of it; may be empty

	era      era
	account  account
	patient  bool // a call waits for its place however long the queue is
	joint    bool // its answer is written together with others
	outlives bool // a call goes on when its client is gone
	plain    bool // it came through the door of JSONRPC

	forwarded http.Header // what a source may see of the caller's headers; nil: nothing

	header  http.Header       // nil on stdio
	peer    *peer             // legacy: what is remembered of the client; nil: nothing
	out     outlet            // leads back while the request is under way; nil: nothing does
	closing <-chan struct{}   // closed when the door closes; nil: only the server does
	task    *task             // what the call may become; nil: nothing
	answers map[string][]byte // to questions of earlier rounds, by key
	tries   int               // how many of them did not fit
	series  string            // what those rounds have in common; empty: there were none
	intake  *intake           // what its bytes hold of the quota
	room    room              // what its answer holds
	made    tenon.Call        // what a source is told about it

	telling  sync.Mutex // guards the rest
	silent   bool       // the answer is out
	reported bool
	done     float64 // progress that was reported
}

// method is one line of the table: what answers it, and in which eras it
// exists. Nothing else in a method depends on the revision but the writer.
type method struct {
	run   func(s *Server, ctx context.Context, q *request, a *answer) *rpcError
	eras  era
	named named
	when  func(s *Server) bool // whether there is anything to serve; nil: always
}

// named tells what the header Mcp-Name repeats.
type named uint8

const (
	notNamed named = iota
	byName         // params.name
	byURI          // params.uri
	byTask         // params.taskId
)

func methodOf(name string) method {
	switch name {
	case "initialize":
		return method{run: (*Server).initialize, eras: legacy}
	case "ping":
		return method{run: (*Server).ping, eras: legacy}
	case "server/discover":
		return method{run: (*Server).discover, eras: modern, when: func(s *Server) bool { return !s.lax(ruleDiscover) }}
	case "tools/list":
		return method{run: (*Server).listTools, eras: legacy | modern}
	case "tools/call":
		return method{run: (*Server).callTool, eras: legacy | modern, named: byName}
	case "resources/list":
		return method{run: (*Server).listResources, eras: legacy | modern, when: (*Server).resources}
	case "resources/templates/list":
		return method{run: (*Server).listTemplates, eras: legacy | modern, when: (*Server).resources}
	case "resources/read":
		return method{run: (*Server).readResource, eras: legacy | modern, named: byURI, when: (*Server).resources}
	case "resources/subscribe", "resources/unsubscribe":
		return method{run: (*Server).watch, eras: legacy, when: (*Server).resources}
	case "prompts/list":
		return method{run: (*Server).listPrompts, eras: legacy | modern, when: (*Server).prompts}
	case "prompts/get":
		return method{run: (*Server).getPrompt, eras: legacy | modern, named: byName, when: (*Server).prompts}
	case "completion/complete":
		return method{run: (*Server).complete, eras: legacy | modern, when: (*Server).completes}
	case "logging/setLevel":
		return method{run: (*Server).setLevel, eras: legacy}
	case "tasks/get":
		return method{run: (*Server).getTask, eras: modern, named: byTask, when: (*Server).hasTasks}
	case "tasks/update":
		return method{run: (*Server).updateTask, eras: modern, named: byTask, when: (*Server).hasTasks}
	case "tasks/cancel":
		return method{run: (*Server).cancelTask, eras: modern, named: byTask, when: (*Server).hasTasks}
	case "subscriptions/listen":
		return method{run: (*Server).subscribe, eras: modern}
	}
	return method{}
}

// respond answers q in a. It never fails: what goes wrong is an answer too,
// and the error that was answered is returned for the door's status.
func (s *Server) respond(ctx context.Context, q *request, a *answer) (e *rpcError) {
	defer func() {
		if p := recover(); p != nil {
			e = s.internal("a panic in the server", fmt.Sprint(p), "method", q.method, "stack", string(debug.Stack()))
		}
		if e != nil {
			a.fail(q.id, e)
		}
		q.hush()
	}()
	m := methodOf(q.method)
	if q.plain {
		m = plainMethod(q.method)
	}
	if m.eras&q.era == 0 || m.when != nil && !m.when(s) && !s.lax(ruleDeclared) {
		return unknownMethod(q.method)
	}
	return m.run(s, ctx, q, a)
}

// internal logs what went wrong and makes an error that says nothing of it
// but an id.
func (s *Server) internal(what string, cause any, more ...any) *rpcError {
	return incidentError(incident.Report(s.log, what, cause, more...))
}

func incidentError(e *incident.Error) *rpcError {
	return &rpcError{code: codeInternal, message: "internal error; the operator finds incident " + e.ID + " in the log"}
}

// initialize opens a legacy conversation.
func (s *Server) initialize(_ context.Context, q *request, a *answer) *rpcError {
	if q.requested == "" {
		return invalidParams("protocolVersion is missing")
	}
	revision := newestLegacyRevision
	if legacyRevision(q.requested) || s.lax(ruleHandshake) {
		revision = q.requested
	}
	if q.peer != nil {
		capabilities, client := saidOf(q.params)
		q.peer.greet(revision, capabilities, client)
	}
	a.begin(q, nil)
	a.member("protocolVersion")
	a.text(revision)
	a.capabilities(q)
	a.member("serverInfo")
	a.buf = append(a.buf, s.implementation()...)
	a.instructions(s)
	a.end()
	return nil
}

func (s *Server) discover(_ context.Context, q *request, a *answer) *rpcError {
	a.begin(q, nil)
	a.member("supportedVersions")
	a.write(allRevisions)
	a.capabilities(q)
	a.instructions(s)
	a.caching(q, "300000")
	a.end()
	return nil
}

// capabilities writes what is served, and nothing that is not.
func (a *answer) capabilities(q *request) {
	a.member("capabilities")
	changes, subscribe := "", ""
	if q.era == modern || q.peer != nil { // else nothing leads to the client between its requests
		changes, subscribe = `"listChanged":true`, `"subscribe":true,`
	}
	a.write(`{"tools":{` + changes + `},"logging":{}`)
	if q.server.resources() {
		a.write(`,"resources":{` + subscribe + changes + `}`)
	}
	if q.server.prompts() {
		a.write(`,"prompts":{` + changes + `}`)
	}
	if q.era == modern && q.server.hasTasks() {
		a.write(`,"extensions":{"` + tasksExtension + `":{}}`)
	}
	if q.server.completes() {
		a.write(`,"completions":{}`)
	}
	a.write("}")
}

// maxClientInfo bounds what is remembered of what a client says of itself.
const maxClientInfo = 4 << 10

// saidOf returns what a client says in initialize that it can do, and what it
// is.
func saidOf(params []byte) (capabilities, client []byte) {
	var in struct{ Capabilities, ClientInfo json.RawMessage }
	if json.Unmarshal(params, &in) != nil {
		return nil, nil
	}
	if len(in.ClientInfo) > maxClientInfo {
		in.ClientInfo = nil
	}
	return in.Capabilities, in.ClientInfo
}

// setLevel serves logging/setLevel. Without a session there is nobody to
// remember it for, which is no error: the client hears the default.
func (s *Server) setLevel(_ context.Context, q *request, a *answer) *rpcError {
	var in struct{ Level tenon.LoggingLevel }
	if json.Unmarshal(q.params, &in) != nil || levelOf(in.Level) == 0 {
		return invalidParams("level is debug, info, notice, warning, error, critical, alert or emergency")
	}
	if q.peer != nil {
		q.peer.level.Store(levelOf(in.Level))
	}
	a.begin(q, nil)
	a.end()
	return nil
}

// watch serves resources/subscribe and resources/unsubscribe.
func (s *Server) watch(_ context.Context, q *request, a *answer) *rpcError {
	if q.uri == "" {
		return invalidParams("uri is missing")
	}
	switch {
	case q.method == "resources/unsubscribe":
		if q.peer != nil {
			q.peer.unwatch(q.uri)
		}
	case s.reader(q.uri) == nil:
		return noResource(q)
	case q.peer == nil:
		return invalidRequest("a subscription needs a session")
	case !q.peer.watch(q.uri):
		return invalidParams("too many subscriptions")
	}
	a.begin(q, nil)
	a.end()
	return nil
}

func (a *answer) instructions(s *Server) {
	if s.options.Instructions != "" {
		a.member("instructions")
		a.text(s.options.Instructions)
	}
}

func (s *Server) ping(_ context.Context, q *request, a *answer) *rpcError {
	a.begin(q, nil)
	a.end()
	return nil
}

func (s *Server) callTool(ctx context.Context, q *request, a *answer) *rpcError {
	if q.name == "" {
		return invalidParams("name is missing")
	}
	if q.era == modern && q.header != nil && !s.lax(ruleBound) {
		if e := s.checkBound(&q.message, q.header); e != nil {
			return e
		}
	}
	if q.state != "" {
		if e := q.resume(); e != nil {
			return e
		}
	}
	if e := s.refuseWait(q); e != nil {
		return e
	}
	if err := s.enter(ctx, q, a); err != nil {
		return s.callFailed(q, a, err)
	}
	ctx = s.counting(ctx, q, a)
	if s.mayBecomeTask(q) {
		return s.callOrTask(ctx, q, a)
	}
	if q.outlives {
		ctx = s.outliving(ctx)
	}
	if q.plain {
		return s.callPlain(ctx, q, a)
	}
	r, err := s.gateway.Call(ctx, q.call())
	return s.callEnded(ctx, q, a, r, err)
}

// callEnded writes how a call ended.
func (s *Server) callEnded(ctx context.Context, q *request, a *answer, r *tenon.Result, err error) *rpcError {
	if err != nil {
		return s.callFailed(q, a, err)
	}
	meta := r.Meta
	a.begin(q, meta)
	revision := q.revision
	if s.lax(ruleLink) {
		revision = ""
	}
	a.callResult(r, revision)
	a.end()
	if !s.afford(ctx, q, a) { // of r nothing is kept meanwhile but what is to be written
		n := a.holds()
		a.reset()
		a.begin(q, meta)
		a.callResult(undelivered(n), revision)
		a.end()
	}
	return nil
}

// callFailed makes the error for a call that has no result.
func (s *Server) callFailed(q *request, a *answer, err error) *rpcError {
	var known *tenon.Error
	var needed *tenon.InputRequiredError
	var cannot *tenon.UnsupportedInputError
	var inside *incident.Error
	switch {
	case errors.As(err, &inside):
		return incidentError(inside)
	case errors.As(err, &needed) && q.era == modern && (q.hasRounds() || s.lax(ruleRounds)):
		return q.needInput(a, needed.Requests)
	case errors.As(err, &cannot):
		return missingCapability(q, cannot.Kind)
	case errors.As(err, &known) && known.Code == tenon.CodeNotFound:
		return &rpcError{code: codeInvalidParams, message: strings.Replace(known.Message, q.name, clip(q.name), 1)}
	case errors.Is(err, errBusy), errors.Is(err, errClosed):
		return busy(err)
	case errors.Is(err, context.Canceled):
		return &rpcError{code: codeInternal, message: "the call was cancelled"}
	case errors.Is(err, context.DeadlineExceeded):
		return &rpcError{code: codeInternal, message: "the call did not end in time"}
	}
	return s.internal("a call failed", err, "tool", clip(q.name))
}
