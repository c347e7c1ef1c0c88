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
