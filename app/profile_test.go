package app

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// list asks for tools as the address of a client has them.
func (r *reloading) listAt(path, cursor string) (status int, names []string, next, body string) {
	params := ""
	if cursor != "" {
		params = `,"params":{"cursor":"` + cursor + `"}`
	}
	status, body = r.ask(path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"`+params+`}`, "X-API-Key", "secret", "Mcp-Protocol-Version", "2025-11-25")
	var got struct {
		Result struct {
			Tools []struct {
				Name, Description string
				OutputSchema      json.RawMessage
			}
			NextCursor string
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		return status, nil, "", body
	}
	for _, t := range got.Result.Tools {
		names = append(names, t.Name)
	}
	return status, names, got.Result.NextCursor, body
}

// TestProfilesAtTheirAddresses: one server serves each client as its rules want it,
// beside all others, and nobody continues the list of another.
func TestProfilesAtTheirAddresses(t *testing.T) {
	r := newReloading(t)
	r.set(func(c *Config) { c.PageSize = 1 })
	_, all, next, plain := r.listAt("/mcp", "")
	if strings.Contains(plain, "Returns: ") || !strings.Contains(plain, `"outputSchema":`) || next == "" {
		t.Fatalf("without a client: %s", plain)
	}
	_, _, adapted, body := r.listAt("/mcp/claude-code", "")
	if strings.Contains(body, `"outputSchema":`) || adapted == "" {
		t.Errorf("for Claude Code: %s", body)
	}
	if _, names, _, body := r.listAt("/mcp/claude-code", adapted); len(names) != 1 || slices.Equal(names, all) || !strings.Contains(body, `"description":"Returns: `) {
		t.Errorf("the second page has %v: %s", names, body)
	}
	for path, cursor := range map[string]string{"/mcp": adapted, "/mcp/gemini": adapted, "/mcp/claude-code": next} {
		if _, names, _, body := r.listAt(path, cursor); names != nil || !strings.Contains(body, "cursor") {
			t.Errorf("%s continues the list of another: %s", path, body)
		}
	}
	if status, _, _, body := r.listAt("/mcp/claude-cod", ""); status != http.StatusNotFound || !strings.Contains(body, "claude-code") {
		t.Errorf("a client that nobody knows: %d %s", status, body)
	}
	if status, body := r.ask("/mcp/claude-code", listOfTools); status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", status, body)
	}
}

// TestAClientForEverybody: --for changes what is served where nobody names a client.
func TestAClientForEverybody(t *testing.T) {
	r := newReloading(t)
	r.set(func(c *Config) { c.For = "claude-desktop" })
	if _, _, _, body := r.listAt("/mcp", ""); !strings.Contains(body, `"description":"Returns: `) || strings.Contains(body, `"outputSchema":`) {
		t.Errorf("%s", body)
	}
	if _, _, _, body := r.listAt("/mcp/codex", ""); strings.Contains(body, "Returns: ") || !strings.Contains(body, `"outputSchema":`) {
		t.Errorf("for Codex: %s", body)
	}
	c := r.config
	c.For = "gemni"
	if _, err := r.Reconfigure(t.Context(), &c); err == nil || !strings.Contains(err.Error(), "gemini-api") {
		t.Errorf("a misspelt client: %v", err)
	}
}

// TestRulesHoldForEveryClient: what a caller may not see has no address where it does.
func TestRulesHoldForEveryClient(t *testing.T) {
	r := newReloading(t)
	r.set(func(c *Config) { c.Deny = []string{"key:alice=id:delete_book"}; c.NameBudget = 16; c.Prefix = "always" })
	for _, path := range []string{"/mcp", "/mcp/claude-code", "/mcp/openai-strict", "/mcp/mcp-use"} {
		_, names, _, body := r.listAt(path, "")
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "delete") }) {
			t.Errorf("%s lists %v: %s", path, names, body)
		}
	}
}
