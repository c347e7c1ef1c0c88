package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// request is a message that needs a response, with its transport, client and
// session.
type request struct {
	jsonrpc.Message
	server  *Server
	subject tenon.Subject

	revision string // legacy: what is known of it; may be empty

	era        era
	account    account
	waits      bool // a call waits for its place however long the queue is
	joint      bool // its answer is written together with others
	toolFailed bool // its result says that the tool failed
	outlives   bool // a call goes on when its client is gone
	plain      bool // it came to the endpoint JSONRPC

	forwarded http.Header // what a source may see of the caller's headers; nil: nothing

	sender      *http.Request     // with its caller; nil on stdio
	header      http.Header       // nil on stdio
	proto       string            // such as HTTP/1.1; empty: stdio
	within      *session          // nil: it is part of none
	peer        *clientState      // legacy: what is remembered of the client; nil: nothing
	out         notifier          // leads back while the request is under way; nil: nothing does
	closing     <-chan struct{}   // closed when the transport closes; nil: only the server does
	task        *task             // what the call may become; nil: nothing
	answers     map[string][]byte // to questions of earlier rounds, by key
	tries       int               // how many of them did not fit
	series      string            // what those rounds have in common; empty: there were none
	intake      *intake           // what its bytes hold of the quota
	reservation reservation       // what its answer holds
	made        tenon.Call        // what a source is told about it

	telling  sync.Mutex // guards the rest
	silent   bool       // the answer is out
	reported bool
	done     float64 // progress that was reported
}

// method is one line of the table: what answers it, and in which eras it
// exists. Nothing else in a method depends on the revision but the writer.
type method struct {
	run   func(s *Server, ctx context.Context, q *request, a *answer) *jsonrpc.Error
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
		return method{run: (*Server).discover, eras: modern}
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
// and the error is returned for the transport's status.
func (s *Server) respond(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	if s.options.Load().Observer != nil {
		return s.observed(ctx, q, a)
	}
	return s.answerTo(ctx, q, a)
}

func (s *Server) answerTo(ctx context.Context, q *request, a *answer) (e *jsonrpc.Error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			e = s.internal("a panic in the server", fmt.Sprint(p), "method", q.Method, "stack", string(debug.Stack()))
		} else if !returned {
			e = s.internal("a handler ended its goroutine", "runtime.Goexit", "method", q.Method, "stack", string(debug.Stack()))
		}
		if e != nil {
			a.fail(q.ID, e)
		}
		q.mute()
	}()
	m := methodOf(q.Method)
	if q.plain {
		m = plainMethod(q.Method)
	}
	if m.eras&q.era == 0 || m.when != nil && !m.when(s) {
		e = jsonrpc.UnknownMethod(q.Method)
	} else {
		e = m.run(s, ctx, q, a)
	}
	if a.refused || e != nil && e.RetryAfter > 0 {
		a.leave(s)
		s.slowDown(ctx, q.account)
	}
	returned = true
	return e
}

// respondAndSend responds and calls send, also where a handler ends its
// goroutine (runtime.Goexit): then while the goroutine ends, and net/http closes
// the connection of w, which is nil elsewhere.
func (s *Server) respondAndSend(ctx context.Context, q *request, a *answer, w http.ResponseWriter, send func(e *jsonrpc.Error)) {
	returned := false
	defer func() {
		switch {
		case returned:
		case w == nil:
			send(nil)
		default:
			w.Header().Set("Connection", "close")
			w.Header().Set("Content-Length", strconv.Itoa(a.size())) // of a stream the headers are sent already
			send(nil)
			_ = http.NewResponseController(w).Flush() // who is gone hears nothing
		}
	}()
	e := s.respond(ctx, q, a)
	returned = true
	send(e)
}

// internal logs what went wrong and makes an error that says nothing of it
// but an id.
func (s *Server) internal(what string, cause any, more ...any) *jsonrpc.Error {
	return incidentError(incident.Report(s.log, what, cause, more...))
}

func incidentError(e *incident.Error) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error; see incident " + e.ID + " in the log"}
}

// initialize opens a legacy conversation.
func (s *Server) initialize(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	if q.Requested == "" {
		return jsonrpc.InvalidParams("protocolVersion is missing")
	}
	revision := jsonrpc.NewestLegacyRevision
	if legacyRevision(q.Requested) {
		revision = q.Requested
	}
	if q.peer != nil {
		capabilities, client := clientSays(q.Params)
		q.peer.initialize(revision, capabilities, client)
	}
	a.begin(q, nil)
	identity := s.identity.Load()
	a.member("protocolVersion")
	a.text(revision)
	a.capabilities(q)
	a.member("serverInfo")
	a.buf = append(a.buf, identity.implementation...)
	a.instructions(identity)
	a.end()
	return nil
}

func (s *Server) discover(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	a.begin(q, nil)
	a.member("supportedVersions")
	a.write(allRevisions)
	a.capabilities(q)
	a.instructions(a.identity)
	a.caching(q, "300000", true)
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

// clientSays returns what a client says in initialize that it can do, and what it
// is.
func clientSays(params []byte) (capabilities, client []byte) {
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
func (s *Server) setLevel(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	var in struct{ Level tenon.LoggingLevel }
	if json.Unmarshal(q.Params, &in) != nil || levelOf(in.Level) == 0 {
		return jsonrpc.InvalidParams("level is debug, info, notice, warning, error, critical, alert or emergency")
	}
	if q.peer != nil {
		q.peer.level.Store(levelOf(in.Level))
	}
	a.begin(q, nil)
	a.end()
	return nil
}

// watch serves resources/subscribe and resources/unsubscribe.
func (s *Server) watch(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	if q.URI == "" {
		return jsonrpc.InvalidParams("uri is missing")
	}
	switch {
	case q.Method == "resources/unsubscribe":
		if q.peer != nil {
			q.peer.unwatch(q.URI)
		}
	case s.reader(ctx, q.URI) == nil:
		return noResource(q)
	case q.peer == nil:
		return jsonrpc.InvalidRequest("a subscription needs a session")
	case !q.peer.watch(q.URI):
		return jsonrpc.InvalidParams("too many subscriptions")
	}
	a.begin(q, nil)
	a.end()
	return nil
}

func (a *answer) instructions(i *encodedIdentity) {
	if i.instructions != "" {
		a.member("instructions")
		a.text(i.instructions)
	}
}

func (s *Server) ping(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	a.begin(q, nil)
	a.end()
	return nil
}

func (s *Server) callTool(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	if q.Name == "" {
		return jsonrpc.InvalidParams("name is missing")
	}
	if q.era == modern && q.header != nil {
		if e := s.checkParamHeaders(ctx, &q.Message, q.header); e != nil {
			return e
		}
	}
	if q.State != "" {
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
		if s.tasks.refuses(q.account) {
			r, err := s.gateway.Refuse(ctx, q.call(), tooManyTasks(q.account.allowance.Tasks))
			return s.callEnded(ctx, q, a, r, err)
		}
		return s.callOrTask(ctx, q, a)
	}
	if q.outlives {
		ctx = s.detached(ctx)
	}
	if q.plain {
		return s.callPlain(ctx, q, a)
	}
	r, err := s.gateway.Call(ctx, q.call())
	return s.callEnded(ctx, q, a, r, err)
}

// callEnded writes how a call ended.
func (s *Server) callEnded(ctx context.Context, q *request, a *answer, r *tenon.Result, err error) *jsonrpc.Error {
	if err != nil {
		return s.callFailed(q, a, err)
	}
	meta := r.Meta
	q.toolFailed = r.IsError
	a.begin(q, meta)
	a.callResult(r, q.revision)
	a.end()
	if !s.reserveResult(ctx, q, a) { // of r nothing is kept meanwhile but what is to be written
		n := a.holds()
		q.toolFailed = true
		a.reset()
		a.begin(q, meta)
		a.callResult(undeliveredResult(n), q.revision)
		a.end()
	}
	return nil
}

// callFailed makes the error for a call that has no result.
func (s *Server) callFailed(q *request, a *answer, err error) *jsonrpc.Error {
	var known *tenon.Error
	var needed *tenon.InputRequiredError
	var cannot *tenon.UnsupportedInputError
	var inside *incident.Error
	var scope *tenon.ScopeError
	var challenge Challenge
	switch {
	case errors.As(err, &inside):
		return incidentError(inside)
	case errors.As(err, &needed) && q.era == modern && q.hasRounds():
		return q.needInput(a, needed.Requests)
	case errors.As(err, &cannot):
		return missingCapability(q, cannot.Kind)
	case errors.As(err, &scope):
		return insufficientScope(scope)
	case errors.As(err, &challenge):
		e := jsonrpc.Refused(challenge.HTTPStatus(), challenge.Error())
		e.Challenge = challenge.Challenge()
		return e
	case errors.As(err, &known) && known.RetryAfter > 0:
		return jsonrpc.LimitReached(known.Message, tenon.RetrySeconds(known.RetryAfter))
	case errors.As(err, &known) && known.Code == tenon.CodeNotFound:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: strings.Replace(known.Message, q.Name, jsonrpc.Clip(q.Name), 1)}
	case errors.Is(err, errBusy), errors.Is(err, errClosed):
		e := busy(err)
		if tell := s.options.Load().Refused; tell != nil {
			tell(RefusalRecord{Status: e.Status, Reason: e.Message, Peer: q.account.origin, Method: q.Method, Name: q.Name, Subject: q.subject})
		}
		return e
	case errors.Is(err, context.Canceled):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the call was cancelled"}
	case errors.Is(err, context.DeadlineExceeded):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the call did not end in time"}
	}
	return s.internal("a call failed", err, "tool", jsonrpc.Clip(q.Name))
}
