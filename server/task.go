package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The tasks extension of 2026-07-28: a call that takes long is answered with a
// task, which the client asks for until it has ended. The call itself does not
// know: its result passes the same contract.
const tasksExtension = "io.modelcontextprotocol/tasks"

// task is one call that was answered with a task. It is guarded by its mutex.
type task struct {
	id      string
	subject tenon.Subject
	account account
	created time.Time
	cancel  context.CancelFunc

	mu      sync.Mutex
	updated time.Time
	status  string // working, input_required, completed, failed, cancelled
	member  string // result or error, once it ended
	body    []byte
	pending map[string]*pendingInput
	began   bool // the client knows of it
	heard   map[*changeFeed]struct{}

	// Guarded by the mutex of tasks.
	expiry *time.Timer
	runs   bool  // it counts among those of its caller that have not ended
	one    int64 // what it counts as, of tasks
	kept   int64 // and its body, of bytes
}

// pendingInput is a question of a task that waits for its answer.
type pendingInput struct {
	question tenon.InputRequest
	name     string // under which the client answers
	answer   chan tenon.InputResponse
	raw      []byte // the answer as it came; set before answer is sent
}

// takesTasks reports whether the client of q can wait for a task.
func (q *request) takesTasks() bool {
	if !bytes.Contains(q.Capabilities, []byte(tasksExtension)) {
		return false // nearly always, and without reading them
	}
	doc, err := rawjson.Parse(q.Capabilities)
	if err != nil {
		return false
	}
	extensions := doc.Get(doc.Root(), "extensions")
	return doc.Kind(doc.Get(extensions, tasksExtension)) == rawjson.Object
}

// mayBecomeTask reports whether a call may be answered with a task.
func (s *Server) mayBecomeTask(q *request) bool {
	return q.era == modern && s.options.Load().TaskAfter > 0 && q.takesTasks()
}

// refuseWait refuses a client that cannot do tasks for a tool that needs one.
func (s *Server) refuseWait(q *request) *jsonrpc.Error {
	if q.era != modern || !slices.Contains(s.options.Load().TaskTools, q.Name) || q.takesTasks() {
		return nil
	}
	return needsTasks("this tool takes longer than a request may: it needs a client that can wait for a task")
}

func needsTasks(why string) *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeCapability, Message: why, Status: 400,
		Data: []byte(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
	}
}

// outcome is how a call ended.
type outcome struct {
	result *tenon.Result
	err    error
}

// callOrTask performs a call and waits for it for a while. It has a place among
// the calls, which it gives back when the call has ended.
func (s *Server) callOrTask(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := newTask(q.subject, q.account, cancel)
	q.task = t
	done := make(chan outcome, 1)
	over, leave := q.intake.keep(), a.share()
	incident.Go(s.log, "a task", func() {
		defer over()
		defer leave()
		defer cancel()
		defer s.tasks.ended(t)
		r, err := s.callInRounds(running, q)
		t.end(s, q, r, err)
		done <- outcome{r, err}
	}, func(e *incident.Error) {
		t.end(s, q, nil, e)
		done <- outcome{err: e}
	})
	untilTask := time.NewTimer(s.options.Load().TaskAfter)
	defer untilTask.Stop()
	select {
	case o := <-done:
		return s.callEnded(ctx, q, a, o.result, o.err)
	case <-ctx.Done():
		cancel()
		return s.callFailed(q, a, ctx.Err())
	case <-untilTask.C:
	}
	if !s.tasks.add(t) || !t.begin() {
		s.tasks.remove(t)
		select { // it ended just now, or there is no room: the client waits
		case o := <-done:
			return s.callEnded(ctx, q, a, o.result, o.err)
		case <-ctx.Done():
			cancel()
			return s.callFailed(q, a, ctx.Err())
		}
	}
	a.envelope(q.ID)
	a.write(`,"result":`)
	a.openAs(q, "task", nil)
	t.describe(a, false)
	a.end()
	return nil
}

// callInRounds performs a call. What it asked while it was no task yet, and
// ended without, is asked once it is one; then the call is made again with the
// answers, as the client would otherwise have done.
func (s *Server) callInRounds(ctx context.Context, q *request) (*tenon.Result, error) {
	for range maxRounds {
		r, err := s.gateway.Call(ctx, q.call())
		needed, ok := errors.AsType[*tenon.InputRequiredError](err)
		if !ok || len(needed.Requests) == 0 || !q.task.begun() {
			return r, err
		}
		waiting, _, err := q.task.pose(needed.Requests)
		if err != nil {
			return nil, err
		}
		answers := make(map[string][]byte, len(waiting))
		maps.Copy(answers, q.answers)
		for _, w := range waiting {
			if _, err := q.task.wait(ctx, w); err != nil {
				q.task.withdraw(waiting)
				return nil, err
			}
			answers[w.question.Key] = w.raw
		}
		q.answers = answers
	}
	return nil, &tenon.Error{Code: tenon.CodeInternal, Message: "the tool asks and asks again: the call was ended after " + strconv.Itoa(maxRounds) + " rounds"}
}

func newTask(subject tenon.Subject, account account, cancel context.CancelFunc) *task {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	now := time.Now()
	return &task{
		id: hex.EncodeToString(b[:]), subject: subject, account: account, created: now, updated: now,
		cancel: cancel, status: "working", pending: map[string]*pendingInput{},
	}
}

// begin makes the call a task, unless it has ended already.
func (t *task) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = t.member == ""
	return t.began
}

// begun reports whether the call is a task. From then on it stays one, or
// becomes none.
func (t *task) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.began {
		t.member = "result" // begin comes too late from now on
	}
	return t.began
}

// end keeps how a call ended. Its result is written as tools/call would.
func (t *task) end(s *Server, q *request, r *tenon.Result, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.began {
		t.member = "result" // begin comes too late from now on
		return
	}
	if t.status == "cancelled" {
		return
	}
	defer t.changed()
	a := &answer{}
	if err == nil {
		t.status, t.member = "completed", "result"
		a.open(q, r.Meta)
		a.callResult(r, "")
		a.write("}")
	} else {
		t.status, t.member = "failed", "error"
		a.failure(s.taskFailed(q, err))
	}
	body := a.flat()
	if !s.tasks.hold(t, len(body)) {
		a.reset()
		t.status, t.member = "failed", "error"
		a.failure(&jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the call was executed, but too many results wait to be asked for: this one is lost"})
		body = a.flat()
	}
	t.body = body
}

// taskFailed is the error that a task ends with. A call that asks, in a way
// that no task can ask for, has one too.
func (s *Server) taskFailed(q *request, err error) *jsonrpc.Error {
	if e := s.callFailed(q, &answer{}, err); e != nil {
		return e
	}
	return s.internal("a task ended with a question", err, "tool", jsonrpc.Clip(q.Name))
}

// describe writes the members of a task, with what it led to where that is
// wanted.
func (t *task) describe(a *answer, detailed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.members("taskId", t.id, "status", t.status,
		"createdAt", t.created.UTC().Format(time.RFC3339Nano), "lastUpdatedAt", t.updated.UTC().Format(time.RFC3339Nano))
	a.write(`,"ttlMs":3600000,"pollIntervalMs":500`)
	if !detailed {
		return
	}
	if t.body != nil {
		a.member(t.member)
		a.put(t.body, asIs)
	}
	if t.status == "input_required" {
		a.member("inputRequests")
		a.write("{")
		for _, key := range slices.Sorted(maps.Keys(t.pending)) {
			a.member(jsonInside(key))
			a.write("{")
			a.buf = append(appendQuestion(a.buf, t.pending[key].question), '}')
		}
		a.write("}")
	}
}

// ask puts questions to the client of a task and waits for the answers. It
// reports false while the call is no task.
func (t *task) ask(ctx context.Context, questions []tenon.InputRequest) (answers []tenon.InputResponse, isTask bool, err error) {
	waiting, ok, err := t.pose(questions)
	if !ok || err != nil {
		return nil, ok, err
	}
	for _, w := range waiting {
		a, err := t.wait(ctx, w)
		if err != nil {
			t.withdraw(waiting)
			return nil, true, err
		}
		answers = append(answers, a)
	}
	return answers, true, nil
}

func (t *task) wait(ctx context.Context, w *pendingInput) (tenon.InputResponse, error) {
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		return tenon.InputResponse{}, ctx.Err()
	}
}

// pose adds questions to those that wait for an answer. Each has a name of its
// own: several parts of a call may ask under one key.
func (t *task) pose(questions []tenon.InputRequest) (waiting []*pendingInput, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.began {
		return nil, false, nil
	}
	if len(t.pending)+len(questions) > maxQuestions {
		return nil, true, &tenon.Error{Code: tenon.CodeInternal, Message: "the call asks too much at once"}
	}
	for _, q := range questions {
		w := &pendingInput{question: q, name: q.Key, answer: make(chan tenon.InputResponse, 1)}
		for n := 2; t.pending[w.name] != nil || w.name == ""; n++ {
			w.name = q.Key + "-" + strconv.Itoa(n)
		}
		t.pending[w.name] = w
		waiting = append(waiting, w)
	}
	if t.status == "working" && len(waiting) > 0 {
		t.status = "input_required"
	}
	t.changed()
	return waiting, true, nil
}

// withdraw takes questions back whose asker waits no more.
func (t *task) withdraw(waiting []*pendingInput) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range waiting {
		if t.pending[w.name] == w {
			delete(t.pending, w.name)
		}
	}
	t.resume()
}

// resume ends the wait for input where no question is left. The lock is held.
func (t *task) resume() {
	if t.status == "input_required" && len(t.pending) == 0 {
		t.status = "working"
		t.changed()
	}
}

// update takes answers over. What is no answer to an open question is ignored.
func (t *task) update(q *request) {
	doc, err := rawjson.Parse(q.Responses)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
		w := t.pending[doc.Key(m)]
		if w == nil {
			continue
		}
		if a, ok := q.accepted(w.question, doc.Raw(m)); ok {
			w.raw = bytes.Clone(doc.Raw(m))
			w.answer <- a
			delete(t.pending, w.name)
		}
	}
	t.resume()
}

// taskOf finds the task that q names.
func (s *Server) taskOf(q *request) (*task, *jsonrpc.Error) {
	if !q.takesTasks() {
		return nil, needsTasks("the client did not say that it can do tasks")
	}
	if t := s.tasks.find(q.TaskID, q.subject); t != nil {
		return t, nil
	}
	return nil, jsonrpc.InvalidParams("there is no such task")
}

func (s *Server) getTask(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	t, e := s.taskOf(q)
	if e != nil {
		return e
	}
	a.begin(q, nil)
	t.describe(a, true)
	a.end()
	return nil
}

func (s *Server) updateTask(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	t, e := s.taskOf(q)
	if e != nil {
		return e
	}
	t.update(q)
	a.begin(q, nil)
	a.end()
	return nil
}

// cancelTask ends a task that has not ended; one that has stays as it is.
func (s *Server) cancelTask(_ context.Context, q *request, a *answer) *jsonrpc.Error {
	t, e := s.taskOf(q)
	if e != nil {
		return e
	}
	t.mu.Lock()
	if t.member == "" {
		t.status = "cancelled"
		t.changed()
	}
	t.mu.Unlock()
	t.cancel()
	a.begin(q, nil)
	a.end()
	return nil
}

// hasTasks reports whether the server makes tasks.
func (s *Server) hasTasks() bool { return s.options.Load().TaskAfter > 0 }
