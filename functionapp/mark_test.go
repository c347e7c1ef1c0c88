package functionapp_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/functionapp"
)

// TestMarkBeforeAnAnswer: some frameworks write a byte order mark before JSON.
func TestMarkBeforeAnAnswer(t *testing.T) {
	r, err := functionapp.ReadResponse([]byte("\xef\xbb\xbf" + `{"Outputs":{},"Logs":null,"ReturnValue":"x"}`))
	if err != nil || string(r.ReturnValue) != `"x"` {
		t.Errorf("%s, %v", r.ReturnValue, err)
	}
}
