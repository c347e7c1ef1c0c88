package server_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// A source sees the headers that the operator names, and no others.
func TestOnlyNamedHeadersAreForwarded(t *testing.T) {
	var seen http.Header
	looks := tool("look", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		seen = c.Header
		return tenon.Response{Content: []tenon.Content{}}, nil
	})
	s := serve(server.Options{ForwardHeaders: []string{"x-key", "X-Tenant", "X-Absent"}}, looks)
	answer(s, post(legacyBody("tools/call", `"name":"look"`), "X-Key: k", "X-Tenant: t", "X-Other: o", "Authorization: Bearer a", "Cookie: c=d"))
	if names := slices.Sorted(maps.Keys(seen)); strings.Join(names, " ") != "X-Key X-Tenant" || seen.Get("X-Key") != "k" || seen.Get("X-Tenant") != "t" {
		t.Errorf("forwarded are %v", seen)
	}
}
