package flowmcp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// marked tells whether only the MCP block says that no consent is needed: the
// method alone would say that the route may change something. What the operator
// chose, a person who is asked or tools that only read, does not go by such a
// mark unless the files are trusted.
func (t *route) marked(o *Options, c tenon.ConfirmRule) bool {
	return !o.TrustMarks && c.Action == "" && t.meta != nil && t.method != http.MethodGet && t.method != http.MethodHead
}

// tellMarked says once which tools the operator's guards do not let pass on the
// word of a schema file.
func (b *offerer) tellMarked() {
	const shown = 3
	var names []string
	for _, t := range b.offer.Tools {
		if t.Confirmation.Marked {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	n := len(names)
	text := strings.Join(names[:min(n, shown)], ", ")
	if n > shown {
		text += fmt.Sprintf(" and %d more", n-shown)
	}
	what := "only their meta marks these tools as harmless, not their method, which --read-only and --confirm do not believe: " + text
	b.offer.Diagnostics = append(b.offer.Diagnostics, tenon.Diagnostic{Message: what, Hint: "--trust-marks believes the schema files"})
}
