package openapi

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// The rule of this file: a document may ask for more care than the methods of
// its operations do, never for less. Who wrote it decides neither what passes
// --read-only nor what a person is asked about; the operator does, who trusts
// the document as a whole (Options.TrustMarks) or marks operations.

// unbelieved is a mark that does nothing.
type unbelieved struct {
	at   value
	what string
}

// distrust takes from c, which the document says of o, what would make calls
// less careful than the method asks for.
func (o *operation) distrust(c *OperationOverride) {
	additive := o.method == "POST" && !o.takesAway()
	for _, m := range []struct {
		name     string
		mark     **bool
		harmless bool // the value that says that less care will do
		anyway   bool // the method says so itself
	}{
		{"x-mcp-safe", &c.Safe, true, isSafe(o.method)},
		{"x-mcp-destructive", &c.Destructive, false, isSafe(o.method) || additive},
		{"x-mcp-idempotent", &c.Idempotent, true, repeatableMethod(o.method)},
		{"x-mcp-open-world", &c.OpenWorld, false, false},
	} {
		if *m.mark == nil || **m.mark != m.harmless || m.anyway {
			continue
		}
		*m.mark = nil
		o.api.unbelieved = append(o.api.unbelieved, unbelieved{o.node, fmt.Sprintf("%s of %s %s", m.name, o.method, o.path)})
	}
}

// unbelievedMarks tells of the marks that do nothing, in one fault.
func (a *api) unbelievedMarks() []tenon.Diagnostic {
	const shown = 3
	n := len(a.unbelieved)
	if n == 0 {
		return nil
	}
	names := make([]string, 0, shown)
	for _, u := range a.unbelieved[:min(n, shown)] {
		names = append(names, u.what)
	}
	what := "marks of the document that call for less care than a method does are not believed: " + strings.Join(names, ", ")
	if n > shown {
		what += fmt.Sprintf(" and %d more", n-shown)
	}
	return []tenon.Diagnostic{a.doc.fault(a.unbelieved[0].at, what, "--mark-safe RULE marks an operation, --trust-marks believes the whole document")}
}
