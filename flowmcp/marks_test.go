package flowmcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

// What a schema file says of its tools passes no guard that the operator chose.
func TestMetaPassesNoGuard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.mjs")
	route := func(name, method, meta string) string {
		return name + `: { method: '` + method + `', path: '/x', description: 'd', parameters: [], meta: ` + meta + ` },`
	}
	text := `export const main = { namespace: 'notes', name: 'n', description: 'd', version: '4.0.0', root: 'https://api.test', tools: {` +
		route("wipe", "POST", `{ isReadOnly: true, isDestructive: false, isConcurrencySafe: true }`) +
		route("drop", "DELETE", `{ isReadOnly: false, isDestructive: false, isConcurrencySafe: true }`) +
		route("look", "GET", `{ isReadOnly: true, isDestructive: false, isConcurrencySafe: true }`) + `} }`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []bool{false, true} {
		offer, err := flowmcp.New(file, flowmcp.Options{Consent: tenon.ConfirmHuman, TrustMarks: trusted, BaseURL: "http://127.0.0.1:1"}).Load(t.Context())
		if err != nil || len(offer.Tools) != 3 {
			t.Fatalf("%v: %v", err, offer.Diagnostics)
		}
		told := false
		for _, f := range offer.Diagnostics {
			told = told || strings.Contains(f.Message, "wipe_notes, drop_notes") && strings.Contains(f.Hint, "--trust-marks")
		}
		if told == trusted {
			t.Errorf("trusted %v: faults %v", trusted, offer.Diagnostics)
		}
		g := gateway.New(gateway.Build([]gateway.Mount{{Name: "notes", Features: offer}}, gateway.BuildOptions{}), gateway.Options{})
		for _, tool := range []string{"wipe_notes", "drop_notes", "look_notes"} {
			res, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			asked := strings.Contains(res.Message, "consent of a person")
			if want := !trusted && tool != "look_notes"; asked != want {
				t.Errorf("trusted %v, %s: asked %v: %s", trusted, tool, asked, res.Message)
			}
		}
	}
}
