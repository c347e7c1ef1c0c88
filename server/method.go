package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenon-mcp/tenon"
)

// request is a message that wants an answer, with all that a method may know
// about where it came from.
type request struct {
	message
	server  *Server
	era     era
	subject tenon.Subject

	patient  bool // a call waits for its place however long the queue is
	outlives bool // a call goes on when its client is gone
}

// method is one line of the table: what answers it, and in which eras it
// exists. Nothing else in a method depends on the revision but the writer.
type method struct {
	run   func(s *Server, ctx context.Context, q *request, a *answer) *rpcError
	eras  era
	named bool // the header Mcp-Name repeats params.name
}

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
		return method{run: (*Server).callTool, eras: legacy | modern, named: true}
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
	}()
	m := methodOf(q.method)
	if m.eras&q.era == 0 {
		return unknownMethod(q.method)
	}
	return m.run(s, ctx, q, a)
}

// internal logs what went wrong and makes an error that says nothing of it
// but an id.
func (s *Server) internal(what string, cause any, more ...any) *rpcError {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	id := hex.EncodeToString(b[:])
	s.log.Error(what, append([]any{"incident", id, "cause", cause}, more...)...)
	return &rpcError{code: codeInternal, message: "internal error; the operator finds incident " + id + " in the log"}
}

// initialize opens a legacy conversation. Nothing is remembered: every later
// request is served the same way in all legacy revisions.
func (s *Server) initialize(_ context.Context, q *request, a *answer) *rpcError {
	if q.requested == "" {
		return invalidParams("protocolVersion is missing")
	}
	revision := newestLegacyRevision
	if legacyRevision(q.requested) {
		revision = q.requested
	}
	a.begin(q, nil)
	a.member("protocolVersion")
	a.text(revision)
	a.capabilities()
	a.member("serverInfo")
	a.buf = append(a.buf, s.implementation()...)
	a.instructions(s)
	a.end()
	return nil
}

func (s *Server) discover(_ context.Context, q *request, a *answer) *rpcError {
	a.begin(q, nil)
	a.member("supportedVersions")
	a.write(modernRevisions)
	a.capabilities()
	a.instructions(s)
	a.caching(q, "300000")
	a.end()
	return nil
}

// capabilities writes what is served, and nothing that is not.
func (a *answer) capabilities() {
	a.member("capabilities")
	a.write(`{"tools":{"listChanged":false}}`)
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
	if err := s.calls.enter(ctx, q.patient); err != nil {
		return s.callFailed(q, err)
	}
	defer s.calls.leave()
	if q.outlives {
		ctx = context.WithoutCancel(ctx)
	}
	r, err := s.gateway.Call(ctx, &tenon.Call{Tool: q.name, Args: q.arguments, Subject: q.subject})
	if err != nil {
		return s.callFailed(q, err)
	}
	a.begin(q, r.Meta)
	a.callResult(r)
	a.end()
	return nil
}

// callFailed makes the error for a call that has no result.
func (s *Server) callFailed(q *request, err error) *rpcError {
	var known *tenon.Error
	switch {
	case errors.As(err, &known) && known.Code == tenon.CodeNotFound:
		return &rpcError{code: codeInvalidParams, message: known.Message}
	case errors.Is(err, errBusy):
		return &rpcError{code: codeInternal, message: "too many calls at once; try again later", status: 503}
	case errors.Is(err, context.Canceled):
		return &rpcError{code: codeInternal, message: "the call was cancelled"}
	case errors.Is(err, context.DeadlineExceeded):
		return &rpcError{code: codeInternal, message: "the call did not end in time"}
	}
	return s.internal("a call failed", err, "tool", clip(q.name))
}
