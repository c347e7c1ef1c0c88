package document

import (
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// MaxDiagnostics bounds the diagnostics that are kept for one document.
const MaxDiagnostics = 1000

// diagnosticKey identifies a diagnostic.
type diagnosticKey struct {
	file *File
	node rawjson.Node
	line int // if no node is known
	what string
}

// diagnosticList collects diagnostics without duplicates: a schema is converted in
// both directions and from many operations.
type diagnosticList struct {
	mu   sync.Mutex
	seen map[diagnosticKey]struct{}
	list []tenon.Diagnostic
}

func (l *diagnosticList) add(p diagnosticKey, f tenon.Diagnostic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.seen[p]; again || len(l.list) >= MaxDiagnostics {
		return
	}
	if l.seen == nil {
		l.seen = make(map[diagnosticKey]struct{})
	}
	l.seen[p] = struct{}{}
	l.list = append(l.list, f)
}

// Diagnostics returns the diagnostics of reading the document and of the
// schemas that were converted up to now, in order.
func (d *Document) Diagnostics() []tenon.Diagnostic {
	d.diagnostics.mu.Lock()
	defer d.diagnostics.mu.Unlock()
	return slices.Clone(d.diagnostics.list)
}

// AddDiagnostic adds a diagnostic of conversion.
func (d *Document) AddDiagnostic(v Value, what string) {
	d.diagnostics.add(diagnosticKey{file: v.File, node: v.Node, what: what}, d.Diagnostic(v, what, ""))
}
