package server

import (
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
)

// tasks are those that can be asked for. Of what they may be, one caller may
// have half.
type tasks struct {
	count quota
	bytes quota // of their results

	mu      sync.Mutex
	by      map[string]*task
	running map[string]int64 // how many of each caller have not ended
}

func (ts *tasks) init() {
	ts.by, ts.running = map[string]*task{}, map[string]int64{}
	ts.count.init(maxTasks, 0)
	ts.bytes.init(maxTaskBytes, 0)
}

// add keeps a task until its life is over, unless there are too many. A call
// that is still under way then ends: nobody could hear of it.
func (ts *tasks) add(t *task) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.full(t.account) {
		return false
	}
	one, ok := ts.count.try(t.account, 1)
	if !ok {
		return false
	}
	ts.running[t.account.key]++
	t.runs = true
	t.one = one
	ts.by[t.id] = t
	t.expiry = time.AfterFunc(taskLife, func() {
		ts.remove(t)
		t.cancel()
	})
	return true
}

func (ts *tasks) remove(t *task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.by[t.id] != t {
		return
	}
	delete(ts.by, t.id)
	ts.stop(t)
	ts.count.give(t.account, t.one)
	ts.bytes.give(t.account, t.kept)
	if t.expiry != nil {
		t.expiry.Stop()
	}
}

// full reports whether a caller has as many tasks that have not ended as the operator
// allows. The lock is held.
func (ts *tasks) full(c account) bool {
	return c.allowance.Tasks > 0 && ts.running[c.key] >= c.allowance.Tasks
}

// refuses is full, for a call that may become a task.
func (ts *tasks) refuses(c account) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.full(c)
}

// ended lets a task count no more among those of its caller that have not ended.
func (ts *tasks) ended(t *task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.stop(t)
}

func (ts *tasks) stop(t *task) {
	if !t.runs {
		return
	}
	t.runs = false
	if ts.running[t.account.key]--; ts.running[t.account.key] == 0 {
		delete(ts.running, t.account.key)
	}
}

// hold keeps the bytes of a result, unless those of all are too many.
func (ts *tasks) hold(t *task, n int) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.by[t.id] != t {
		return false
	}
	took, ok := ts.bytes.try(t.account, int64(n))
	t.kept = took
	return ok
}

// find returns a task of the same subject; nil: there is none.
func (ts *tasks) find(id string, subject tenon.Subject) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.by[id]
	if t == nil || t.subject != subject || time.Since(t.created) > taskLife {
		return nil // the timer may be late
	}
	return t
}

// tooManyTasks refuses a call that could become one task more than its caller may
// have.
func tooManyTasks(most int64) error {
	return &tenon.Error{
		Code: tenon.CodeRateLimited, RetryAfter: time.Second,
		Message:     "The operator allows " + strconv.FormatInt(most, 10) + " tasks at a time, and as many of yours have not ended. Nothing was sent.",
		Suggestions: []string{"Wait until a task has ended, or cancel one, then call again"},
	}
}
