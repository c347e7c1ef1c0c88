package server

// Rules are the numbers of all rules.
func Rules() (all []uint64) {
	for r := rule(1); r < endOfRules; r <<= 1 {
		all = append(all, uint64(r))
	}
	return all
}

// SwitchOff switches rules off.
func (s *Server) SwitchOff(rules uint64) { s.off = rule(rules) }

// Hold bounds what all streams keep, and Held is what they do.
func (s *Server) Hold(most int64) { s.sessions.held.most = most }

// Held is the number of bytes that all streams keep.
func (s *Server) Held() int64 { return s.sessions.held.bytes.Load() }
