package envelope

import (
	"sync"

	"github.com/tenon-mcp/tenon/schema"
)

// Published makes the schemas of a source's tools such that every client can
// read them. Half of the operations of a document answer with what another one
// answers with: such a schema is made once. The zero value is ready. It is safe
// for concurrent use.
type Published struct {
	safety schema.Compatibility
	known  sync.Map // alike → Output
}

// Output is an output schema as it is published.
type Output struct {
	Schema  []byte // nil: nothing is promised, or Changes say why it cannot be had
	Wraps   bool   // the value stands under "result"
	Changes []schema.Change
}

// alike is what two promises have in common that are published alike.
type alike struct {
	shape, name, media, wrapper string
	advice, consent             bool
}

// Input makes an input schema safe. Where there is none, and where that cannot be
// had, any object is accepted.
func (u *Published) Input(doc []byte) (safe []byte, changes []schema.Change) {
	if doc != nil {
		safe, changes = u.safe(doc)
	}
	if safe == nil {
		safe = []byte(`{"type":"object"}`)
	}
	return safe, changes
}

// Output publishes what a tool promises, in a shape.
func (u *Published) Output(p Contract, shape string, publish func(Contract) (doc []byte, wraps bool)) Output {
	if len(p.Successes) != 1 || p.Successes[0].Name == "" {
		return u.make(p, publish)
	}
	v := p.Successes[0]
	key := alike{shape, v.Name, v.Media, p.Wrapper, p.Advice, p.Consent}
	if known, ok := u.known.Load(key); ok {
		return known.(Output) //nolint:forcetypeassert,errcheck // nothing else is stored
	}
	made := u.make(p, publish)
	u.known.Store(key, made)
	return made
}

func (u *Published) make(p Contract, publish func(Contract) ([]byte, bool)) Output {
	p.parsed = true
	doc, wraps := publish(p)
	if doc == nil {
		return Output{}
	}
	safe, changes := u.safe(doc)
	if safe == nil { // perhaps a schema is no JSON: then it alone is left out
		p.parsed = false
		doc, wraps = publish(p)
		safe, changes = u.safe(doc)
	}
	return Output{safe, wraps, changes}
}

func (u *Published) safe(doc []byte) ([]byte, []schema.Change) {
	safe, changes := u.safety.Of(doc)
	if safe == nil {
		changes = append(changes, schema.Change{Message: "cannot be made safe for clients and is not published"})
	}
	return safe, changes
}
