package audit

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Refusal is what somebody sent that was refused before it was a call: without a
// credential or with a wrong one, for a foreign host or session, too large, or one too
// many.
type Refusal struct {
	Status  int    // of HTTP
	Reason  string // as the client was told
	Peer    string // the network address that it came from; empty: not known
	Subject string // who sent it, where that is known
	Tool    string // the name that was called, where there was no room for the call
}

// A flood of refused requests is cheap to send, and must not fill a disk: of each
// status some are written one by one, and the rest of a minute is one line that
// counts them.
const (
	refusalWindow = time.Minute
	refusalsOfOne = 60  // lines of one status in a window
	maxOfRefusal  = 512 // bytes of a reason
)

// refusals bounds the lines about refused requests.
type refusals struct {
	mu     sync.Mutex
	by     map[int]*window // by status
	closed bool
}

// window is what was refused with one status since its first one.
type window struct {
	written, left int
	end           *time.Timer
}

// Refused writes the line of a refused request, or counts it. What has no proper form
// has none: it is about a program that is wrong, and would quote what it sent.
func (l *Log) Refused(r Refusal) {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusServiceUnavailable:
	default:
		return
	}
	if !l.refusals.admit(l, r.Status) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = appendRefusal(l.line[:0], r.Status, 0)
	l.line = appendLimited(l.line, "refused", r.Reason, maxOfRefusal)
	if r.Peer != "" {
		l.line = appendText(l.line, "peer", r.Peer)
	}
	if r.Subject != "" {
		l.line = appendText(l.line, "subject", r.Subject)
	}
	if r.Tool != "" {
		l.line = appendLimited(l.line, "called_as", r.Tool, maxOfRefusal)
	}
	l.line = append(l.line, "}\n"...)
	l.put()
}

// admit reports whether a refusal has a line of its own.
func (k *refusals) admit(l *Log, status int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.by[status]
	if w == nil {
		if k.closed {
			return false
		}
		if k.by == nil {
			k.by = map[int]*window{}
		}
		w = &window{}
		w.end = time.AfterFunc(refusalWindow, func() { k.settle(l, status) })
		k.by[status] = w
	}
	if w.written == refusalsOfOne {
		w.left++
		return false
	}
	w.written++
	return true
}

// settle ends a window, and says how many had no line.
func (k *refusals) settle(l *Log, status int) {
	k.mu.Lock()
	w := k.by[status]
	delete(k.by, status)
	k.mu.Unlock()
	if w == nil || w.left == 0 { // Close was first
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = append(appendRefusal(l.line[:0], status, w.left), "}\n"...)
	l.put()
}

// close ends all windows.
func (k *refusals) close(l *Log) {
	k.mu.Lock()
	k.closed = true
	var statuses []int
	for status, w := range k.by {
		w.end.Stop()
		statuses = append(statuses, status)
	}
	k.mu.Unlock()
	for _, status := range statuses {
		k.settle(l, status)
	}
}

// appendRefusal begins the line of a refusal; left are those that have none.
func appendRefusal(b []byte, status, left int) []byte {
	b = appendTime(b, time.Now())
	b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	if left > 0 {
		b = strconv.AppendInt(append(b, `,"not_written":`...), int64(left), 10)
	}
	return b
}
