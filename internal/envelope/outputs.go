package envelope

import "github.com/tenon-mcp/tenon/internal/publish"

// Published makes the schemas of a source's tools readable for every client.
// A pattern that several of them have is looked at once. The zero value is ready.
// It is safe for concurrent use.
type Published struct {
	safety publish.Compatibility
}

// Output is an output schema as it is published.
type Output struct {
	Schema  []byte // nil: none, for the reason in Changes if something is declared
	Wraps   bool   // the value is wrapped as "result"
	Changes []publish.Change
}

// Input adapts an input schema to clients. Without one, or if that fails, any
// object is accepted.
func (u *Published) Input(doc []byte) (safe []byte, changes []publish.Change) {
	if doc != nil {
		safe, changes = u.safe(doc, true)
	}
	if safe == nil {
		safe = []byte(`{"type":"object"}`)
	}
	return safe, changes
}

// Output returns the published output schema of a contract in an envelope.
func (u *Published) Output(p Contract, write func(Contract) (doc []byte, wraps bool)) Output {
	p.parsed = true
	doc, wraps := write(p)
	if doc == nil {
		return Output{}
	}
	safe, changes := u.safe(doc, false)
	if safe == nil { // perhaps one schema is invalid JSON: then only that is left out
		p.parsed = false
		doc, wraps = write(p)
		safe, changes = u.safe(doc, false)
	}
	return Output{safe, wraps, changes}
}

// safe adapts a schema to clients. What a Go function returns as a tuple is published as
// the official SDKs publish it, without items.
func (u *Published) safe(doc []byte, tuples bool) ([]byte, []publish.Change) {
	safe, changes := u.safety.WithItems(doc, tuples)
	if safe == nil {
		changes = append(changes, publish.Change{Message: "cannot be made safe for clients and is not published"})
	}
	return safe, changes
}
