package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

// TestTheSessionIsNoCredential: a worker can tell callers apart, and not who they
// are: a subject can be the hash of a key, or a name.
func TestTheSessionIsNoCredential(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Payload"}), host.Options{})
	got := call(t, g, "payload", "{}") // its subject is somebody
	if got.IsError || strings.Contains(got.Text, "somebody") {
		t.Errorf("the worker reads %s", got.Text)
	}
}

// TestConsentForFunctions: a function that does not declare itself read-only may
// change something.
func TestConsentForFunctions(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain",
		functionapp.Tool{Name: "Silent"},
		functionapp.Tool{Name: "Writes", Annotations: []byte(`{"readOnlyHint":false}`)},
		functionapp.Tool{Name: "Reads", Annotations: []byte(`{"readOnlyHint":true}`)},
	), host.Options{})
	for name, want := range map[string]bool{"silent": true, "writes": true, "reads": false} {
		if got := g.Catalog().Find(name).Tool().Confirmation; got.Marked != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestAWorkerSendsNoCallElsewhere: a redirect is an answer that cannot be used, and
// no second call.
func TestAWorkerSendsNoCallElsewhere(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Away"}, functionapp.Tool{Name: "Echo", Envelope: true})
	g, _ := serve(t, dir, host.Options{})
	got := call(t, g, "away", "{}")
	if !got.IsError || !strings.Contains(got.Text, "HTTP 307") {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "received")); err == nil {
		t.Errorf("another function was called: %s", text)
	}
}

// TestSettingsThatAreLeftOut: what is encrypted or would be two variables does not
// reach a worker, and is told of.
func TestSettingsThatAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		`{"IsEncrypted":true,"Values":{"KEY":"cipher"}}`: "encrypted",
		`{"Values":{"KEY=x\u0000B":"cipher"}}`:           "cannot stand in an environment",
		`{"Values":{"KEY=cipher":"c"}}`:                  "cannot stand in an environment",
		`{"Values":{"KEY":"cipher\u0000"}}`:              "cannot stand in an environment",
	} {
		dir := newApp(t, "plain", functionapp.Tool{Name: "Env"})
		write(t, dir, "local.settings.json", text)
		app, err := host.Read(dir, nil)
		if err != nil || len(app.Diagnostics) != 1 || !strings.Contains(app.Diagnostics[0].Message, want) {
			t.Errorf("%s: %v, %v", text, app.Diagnostics, err)
		}
		g, _ := serve(t, dir, host.Options{})
		got := call(t, g, "env", "{}")
		var environ []string
		if err := json.Unmarshal([]byte(got.Text), &environ); err != nil {
			t.Fatal(err, got)
		}
		if strings.Contains(got.Text, "cipher") {
			t.Errorf("%s: the worker has %q", text, environ)
		}
	}
}
