package tenon

// Verdict says how an answer stands to its contract.
type Verdict string

// The verdicts.
const (
	Fits       Verdict = "fits"
	Repaired   Verdict = "repaired" // it fits after changes that are listed
	Violated   Verdict = "violated"
	Undeclared Verdict = "undeclared" // a status or media type that the description does not name
	Unchecked  Verdict = "unchecked"  // the description says nothing about such a body, or what it says cannot be run
)
