package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// TestACallKnowsItsClient: what a client says of itself, in initialize or with
// the request, is told to sources, and what is no object or too large harms
// nobody.
func TestACallKnowsItsClient(t *testing.T) {
	var told []string
	who := tool("who", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		told = append(told, string(c.Client))
		return tenon.Response{}, nil
	})
	s := serve(server.Options{}, who)
	greet := func(client string) string {
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}` + client + `}}` + "\n"
	}
	talk(t, s, greet(`,"clientInfo":{"name":"vscode","version":"1.99.0"}`)+callOf("1", "who"))
	talk(t, s, greet("")+callOf("1", "who"))
	talk(t, s, greet(`,"clientInfo":{"name":"`+strings.Repeat("x", 5000)+`"}`)+callOf("1", "who"))
	modern := strings.Replace(modernBody("tools/call", `"name":"who"`), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"},`, 1)
	answer(s, post(modern, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: who"))
	answer(s, post(legacyBody("tools/call", `"name":"who"`)))
	want := []string{`{"name":"vscode","version":"1.99.0"}`, "", "", `{"name":"new","version":"2"}`, ""}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestListsAreTheSameForEveryClient: what a client says of itself changes no list,
// because a list may be cached for everybody who may see it.
func TestListsAreTheSameForEveryClient(t *testing.T) {
	s := serve(server.Options{}, tool("who", func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, nil }))
	list := func(client string) string {
		body := modernBody("tools/list", "")
		if client != "" {
			body = strings.Replace(body, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"`+client+`","version":"2"},`, 1)
		}
		return answer(s, post(body, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list")).Body.String()
	}
	want := list("")
	if !strings.Contains(want, `"name":"who"`) {
		t.Fatal(want)
	}
	for _, client := range []string{"claude-ai", "claude-code", "Visual Studio Code", "gemini-cli-mcp-client", "openai-mcp", "cursor-vscode", "codex-mcp-client"} {
		if diff := cmp.Diff(want, list(client)); diff != "" {
			t.Errorf("%s gets another list:\n%s", client, diff)
		}
	}
}
