package flowmcp_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestPageExample loads the example of the format's page: one tool is served,
// the other waits for its handler, and no rule is broken.
func TestPageExample(t *testing.T) {
	reports, err := flowmcp.Check(t.Context(), "testdata/Page.mjs", flowmcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reports[0].Findings {
		if f.Severity == flowmcp.Fatal {
			t.Errorf("%s", f)
		}
	}
	want := []flowmcp.ToolReport{
		{ID: "ledger/Page::getInterface", Name: "get_interface_ledger", Loads: true, Description: "Returns the interface of a contract"},
		{ID: "ledger/Page::getSource", Name: "get_source_ledger", Loads: true, Handlers: true, Description: "Returns the source of a contract"},
	}
	if diff := cmp.Diff(want, reports[0].Tools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rec := &recorder{}
	env := func(name string) (string, bool) { return "K", name == "LEDGER_KEY" }
	features, err := flowmcp.New("testdata/Page.mjs", flowmcp.Options{Client: &http.Client{Transport: rec}, Env: env}).Load(t.Context())
	if err != nil || len(features.Tools) != 1 || len(features.Diagnostics) != 1 || features.Diagnostics[0].Line != 36 {
		t.Fatalf("%d tools, %v, %v", len(features.Tools), features.Diagnostics, err)
	}
	if _, err := features.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(`{"address":"0x1"}`)}); err != nil {
		t.Fatal(err)
	}
	if want := "https://api.ledger.example/api?module=contract&action=interface&address=0x1&key=K"; rec.last.URL != want {
		t.Errorf("%s, want %s", rec.last.URL, want)
	}
}
