package server_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// A cursor of one replica goes on at every other that lists the same, however many
// reloads either has made; elsewhere the client begins again.
func TestCursorsAreUnderstoodByOtherReplicas(t *testing.T) {
	const invalid = -32602
	o := server.Options{Secret: bytes.Repeat([]byte("s"), 32)}
	tools := many(1001, "")
	replica := func(reloads int) (*gateway.Gateway, *server.Server) {
		g := gateway.New(catalog(tools...), gateway.Options{})
		s := server.New(g, o)
		for range reloads {
			list(t, s, "", true)
			g.Swap(catalog(many(3, "")...))
			list(t, s, "", true)
			g.Swap(catalog(tools...))
		}
		return g, s
	}
	_, one := replica(0)
	g, other := replica(3)
	first, _ := list(t, one, "", true)
	second, code := list(t, other, first.NextCursor, true)
	if code != 0 || len(second.Tools) != 500 || second.Tools[0].Name != "tool_500" {
		t.Fatalf("the second page at another replica: %d", code)
	}
	if third, code := list(t, one, second.NextCursor, true); code != 0 || len(third.Tools) != 1 || third.NextCursor != "" {
		t.Errorf("the third page at the first again: %d", code)
	}
	said := many(1001, "")
	said[700].Description = "in other words"
	g.Swap(catalog(said...))
	if p, code := list(t, other, first.NextCursor, true); code != 0 || p.Tools[0].Name != "tool_500" {
		t.Errorf("where a tool is described in other words: %d", code)
	}
	fewer := gateway.New(catalog(tools[1:]...), gateway.Options{})
	renamed := many(1001, "")
	renamed[3].Name = "tool_three"
	for name, s := range map[string]*server.Server{
		"one that lists less":       server.New(fewer, o),
		"one that lists another":    server.New(gateway.New(catalog(renamed...), gateway.Options{}), o),
		"one under another secret":  server.New(g, server.Options{Secret: bytes.Repeat([]byte("t"), 32)}),
		"one with tools as prompts": server.New(gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Prompts: prompts(1001)}}}, gateway.BuildOptions{}), gateway.Options{}), o),
	} {
		if _, code := list(t, s, first.NextCursor, true); code != invalid {
			t.Errorf("%s: %d", name, code)
		}
	}
}

func prompts(n int) []tenon.Prompt {
	all := make([]tenon.Prompt, n)
	for i, t := range many(n, "") {
		all[i].Name = t.Name
	}
	return all
}

// What callers see of a catalog has the same name at every replica, and another for
// whoever sees something else.
func TestCursorsOfViewsAreUnderstoodByOtherReplicas(t *testing.T) {
	tools := many(1200, "")
	replica := func(reloads int) *server.Server {
		view := func(ctx context.Context) string { who, _ := ctx.Value(whoKey{}).(string); return who }
		made := func() *gateway.Catalog {
			whole := catalog(tools...)
			some := whole.Only(func(e gateway.Entry) bool { return e.Name != "tool_3" })
			return whole.PerCaller(func(ctx context.Context) (*gateway.Catalog, string) { return some, "view of " + view(ctx) })
		}
		g := gateway.New(made(), gateway.Options{})
		for range reloads {
			g.Swap(made())
		}
		return server.New(g, server.Options{Secret: bytes.Repeat([]byte("s"), 32), Authenticate: func(r *http.Request) (context.Context, string, error) {
			who := r.Header.Get("Authorization")
			return context.WithValue(r.Context(), whoKey{}, who), who, nil
		}})
	}
	one, other := replica(0), replica(2)
	ask := func(s *server.Server, who, params string) string {
		r := postModern("tools/list", "", params)
		r.Header.Set("Authorization", who)
		return answer(s, r).Body.String()
	}
	_, rest, _ := strings.Cut(ask(one, "ann", ""), `"nextCursor":"`)
	next, _, _ := strings.Cut(rest, `"`)
	cursor := `"cursor":"` + next + `"`
	if problem := missing(ask(other, "ann", cursor), `"name":"tool_501"`); problem != "" {
		t.Error(problem)
	}
	if problem := missing(ask(other, "bob", cursor), `"code":-32602`); problem != "" {
		t.Error(problem)
	}
}

type whoKey struct{}
