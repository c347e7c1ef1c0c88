package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/server"
)

// TestSetIdentity: what a server calls itself can change while it serves, in
// every place that has it, for every revision and transport.
func TestSetIdentity(t *testing.T) {
	s := serve(server.Options{Title: "Before", Instructions: "Say before."}, fixtures()...)
	initialize := func(revision string) string {
		return legacyBody("initialize", `"protocolVersion":"`+revision+`","capabilities":{}`)
	}
	ask := func(r func() *http.Request) func() string {
		return func() string { return answer(s, r()).Body.String() }
	}
	legacy := func(revision string) func() string {
		return ask(func() *http.Request { return post(initialize(revision)) })
	}
	modern := func(method, name, params string) func() string {
		return ask(func() *http.Request { return postModern(method, name, params) })
	}
	places := []struct {
		name         string
		ask          func() string
		instructions bool
	}{
		{"initialize of 2025-11-25", legacy("2025-11-25"), true},
		{"initialize of 2025-06-18", legacy("2025-06-18"), true},
		{"initialize of 2025-03-26", legacy("2025-03-26"), true},
		{"initialize on stdio", func() string { return talk(t, s, initialize("2025-06-18")+"\n") }, true},
		{"discover", modern("server/discover", "", ""), true},
		{"discover on stdio", func() string { return talk(t, s, modernBody("server/discover", "")+"\n") }, true},
		{"the _meta of a list", modern("tools/list", "", ""), false},
		{"the _meta of a call", modern("tools/call", "greet", `"name":"greet","arguments":{}`), false},
		{"the pages that List yields", func() string {
			for page := range s.List() {
				return string(page)
			}
			return ""
		}, false},
	}
	check := func(identity, instructions string) {
		t.Helper()
		for _, p := range places {
			got := p.ask()
			if !strings.Contains(got, `serverInfo":`+identity) || p.instructions && !strings.Contains(got, `"instructions":"`+instructions+`"`) {
				t.Errorf("%s: want %s and %q, got %.400s", p.name, identity, instructions, got)
			}
		}
	}
	check(`{"name":"test","title":"Before","version":"1.2.3"}`, "Say before.")
	s.SetIdentity(server.Identity{Name: "next", Title: "After", Version: "2", Instructions: "Say after."})
	check(`{"name":"next","title":"After","version":"2"}`, "Say after.")
	s.SetIdentity(server.Identity{})
	if got := answer(s, post(initialize("2025-06-18"))).Body.String(); !strings.Contains(got, `"serverInfo":{"name":"tenon","version":"0"}}`) {
		t.Errorf("the zero Identity: got %s", got)
	}
}
