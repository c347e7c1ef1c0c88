package server

import "strings"

// Hold bounds what all streams keep, and Held is what they do.
func (s *Server) Hold(most int64) { s.sessions.held.init(most, most) }

// Held is the number of bytes that all streams keep.
func (s *Server) Held() int64 { return s.sessions.held.held() }

// InFlight is the number of bytes that answers and messages hold, and Calls
// that of places.
func (s *Server) InFlight() (answers, messages, calls int64) {
	return s.outgoing.held(), s.incoming.held(), s.calls.held()
}

// Standing is the number of tasks and subscriptions.
func (s *Server) Standing() (tasks, subscriptions, streams int64) {
	return s.tasks.count.held(), s.listeners.held(), s.standers.held()
}

// HoldTasks bounds the tasks.
func (s *Server) HoldTasks(most int64) { s.tasks.count.init(most, 0) }

// Kept is the number of streams that a session keeps; header is that of its id.
func (s *Server) Kept(header string) int {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	v := s.sessions.by[strings.TrimPrefix(header, headerSession+": ")]
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.streams)
}
