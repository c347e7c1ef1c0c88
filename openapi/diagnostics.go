package openapi

import (
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxFaults bounds what a document full of faults can make us keep.
const maxFaults = 1000

// place tells one fault from another.
type place struct {
	file *file
	node rawjson.Node
	line int // where no node is known
	what string
}

// faultList collects faults, each once: a schema is converted in both
// directions and from many operations.
type faultList struct {
	mu   sync.Mutex
	seen map[place]struct{}
	list []tenon.Diagnostic
}

func (l *faultList) add(p place, f tenon.Diagnostic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.seen[p]; again || len(l.list) >= maxFaults {
		return
	}
	if l.seen == nil {
		l.seen = make(map[place]struct{})
	}
	l.seen[p] = struct{}{}
	l.list = append(l.list, f)
}

// conversionFaults returns what was found wrong with the schemas that were
// converted up to now, in the order in which it was found, and before that
// what was lost while the document was read.
func (d *document) conversionFaults() []tenon.Diagnostic {
	d.told.mu.Lock()
	defer d.told.mu.Unlock()
	return slices.Clone(d.told.list)
}

// note collects a fault of conversion.
func (d *document) note(v value, what string) {
	d.told.add(place{file: v.file, node: v.node, what: what}, d.fault(v, what, ""))
}
