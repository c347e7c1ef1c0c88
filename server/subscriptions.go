package server

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
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
func (s *Server) subscribe(ctx context.Context, q *request, a *answer) *rpcError {
	var in struct{ Notifications *filter }
	if json.Unmarshal(q.params, &in) != nil || in.Notifications == nil {
		return invalidParams("notifications is an object that says what to listen to")
	}
	if max(len(in.Notifications.URIs), len(in.Notifications.TaskIDs)) > maxWatched {
		return invalidParams("more than " + strconv.Itoa(maxWatched) + " resources or tasks in one subscription")
	}
	if len(in.Notifications.TaskIDs) > 0 && s.hasTasks() && !q.takesTasks() {
		return needsTasks("the client did not say that it can do tasks")
	}
	if q.out == nil {
		return notAcceptable()
	}
	one, ok := s.listeners.try(q.account, 1)
	defer s.listeners.give(q.account, one)
	if !ok || s.lax(ruleSeveral) && s.listeners.held() > 1 {
		return &rpcError{code: codeInternal, message: "too many subscriptions at once; try again later", status: 503}
	}
	agreed := s.agree(in.Notifications)
	changes, stop := s.listen(func(uri string) bool { return slices.Contains(agreed.URIs, uri) })
	defer stop()
	agreed.TaskIDs = s.follow(q, in.Notifications.TaskIDs, changes)
	defer s.unfollow(agreed.TaskIDs, q.subject, changes)
	acknowledged, err := json.Marshal(agreed)
	if err != nil {
		return s.internal("a subscription cannot be acknowledged", err)
	}
	note := changeNote("subscriptions/acknowledged", "", q.id)
	note = append(append(note[:len(note)-2], `,"notifications":`...), acknowledged...)
	if !s.lax(ruleAcknowledge) && q.out.send(append(note, "}}"...)) != nil {
		return gone()
	}
	if !s.deliver(ctx, q, &agreed, changes) {
		return gone()
	}
	a.begin(q, append(append([]byte(`{"`+metaSubscription+`":`), q.id...), '}'))
	a.end()
	return nil
}

// gone is the answer to a request that nobody waits for any more.
func gone() *rpcError {
	return &rpcError{code: codeInternal, message: "the subscription was cancelled"}
}

// agree returns what of a filter can be served.
func (s *Server) agree(f *filter) filter {
	if s.lax(ruleFilter) {
		return filter{Tools: true, Prompts: true, Resources: true, URIs: f.URIs}
	}
	out := filter{Tools: f.Tools, Prompts: f.Prompts && s.prompts()}
	if s.resources() {
		out.Resources, out.URIs = f.Resources, f.URIs
	}
	return out
}

// deliver sends changes until the client is gone, which is false, or the
// server ends the subscription. What changed before that end is said before it:
// a task that completes while the server stops must not be missed.
func (s *Server) deliver(ctx context.Context, q *request, f *filter, changes *feed) bool {
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
			return send() && !s.lax(ruleGoodbye)
		case <-ctx.Done():
			return false
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
			notes = append(notes, changeNote(list.method, "", q.id))
		}
	}
	for _, uri := range uris {
		notes = append(notes, changeNote("resources/updated", uri, q.id))
	}
	for _, n := range notes {
		if q.server.lax(ruleSubscription) {
			n = bytes.ReplaceAll(n, []byte(metaSubscription), []byte("x"))
		}
		if q.out.send(n) != nil {
			return false
		}
	}
	return true
}
