package tenon_test

import (
	"testing"

	"github.com/tenon-mcp/tenon"
)

// TestADiagnosticIsOneLine that does nothing to the terminal that shows it.
func TestADiagnosticIsOneLine(t *testing.T) {
	d := tenon.Diagnostic{File: "a\x1b[31m.json", Line: 7, Message: "two\nlines\x00\u202eand \xff", Hint: "é\a"}
	if got, want := d.String(), `a\x1b[31m.json:7: two lines\x00\u202eand � (é\a)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
