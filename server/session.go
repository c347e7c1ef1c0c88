package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// session is a client of the legacy era over HTTP, from initialize to DELETE.
type session struct {
	*clientState
	id      string
	public  string // names it, and does not open it
	opened  time.Time
	subject tenon.Subject
	caller  string // who opened it; empty: nobody is known
	account account
	opener  string // on whose account it was opened
	held    *quota
	over    context.Context //nolint:containedctx // ends with the session
	end     context.CancelFunc
	unread  func(*answer) // releases an answer

	mu      sync.Mutex // guards all below; nothing blocks under it
	used    time.Time
	busy    int // requests and streams that are open
	streams []*eventStream
	next    uint64
	ended   bool
}

// sessions are those that live.
type sessions struct {
	max  int
	each int // of one caller
	idle time.Duration
	held quota          // bytes of all streams
	told func(*session) // that a session has ended; it must not block

	mu      sync.Mutex
	by      map[string]*session
	openers map[string]int // how many each caller has
	swept   time.Time      // when those that expired were last looked for
	closed  bool
}

func (ss *sessions) init(o *Options) {
	ss.max, ss.each, ss.idle = o.MaxSessions, sessionsOfOne(o.MaxSessions), o.SessionIdle
	ss.by, ss.openers, ss.swept = map[string]*session{}, map[string]int{}, time.Now()
	ss.held.init(maxHeldBytes, 0)
}

// mint opens a session; nil: there is no capacity for one, or, where wait says for how
// long, the opener has as many as it may have.
func (ss *sessions) mint(opener account) (s *session, wait time.Duration) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	id := hex.EncodeToString(b[:])
	sum := sha256.Sum256([]byte(id))
	public := hex.EncodeToString(sum[:8]) // the id itself opens the session
	subject := "session " + public
	s = &session{
		clientState: newClientState(), id: id, public: public, opened: time.Now(), used: time.Now(), held: &ss.held, opener: opener.key,
		subject: tenon.Subject(subject), account: account{key: subject, origin: opener.origin, allowance: opener.allowance},
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.closed {
		return nil, 0
	}
	if wait := ss.makeSpaceOf(opener); wait > 0 {
		return nil, wait
	}
	if !ss.makeSpace(opener.key) {
		return nil, 0
	}
	s.over, s.end = context.WithCancel(context.Background())
	ss.by[id] = s
	ss.openers[s.opener]++
	return s, 0
}

// find returns a session that lives and marks it as used until leave.
func (ss *sessions) find(id string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s := ss.by[id]
	if s == nil {
		return nil
	}
	if used, busy := s.lastUse(); !busy && time.Since(used) > ss.idle {
		ss.drop(s)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	return s
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.used = time.Now()
}

func (ss *sessions) end(s *session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.drop(s)
}

// shut opens no session any more.
func (ss *sessions) shut() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.closed = true
}

// endAll ends every session, for a server that shuts down.
func (ss *sessions) endAll() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, s := range ss.by {
		ss.drop(s)
	}
}

func (ss *sessions) drop(s *session) {
	if ss.by[s.id] == s {
		delete(ss.by, s.id)
		if ss.openers[s.opener]--; ss.openers[s.opener] == 0 {
			delete(ss.openers, s.opener)
		}
		s.end()
		s.cancelAll()
		s.releaseAll()
		ss.told(s)
	}
}

// cancelAll ends all that is under way: nobody can hear of it any more.
func (p *clientState) cancelAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.flights {
		f.cancel()
	}
}

// stream opens a stream of the session. It forgets the oldest of those that
// nobody waits for.
func (s *session) stream() *eventStream {
	return s.open(func(*eventStream) {})
}

// direct opens a stream whose messages are written when they are sent.
func (s *session) direct() *eventStream {
	return s.open(func(r *eventStream) { r.direct = true })
}

// stand opens a stream of changes. One that a client left, and did not come
// back to, makes room for it.
func (s *session) stand(changes *changeFeed, unlisten func()) *eventStream {
	s.mu.Lock()
	var left []*eventStream
	s.streams = slices.DeleteFunc(s.streams, func(r *eventStream) bool {
		if leaves := r.isLeft(); leaves {
			left = append(left, r)
			return true
		}
		return false
	})
	s.mu.Unlock()
	for _, r := range left {
		r.release()
	}
	return s.open(func(r *eventStream) { r.changes, r.unlisten = changes, unlisten })
}

func (s *session) open(prepare func(*eventStream)) *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	r := newEventStream(s.next, s.held, s.account)
	r.resumable = s.speaks() == jsonrpc.NewestLegacyRevision
	prepare(r)
	if s.ended { // nobody can come back
		r.release()
		return r
	}
	if len(s.streams) >= maxStreams {
		if i := slices.IndexFunc(s.streams, (*eventStream).isIdle); i >= 0 {
			s.streams[i].release()
			s.streams = slices.Delete(s.streams, i, i+1)
		}
	}
	s.streams = append(s.streams, r)
	return r
}

// releaseAll ends what was kept; no stream of the session keeps anything from
// now on.
func (s *session) releaseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, r := range s.streams {
		if a := r.release(); a != nil {
			s.unread(a)
		}
	}
	s.streams = nil
}

// forget drops a stream to which nobody comes back.
func (s *session) forget(r *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := r.release(); a != nil {
		s.unread(a)
	}
	s.streams = slices.DeleteFunc(s.streams, func(x *eventStream) bool { return x == r })
}

func (s *session) streamOf(id uint64) *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.streams, func(r *eventStream) bool { return r.id == id }); i >= 0 {
		return s.streams[i]
	}
	return nil
}

// isIdle reports whether the stream can be forgotten: nothing that somebody
// waits for goes over it.
func (r *eventStream) isIdle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended || r.direct || r.changes != nil && !r.read
}

// isLeft reports whether it is a standing stream without a reader.
func (r *eventStream) isLeft() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes != nil && !r.read && r.reader > 0
}

// until returns a context that ends with ctx or the session.
func (s *session) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.over, cancel)
	return ctx, func() { stop(); cancel() }
}
