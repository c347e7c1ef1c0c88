package server

import (
	"slices"
	"time"

	"github.com/tenon-mcp/tenon"
)

// changed tells who follows the task that it is not as it was. The caller
// holds its mutex.
func (t *task) changed() {
	t.updated = time.Now()
	for f := range t.heard {
		f.taskChanged(t)
	}
}

// taskChanged notes a task of which its listener has to hear. Of several
// changes he hears the last.
func (f *feed) taskChanged(t *task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.tasks, t) {
		f.tasks = append(f.tasks, t)
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed) takeTasks() []*task {
	f.mu.Lock()
	defer f.mu.Unlock()
	tasks := f.tasks
	f.tasks = nil
	return tasks
}

// follow lets a feed hear of the tasks of a client, and returns the ids of
// those that there are.
func (s *Server) follow(q *request, ids []string, changes *feed) (followed []string) {
	if !s.hasTasks() {
		return nil
	}
	for _, id := range ids {
		t := s.tasks.find(id, q.subject)
		if t == nil || slices.Contains(followed, id) {
			continue
		}
		t.mu.Lock()
		if t.heard == nil {
			t.heard = map[*feed]struct{}{}
		}
		t.heard[changes] = struct{}{}
		if t.status != "working" {
			changes.taskChanged(t) // it did already, perhaps before the client could listen
		}
		t.mu.Unlock()
		followed = append(followed, id)
	}
	return followed
}

func (s *Server) unfollow(ids []string, subject tenon.Subject, changes *feed) {
	for _, id := range ids {
		if t := s.tasks.find(id, subject); t != nil {
			t.mu.Lock()
			delete(t.heard, changes)
			t.mu.Unlock()
		}
	}
}

// sendTasks sends notifications/tasks: each has all that tasks/get would
// answer now, so that nobody needs to ask.
func (q *request) sendTasks(tasks []*task) bool {
	for _, t := range tasks {
		a := &answer{}
		a.write(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"` + metaSubscription + `":`)
		a.buf = append(append(a.buf, q.id...), '}')
		t.describe(a, true)
		a.write("}}")
		if q.out.send(a.flat()) != nil {
			return false
		}
	}
	return true
}
