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
)

// session is a client of the legacy era over HTTP, from initialize to DELETE.
type session struct {
	*peer
	id      string
	subject tenon.Subject
	caller  string // who opened it; empty: nobody is known
	held    *held
	over    context.Context //nolint:containedctx // ends with the session
	end     context.CancelFunc

	mu      sync.Mutex // guards all below; nothing blocks under it
	used    time.Time
	busy    int // requests and streams that are open
	streams []*replay
	next    uint64
}

// sessions are those that live.
type sessions struct {
	max  int
	idle time.Duration
	held held

	mu    sync.Mutex
	by    map[string]*session
	swept time.Time // when those that expired were last looked for
}

// The bounds of one session.
const (
	maxStreams = 16 // that are kept for a client to come back to
	maxFlights = 64 // requests at a time
)

// mint opens a session. Where there are too many, the one that is idle for the
// longest ends; nil: none is idle.
func (ss *sessions) mint() *session {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	id := hex.EncodeToString(b[:])
	sum := sha256.Sum256([]byte(id))
	s := &session{
		peer: newPeer(), id: id, used: time.Now(), held: &ss.held,
		subject: tenon.Subject("session " + hex.EncodeToString(sum[:8])), // the id itself opens the session
	}
	s.over, s.end = context.WithCancel(context.Background())
	ss.mu.Lock()
	defer ss.mu.Unlock()
	full := len(ss.by) >= ss.max
	if full || time.Since(ss.swept) > ss.idle/4 { // what expired would keep its streams
		ss.swept = time.Now()
		if !ss.makeRoom() {
			return nil
		}
	}
	ss.by[id] = s
	return s
}

// makeRoom ends what expired, or else the one idle session that waited longest.
func (ss *sessions) makeRoom() bool {
	var oldest *session
	var since time.Time
	for _, s := range ss.by {
		used, busy := s.lastUse()
		switch {
		case busy:
		case time.Since(used) > ss.idle:
			ss.drop(s)
		case oldest == nil || used.Before(since):
			oldest, since = s, used
		}
	}
	if len(ss.by) >= ss.max && oldest != nil {
		ss.drop(oldest)
	}
	return len(ss.by) < ss.max
}

func (s *session) lastUse() (used time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.busy > 0
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
		s.end()
		s.cancelAll()
		s.releaseAll()
	}
}

// cancelAll ends all that is under way: nobody can hear of it any more.
func (p *peer) cancelAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.flights {
		f.cancel()
	}
}

// stream opens a stream of the session. It forgets the oldest that ended.
func (s *session) stream() *replay {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	r := newReplay(s.next, s.held)
	r.resumable = s.speaks() == newestLegacyRevision
	if len(s.streams) >= maxStreams {
		i := max(slices.IndexFunc(s.streams, (*replay).isOver), 0)
		s.streams[i].release()
		s.streams = slices.Delete(s.streams, i, i+1)
	}
	s.streams = append(s.streams, r)
	return r
}

func (s *session) releaseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.streams {
		r.release()
	}
}

// forget drops a stream to which nobody comes back.
func (s *session) forget(r *replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.release()
	s.streams = slices.DeleteFunc(s.streams, func(x *replay) bool { return x == r })
}

func (s *session) streamOf(id uint64) *replay {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.streams, func(r *replay) bool { return r.id == id }); i >= 0 {
		return s.streams[i]
	}
	return nil
}

func (r *replay) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// until returns a context that ends with ctx or the session.
func (s *session) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.over, cancel)
	return ctx, func() { stop(); cancel() }
}
