package tenon

// Verdict says how a response compares with its contract.
type Verdict string

// The verdicts.
const (
	Fits       Verdict = "fits"
	Repaired   Verdict = "repaired" // it fits after the listed changes
	Violated   Verdict = "violated"
	Undeclared Verdict = "undeclared" // a status or media type that the description does not name
	Unchecked  Verdict = "unchecked"  // the body is not described, or its schema cannot be compiled
)
