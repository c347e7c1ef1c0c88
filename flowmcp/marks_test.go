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
		features, err := flowmcp.New(file, flowmcp.Options{Confirm: tenon.ConfirmHuman, TrustMarks: trusted, BaseURL: "http://127.0.0.1:1"}).Load(t.Context())
		if err != nil || len(features.Tools) != 3 {
			t.Fatalf("%v: %v", err, features.Diagnostics)
		}
		reported := false
		for _, f := range features.Diagnostics {
			reported = reported || strings.Contains(f.Message, "wipe_notes, drop_notes") && strings.Contains(f.Hint, "--trust-marks")
		}
		if reported == trusted {
			t.Errorf("trusted %v: diagnostics %v", trusted, features.Diagnostics)
		}
		g := gateway.New(gateway.Build([]gateway.Mount{{Name: "notes", Features: features}}, gateway.BuildOptions{}), gateway.Options{})
		for _, tool := range []string{"wipe_notes", "drop_notes", "look_notes"} {
			res, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			asked := strings.Contains(res.Message, "needs confirmation")
			if want := !trusted && tool != "look_notes"; asked != want {
				t.Errorf("trusted %v, %s: asked %v: %s", trusted, tool, asked, res.Message)
			}
		}
	}
}
