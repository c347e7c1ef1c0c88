package server

import (
	"cmp"
	"time"
)

// What one client, and all of them together, may make the server keep between
// requests. Whatever has a quota (the bytes of streams, tasks, listeners) one caller
// may have half of; sessions are shared otherwise, see sessionsOfOne. Calls at a time
// and bytes in flight are bounds of requests: see quota and [Options].

// Of a server, in all.
const (
	// Beyond it a session that is idle ends, see makeSpace; where none is, a client is
	// served without one.
	defaultSessions = 10_000
	// Longer than most pauses between two calls. Who comes later gets 404 and begins
	// anew, as the protocol has it.
	defaultIdle = 30 * time.Minute
	// Each is a connection that stays open, and a goroutine. More are refused with 503.
	defaultListeners = 1000
	// Bytes that streams keep for clients that come back. Beyond it the oldest events of
	// the stream are not replayed.
	maxHeldBytes = 256 << 20
	// Beyond it the client of a call that takes long waits for it, without a task.
	maxTasks = 1000
	// Bytes of results that wait to be asked for. Beyond it a result is lost, and its
	// task says that the call was executed.
	maxTaskBytes = 256 << 20
	// How long a task can be asked for after it was made.
	taskLife = time.Hour
)

// Of one session or client.
const (
	// Requests at a time. Beyond it they are refused with 503: a server has places for
	// 256 calls, and one session must not take them all.
	maxFlights = 64
	// Streams that are kept for a client to come back to. Beyond it the oldest goes for
	// which nobody waits.
	maxStreams = 16
	// Events of one stream, and their bytes. Beyond them the oldest are not replayed; an
	// answer that is larger itself is written and not kept.
	maxEvents     = 1000
	maxEventBytes = 1 << 20
	// Resources that it subscribed to, and tasks that it listens for: each is a text of
	// its own choice. Beyond it a subscription is refused.
	maxWatched = 1000
)

// Of one call.
const (
	// Questions that wait for an answer at a time, of a client or a task. Beyond it the
	// call fails.
	maxQuestions = 100
	// How often a person is asked who fills in what does not fit: a client without one
	// would go on for ever.
	maxTries = 3
	// How often a task's call is made again with answers, for the same reason.
	maxRounds = 16
	// Bytes that a client carries from round to round, and for how long: a person may
	// have to look something up.
	maxState  = 64 << 10
	stateLife = 10 * time.Minute
)

// boundSessions gives the options about sessions their defaults.
func (o *Options) boundSessions() {
	o.MaxSessions = cmp.Or(max(o.MaxSessions, 0), defaultSessions)
	o.SessionIdle = cmp.Or(max(o.SessionIdle, 0), defaultIdle)
	o.MaxListeners = cmp.Or(max(o.MaxListeners, 0), defaultListeners)
}

// sessionsOfOne is how many of all sessions one caller may have: most of them,
// because a proxy or an office is one address with many people behind it, and not
// all, so that somebody else finds room.
func sessionsOfOne(all int) int { return max(1, all-all/8) }

// sessionPause is how long a session is left alone after it was used, where its caller
// has as many as the operator allows and wants another.
const sessionPause = time.Minute

// makeSpaceOf returns how long a caller waits for another session because of its
// allowance; 0: not. A session that was not used for a while ends for it.
func (ss *sessions) makeSpaceOf(opener account) (wait time.Duration) {
	most := opener.allowance.Sessions
	if most <= 0 || int64(ss.openers[opener.key]) < most {
		return 0
	}
	ss.sweep()
	for int64(ss.openers[opener.key]) >= most {
		victim, idle := ss.longestIdle(opener.key)
		if victim == nil || idle < sessionPause {
			return sessionPause - idle
		}
		ss.drop(victim)
	}
	return 0
}

// longestIdle returns the session of a caller that is idle for the longest; nil: all
// are busy.
func (ss *sessions) longestIdle(opener string) (victim *session, idle time.Duration) {
	for _, s := range ss.by {
		used, busy := s.lastUse()
		if s.opener == opener && !busy && (victim == nil || time.Since(used) > idle) {
			victim, idle = s, time.Since(used)
		}
	}
	return victim, idle
}

// makeSpace reports whether a caller can have another session. Where there are too
// many, one that is idle ends: of the caller's own where it has its share, else of
// who has the most.
func (ss *sessions) makeSpace(opener string) bool {
	if time.Since(ss.swept) > ss.idle/4 || len(ss.by) >= ss.max { // what expired would keep its streams
		ss.sweep()
	}
	if len(ss.by) < ss.max && ss.openers[opener] < ss.each {
		return true
	}
	return ss.evictIdle(opener)
}

// sweep ends what expired.
func (ss *sessions) sweep() {
	ss.swept = time.Now()
	for _, s := range ss.by {
		if used, busy := s.lastUse(); !busy && time.Since(used) > ss.idle {
			ss.drop(s)
		}
	}
}

// evictIdle ends the session that is idle for the longest, of those whose caller
// has the most.
func (ss *sessions) evictIdle(opener string) bool {
	own := ss.openers[opener] >= ss.each
	var victim *session
	var since time.Time
	for _, s := range ss.by {
		used, busy := s.lastUse()
		if busy || own && s.opener != opener || !own && ss.openers[s.opener] < ss.openers[opener] {
			continue
		}
		more := victim == nil || ss.openers[s.opener] > ss.openers[victim.opener]
		if more || ss.openers[s.opener] == ss.openers[victim.opener] && used.Before(since) {
			victim, since = s, used
		}
	}
	if victim == nil {
		return false
	}
	ss.drop(victim)
	return true
}

func (s *session) lastUse() (used time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.busy > 0
}
