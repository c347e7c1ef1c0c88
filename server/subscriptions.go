package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// filter is what a subscription wants to hear.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
	TaskIDs   []string `json:"taskIds,omitempty"` // of the tasks extension
}

// subscribe serves subscriptions/listen of 2026-07-28: it says what it will
// send, sends that until it is over, and ends with a result where it is the
// server that ends it (basic/patterns/subscriptions).
func (s *Server) subscribe(ctx context.Context, q *request, a *answer) *jsonrpc.Error {
	var in struct{ Notifications *filter }
	if json.Unmarshal(q.Params, &in) != nil || in.Notifications == nil {
		return jsonrpc.InvalidParams("notifications is an object that says what to listen to")
	}
	if max(len(in.Notifications.URIs), len(in.Notifications.TaskIDs)) > maxWatched {
		return jsonrpc.InvalidParams("more than " + strconv.Itoa(maxWatched) + " resources or tasks in one subscription")
	}
	if len(in.Notifications.TaskIDs) > 0 && s.hasTasks() && !q.takesTasks() {
		return needsTasks("the client did not say that it can do tasks")
	}
	if q.out == nil {
		return jsonrpc.NotAcceptable()
	}
	one, ok := s.listeners.try(q.account, 1)
	defer s.listeners.give(q.account, one)
	if !ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many subscriptions at once; try again later", Status: 503}
	}
	agreed := s.agree(ctx, in.Notifications)
	changes, stop := s.listen(func(uri string) bool { return slices.Contains(agreed.URIs, uri) })
	defer stop()
	agreed.TaskIDs = s.follow(q, in.Notifications.TaskIDs, changes)
	defer s.unfollow(agreed.TaskIDs, q.subject, changes)
	acknowledged, err := json.Marshal(agreed)
	if err != nil {
		return s.internal("a subscription cannot be acknowledged", err)
	}
	note := changeNotification("subscriptions/acknowledged", "", q.ID)
	note = append(append(note[:len(note)-2], `,"notifications":`...), acknowledged...)
	if q.out.send(append(note, "}}"...)) != nil {
		return gone()
	}
	if !s.deliver(ctx, q, &agreed, changes) {
		return gone()
	}
	a.begin(q, append(append([]byte(`{"`+jsonrpc.MetaSubscription+`":`), q.ID...), '}'))
	a.end()
	return nil
}

// gone is the answer to a request that nobody waits for any more.
func gone() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the subscription was cancelled"}
}

// agree returns what of a filter can be served.
func (s *Server) agree(ctx context.Context, f *filter) filter {
	out := filter{Tools: f.Tools, Prompts: f.Prompts && s.prompts()}
	if s.resources() {
		out.Resources, out.URIs = f.Resources, f.URIs
		if _, view := s.gateway.Catalog().View(ctx); view != "" { // of what is not for them they hear nothing
			out.URIs = slices.DeleteFunc(slices.Clone(f.URIs), func(uri string) bool { return s.reader(ctx, uri) == nil })
		}
	}
	return out
}

// deliver sends changes until the client is gone, which is false, or the
// server ends the subscription. What changed before that end is said before it:
// a task that completes while the server stops must not be missed. Whoever is not
// known any more is told nothing further.
func (s *Server) deliver(ctx context.Context, q *request, f *filter, changes *changeFeed) bool {
	known, leave := s.whileKnown(ctx, q.sender)
	defer leave()
	silence := time.NewTicker(beat)
	defer silence.Stop()
	send := func() bool {
		catalog, uris := changes.take()
		return q.sendChanges(f, catalog, uris) && q.sendTasks(changes.takeTasks())
	}
	for {
		select {
		case <-changes.wake:
			if !send() {
				return false
			}
		case <-silence.C:
			if e, ok := q.out.(*events); ok && e.comment() != nil {
				return false
			}
		case <-q.closing:
			return send()
		case <-s.closing:
			return send()
		case <-known.Done():
			return ctx.Err() == nil
		}
	}
}

func (q *request) sendChanges(f *filter, catalog bool, uris []string) bool {
	var notes [][]byte
	for _, list := range [...]struct {
		wanted bool
		method string
	}{{f.Tools, "tools/list_changed"}, {f.Prompts, "prompts/list_changed"}, {f.Resources, "resources/list_changed"}} {
		if catalog && list.wanted {
			notes = append(notes, changeNotification(list.method, "", q.ID))
		}
	}
	for _, uri := range uris {
		notes = append(notes, changeNotification("resources/updated", uri, q.ID))
	}
	for _, n := range notes {
		if q.out.send(n) != nil {
			return false
		}
	}
	return true
}

// changeFeed collects changes for one listener. Changes that were not delivered
// yet are merged, because only the latest state counts.
type changeFeed struct {
	wants func(uri string) bool
	wake  chan struct{} // holds an element while there is something to take

	mu      sync.Mutex
	catalog bool
	uris    map[string]struct{}
	tasks   []*task
}

// listen returns a feed of the gateway's changes; wants says which resources
// matter.
func (s *Server) listen(wants func(uri string) bool) (f *changeFeed, stop func()) {
	f = &changeFeed{wants: wants, wake: make(chan struct{}, 1), uris: map[string]struct{}{}}
	return f, s.gateway.Subscribe(f.changed)
}

func (f *changeFeed) changed(c gateway.Event) {
	if c.URI != "" && !f.wants(c.URI) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.URI == "" {
		f.catalog = true
	} else if len(f.uris) < maxWatched {
		f.uris[c.URI] = struct{}{}
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take returns what changed since it was last called.
func (f *changeFeed) take() (catalog bool, uris []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	catalog, uris = f.catalog, slices.Sorted(maps.Keys(f.uris))
	f.catalog = false
	clear(f.uris)
	return catalog, uris
}

// changeNotification is a notification without or with a URI. It carries the id of a
// subscription; nil: there is none in its era.
func changeNotification(method, uri string, subscription []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/`), method...)
	if subscription == nil && uri == "" {
		return append(b, `"}`...)
	}
	b = append(b, `","params":{`...)
	if subscription != nil {
		b = append(append(b, `"_meta":{"`+jsonrpc.MetaSubscription+`":`...), subscription...)
		b = append(b, '}')
		if uri != "" {
			b = append(b, ',')
		}
	}
	if uri != "" {
		b = rawjson.AppendString(append(b, `"uri":`...), uri)
	}
	return append(b, "}}"...)
}

// pass sends the changes to a client of an older revision.
func (s *Server) pass(f *changeFeed, out notifier) error {
	catalog, uris := f.take()
	var notes [][]byte
	if catalog {
		notes = append(notes, changeNotification("tools/list_changed", "", nil))
		if s.resources() {
			notes = append(notes, changeNotification("resources/list_changed", "", nil))
		}
		if s.prompts() {
			notes = append(notes, changeNotification("prompts/list_changed", "", nil))
		}
	}
	for _, uri := range uris {
		notes = append(notes, changeNotification("resources/updated", uri, nil))
	}
	for _, n := range notes {
		if err := out.send(n); err != nil {
			return err
		}
	}
	return nil
}

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
func (f *changeFeed) taskChanged(t *task) {
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

func (f *changeFeed) takeTasks() []*task {
	f.mu.Lock()
	defer f.mu.Unlock()
	tasks := f.tasks
	f.tasks = nil
	return tasks
}

// follow lets a feed hear of the tasks of a client, and returns the ids of
// those that there are.
func (s *Server) follow(q *request, ids []string, changes *changeFeed) (followed []string) {
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
			t.heard = map[*changeFeed]struct{}{}
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

func (s *Server) unfollow(ids []string, subject tenon.Subject, changes *changeFeed) {
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
		a.write(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"` + jsonrpc.MetaSubscription + `":`)
		a.buf = append(append(a.buf, q.ID...), '}')
		t.describe(a, true)
		a.write("}}")
		if q.out.send(a.flat()) != nil {
			return false
		}
	}
	return true
}
