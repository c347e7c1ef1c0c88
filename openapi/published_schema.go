package openapi

import (
	"fmt"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

// short is the schema of an answer as it is published.
type short struct {
	doc  []byte
	name string // of the component that it is; empty: it is none
	full int    // bytes of the whole schema
	how  schema.Relaxation
}

// maxShorts bounds, in bytes, what is kept of schemas that answers share.
const maxShorts = 8 << 20

// shorts are the published schemas of answers that are a component each: half
// of the operations of a document answer with what another one answers with.
type shorts struct {
	known map[*definition]short
	bytes int
}

// onlyDescribed is the position of the one answer that has a schema, and no
// other budget than its own; -1: there is none or more than one.
func onlyDescribed(all []answer) int {
	only := -1
	for i := range all {
		switch {
		case isStream(all[i].media):
			return -1
		case !all[i].schema.ok():
		case only >= 0:
			return -1
		default:
			only = i
		}
	}
	return only
}

// shortVariant is variant within the budget.
func (o *operation) shortVariant(a answer, fault func(v value, what string)) tenon.ResponseSchema {
	s := o.api.short(a.schema)
	if s.how != schema.None {
		fault(o.node, relaxed("output schema "+a.status, s.full, len(s.doc), s.how))
	}
	return tenon.ResponseSchema{Status: a.status, MediaType: a.media, Schema: s.doc, Name: s.name, Example: o.example(a.entry)}
}

func (a *api) short(s value) short {
	f := a.doc.convert(s, output)
	body := objectSchema(f.body)
	shared := len(f.deps) == 1 && f.deps[0].isAll(body)
	if shared {
		a.mu.Lock()
		made, ok := a.shorts.known[f.deps[0]]
		a.mu.Unlock()
		if ok {
			return made
		}
	}
	full := assemble(body, f.deps)
	made := short{full: len(full)}
	made.doc, made.how = relax(full, a.options.MaxOutputSchema)
	if shared {
		made.name = f.deps[0].name
		a.keep(f.deps[0], made)
	}
	return made
}

func (a *api) keep(d *definition, s short) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shorts.bytes += len(s.doc); a.shorts.bytes > maxShorts {
		return
	}
	if a.shorts.known == nil {
		a.shorts.known = map[*definition]short{}
	}
	a.shorts.known[d] = s
}

// relaxed says that a schema is not published in full.
func relaxed(which string, before, after int, how schema.Relaxation) string {
	return fmt.Sprintf("%s of %d bytes is relaxed to %d: %v", which, before, after, how)
}
