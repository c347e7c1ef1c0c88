package ecmaregexp

// Stepwise is p for the backtracking matcher, also where RE2 can run it.
func Stepwise(p *Pattern) *Pattern {
	n, groups, err := parse(p.Source)
	if err != nil {
		panic(err)
	}
	return &Pattern{Source: p.Source, Size: n.steps(), prog: newProgram(n, groups)}
}
