package envelope_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/internal/envelope"
)

func TestInputsAreSafe(t *testing.T) {
	tests := map[string]struct {
		doc, want string
		told      string // the last change; empty: none
	}{
		"none":                  {"", `{"type":"object"}`, ""},
		"one that is safe":      {`{"type":"object"}`, `{"type":"object"}`, ""},
		"one that is no object": {`{"type":"string"}`, `{"type":"object"}`, "cannot be made safe for clients and is not published"},
		"no JSON":               {`{`, `{"type":"object"}`, "cannot be made safe for clients and is not published"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var doc []byte
			if tt.doc != "" {
				doc = []byte(tt.doc)
			}
			var u envelope.Published
			safe, changes := u.Input(doc)
			told := ""
			if len(changes) > 0 {
				told = changes[len(changes)-1].Message
			}
			if string(safe) != tt.want || told != tt.told {
				t.Errorf("%s, %v", safe, changes)
			}
		})
	}
}
