package access_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/access"
	"github.com/tenon-mcp/tenon/search"
	"github.com/tenon-mcp/tenon/server"
)

// shop has a tool that staff may use, one that needs a scope, one that is denied, and
// one whose results come in parts; a resource, a template and a prompt of which staff
// have one each.
func shop() tenon.Features {
	yes := true
	tool := func(name string, body string) tenon.Tool {
		return tenon.Tool{
			Name: name, Description: "About " + name, MaxResult: 60, Envelope: tenon.Native, Annotations: tenon.Annotations{ReadOnly: &yes},
			Contract: tenon.Contract{
				Input:     []byte(`{"type":"object","properties":{"fields":{"type":"string"}}}`),
				Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"array","items":{"type":"integer"}}`)}},
			},
			Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
				return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(body)}, nil
			},
			Labels: func() tenon.Labels { return tenon.Labels{Method: "GET", Path: "/" + name, Tags: []string{"shop"}} },
		}
	}
	read := func(context.Context, string, *tenon.Call) ([]tenon.Content, error) {
		return []tenon.Content{{Text: []byte("read")}}, nil
	}
	complete := func(context.Context, string, string, map[string]string) ([]string, error) {
		return []string{"completed"}, nil
	}
	prompt := func(name string) tenon.Prompt {
		return tenon.Prompt{
			Name: name, Arguments: []tenon.PromptArgument{{Name: "x"}}, Complete: complete,
			Get: func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) {
				return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte("got")}}}, nil
			},
		}
	}
	numbers := "[" + strings.TrimSuffix(strings.Repeat("1234567,", 20), ",") + "]"
	return tenon.Features{
		Tools:     []tenon.Tool{tool("list_books", numbers), tool("sell_book", "[1]"), tool("burn_book", numbers)},
		Resources: []tenon.Resource{{URI: "shop://open", Name: "open", Read: read}, {URI: "shop://safe", Name: "safe", Read: read}},
		ResourceTemplates: []tenon.ResourceTemplate{
			{URI: "shop://shelf/{x}", Name: "shelf", Read: read, Complete: complete}, {URI: "shop://vault/{x}", Name: "vault", Read: read, Complete: complete},
		},
		Prompts: []tenon.Prompt{prompt("greet"), prompt("fire")},
	}
}

// named matches one of the names.
func named(names ...string) func(gateway.Entry) bool {
	return func(e gateway.Entry) bool { return slices.Contains(names, e.Name) }
}

func rule(t *testing.T, who string, matches func(gateway.Entry) bool) access.Rule {
	t.Helper()
	w, err := auth.ParseWho(who)
	if err != nil {
		t.Fatal(err)
	}
	return access.Rule{Text: "test", Who: w, Matches: matches}
}

// shopRules: staff have what is not denied, the owner everything.
func shopRules(t *testing.T) *access.Rules {
	t.Helper()
	return &access.Rules{
		Allow: []access.Rule{
			rule(t, "key:owner", func(gateway.Entry) bool { return true }),
			rule(t, "group:staff", func(e gateway.Entry) bool { return true }),
		},
		Deny:  []access.Rule{rule(t, "group:staff", named("burn_book", "safe", "vault", "fire"))},
		Needs: []access.Need{{Scope: "sell", Matches: named("sell_book")}},
	}
}

// callers by the token that they send.
func callers(token string) *auth.Caller {
	staff := auth.Caller{Issuer: "https://login.example.com", Subject: token, Groups: []string{"staff"}}
	switch token {
	case "owner":
		return &auth.Caller{Key: "owner"}
	case "bob": // may sell
		staff.Scopes = []string{"sell"}
	case "eve":
		staff.Groups = nil
	}
	return &staff
}

// catalog is the shop under the rules.
func catalog(rules *access.Rules, mode string) *gateway.Catalog {
	wrap, o := func(c *gateway.Catalog) *gateway.Catalog { return c }, gateway.BuildOptions{Describe: gateway.ToggleOn}
	if mode == "search" {
		wrap = search.Wrap
	}
	o.Configure = func(source string, t *tenon.Tool) { t.Scopes = rules.Scopes(gateway.EntryOf(source, t)) }
	return rules.Apply(gateway.Build([]gateway.Mount{{Name: "shop", Features: shop()}}, o), wrap)
}

// serve starts a server of the shop under the rules.
func serve(t *testing.T, rules *access.Rules, mode string) (*httptest.Server, *gateway.Gateway) {
	t.Helper()
	g := gateway.New(catalog(rules, mode), gateway.Options{Scopes: func(ctx context.Context, needed []string) error {
		if access.Missing(auth.FromContext(ctx), needed) == nil {
			return nil
		}
		return &tenon.ScopeError{Scopes: needed, Err: challenge{}}
	}})
	s := server.New(g, server.Options{Authenticate: func(r *http.Request) (context.Context, string, error) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			return nil, "", errors.New("who are you")
		}
		c := callers(token)
		return auth.NewContext(r.Context(), c), c.ID(), nil
	}})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	mux.Handle("/jsonrpc", s.JSONRPC())
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	return front, g
}

type challenge struct{}

func (challenge) Error() string     { return "lacks a scope" }
func (challenge) HTTPStatus() int   { return http.StatusForbidden }
func (challenge) Challenge() string { return `Bearer error="insufficient_scope", scope="sell"` }

// client is how somebody speaks to the server.
type client struct {
	name     string
	revision string // empty: the JSON-RPC endpoint
	session  bool
}

func clients() []client {
	return []client{
		{"2026-07-28", "2026-07-28", false},
		{"2025-11-25", "2025-11-25", false},
		{"2025-11-25 in a session", "2025-11-25", true},
		{"2025-06-18 in a session", "2025-06-18", true},
		{"2025-03-26 in a session", "2025-03-26", true},
		{"JSON-RPC", "", false},
	}
}

// answer is what came of a request.
type answer struct {
	status    int
	challenge string
	body      string // the message, without the id
}

// party is somebody with a client.
type party struct {
	t       *testing.T
	front   *httptest.Server
	as      client
	token   string
	session string
}

func join(t *testing.T, front *httptest.Server, as client, token string) *party {
	t.Helper()
	p := &party{t: t, front: front, as: as, token: token}
	if as.session {
		p.ask("initialize", `"protocolVersion":"`+as.revision+`","capabilities":{},"clientInfo":{"name":"x","version":"1"}`)
	}
	return p
}

func (p *party) ask(method, params string) answer {
	p.t.Helper()
	path := "/mcp"
	if p.as.revision == "" {
		path = "/jsonrpc"
	}
	if p.as.revision == "2026-07-28" {
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	r, err := http.NewRequest(http.MethodPost, p.front.URL+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+p.token)
	if p.as.revision != "" && method != "initialize" {
		r.Header.Set("Mcp-Protocol-Version", p.as.revision)
	}
	if p.as.revision == "2026-07-28" {
		r.Header.Set("Mcp-Method", method)
		var in struct{ Params struct{ Name, URI string } }
		if err := json.Unmarshal([]byte(`{"params":{`+params+`}}`), &in); err != nil {
			p.t.Fatal(err)
		}
		if name := in.Params.Name + in.Params.URI; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	if p.session != "" {
		r.Header.Set("Mcp-Session-Id", p.session)
	}
	got, err := p.front.Client().Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer got.Body.Close()
	if method == "initialize" {
		p.session = got.Header.Get("Mcp-Session-Id")
	}
	text, err := io.ReadAll(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range bytes.Lines(text) { // of an event stream the message alone
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte(`"id":1`)) {
			text = data
		}
	}
	return answer{got.StatusCode, got.Header.Get("Www-Authenticate"), string(text)}
}

// call calls a tool, or has it called where tools are searched.
func (p *party) call(mode, tool string) answer {
	arguments := `{}`
	if mode == "search" {
		arguments, tool = `{"tool":"`+tool+`","arguments":`+arguments+`}`, "call_tool"
	}
	return p.ask("tools/call", `"name":"`+tool+`","arguments":`+arguments)
}

// TestWhoMayCallWhat is every client with every way to find tools: what may be called,
// what needs another token, what is not for the caller.
func TestWhoMayCallWhat(t *testing.T) {
	for _, mode := range []string{"list", "search"} {
		front, _ := serve(t, shopRules(t), mode)
		for _, as := range clients() {
			t.Run(mode+"/"+as.name, func(t *testing.T) {
				alice, bob, eve, owner := join(t, front, as, "alice"), join(t, front, as, "bob"), join(t, front, as, "eve"), join(t, front, as, "owner")
				if got := alice.call(mode, "list_books"); !strings.Contains(got.body, "1234567") {
					t.Errorf("alice may list books: %+v", got)
				}
				if got := alice.call(mode, "sell_book"); got.status != http.StatusForbidden || !strings.Contains(got.challenge, `scope="sell"`) || !strings.Contains(got.body, "insufficient_scope") {
					t.Errorf("alice lacks a scope: %+v", got)
				}
				for _, p := range []*party{bob, owner} {
					if got := p.call(mode, "sell_book"); got.status != http.StatusOK || strings.Contains(got.body, "error\":{") {
						t.Errorf("%s may sell: %+v", p.token, got)
					}
				}
				if got := owner.call(mode, "burn_book"); !strings.Contains(got.body, "1234567") {
					t.Errorf("the owner may do anything: %+v", got)
				}
				for _, p := range []*party{alice, eve} { // what is denied is as if it were not there
					want, got := p.call(mode, "turn_book"), p.call(mode, "burn_book")
					if want.body = strings.ReplaceAll(want.body, "turn", "burn"); got != want || !strings.Contains(got.body, "unknown tool") {
						t.Errorf("%s: a denied tool is answered otherwise than an unknown one:\n%+v\n%+v", p.token, got, want)
					}
				}
				if got := eve.call(mode, "list_books"); !strings.Contains(got.body, "unknown tool") {
					t.Errorf("nothing is for eve: %+v", got)
				}
			})
		}
	}
}

// TestNoAliasLeadsToADeniedTool tries all other ways by which a caller hears of a tool,
// a resource or a prompt.
func TestNoAliasLeadsToADeniedTool(t *testing.T) {
	asks := func(mode string) map[string][2]string {
		all := map[string][2]string{
			"tools":     {"tools/list", ""},
			"resources": {"resources/list", ""},
			"templates": {"resources/templates/list", ""},
			"prompts":   {"prompts/list", ""},
			"read":      {"resources/read", `"uri":"shop://safe"`},
			"template":  {"resources/read", `"uri":"shop://vault/1"`},
			"prompt":    {"prompts/get", `"name":"fire"`},
			"complete":  {"completion/complete", `"ref":{"type":"ref/prompt","name":"fire"},"argument":{"name":"x","value":""}`},
			"completes": {"completion/complete", `"ref":{"type":"ref/resource","uri":"shop://vault/{x}"},"argument":{"name":"x","value":""}`},
			"describe":  {"tools/call", `"name":"describe","arguments":{}`},
			"described": {"tools/call", `"name":"describe","arguments":{"tool":"burn_book"}`},
		}
		if mode == "search" {
			delete(all, "described")
			all["describe"] = [2]string{"tools/call", `"name":"describe_tool","arguments":{"tool":"brun_book"}`}
			all["search"] = [2]string{"tools/call", `"name":"search_tools","arguments":{"query":"burn a book"}`}
			all["near"] = [2]string{"tools/call", `"name":"call_tool","arguments":{"tool":"brun_book"}`}
			all["header"] = [2]string{"tools/call", `"name":"call_tool","arguments":{"tool":"burn_bok"}`}
		}
		return all
	}
	for _, mode := range []string{"list", "search"} {
		front, _ := serve(t, shopRules(t), mode)
		for _, as := range clients() {
			if as.revision == "" {
				continue // it has tools alone, which TestWhoMayCallWhat tries
			}
			t.Run(mode+"/"+as.name, func(t *testing.T) {
				alice, owner := join(t, front, as, "alice"), join(t, front, as, "owner")
				for what, one := range asks(mode) {
					got, all := alice.ask(one[0], one[1]), owner.ask(one[0], one[1])
					body := strings.ReplaceAll(strings.ReplaceAll(got.body, `\"shop://safe\"`, ""), `"shop://safe"`, "")
					for _, secret := range []string{"burn_book\"", "About burn", "shop://safe", "vault/{x}\"", "\"fire\",", "completed", "\"got\"", "\"read\""} {
						if secret == "burn_book\"" && what == "described" {
							continue // it says what was asked for
						}
						if strings.Contains(body, secret) {
							t.Errorf("%s: alice hears %s: %s", what, secret, got.body)
						}
					}
					if got.body == all.body && what != "header" && what != "near" {
						t.Errorf("%s: the owner hears no more than alice: %s", what, all.body)
					}
				}
				if as.revision == "2026-07-28" {
					for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
						if got := alice.ask(list, ""); !strings.Contains(got.body, `"cacheScope":"private"`) {
							t.Errorf("%s may be shared: %s", list, got.body)
						}
					}
				}
			})
		}
	}
}

// TestPartsOfWhatIsDenied: whoever has lost a tool gets no further parts of its results,
// and a token of somebody else is unknown.
func TestPartsOfWhatIsDenied(t *testing.T) {
	for _, mode := range []string{"list", "search"} {
		rules := shopRules(t)
		front, g := serve(t, rules, mode)
		as := clients()[0]
		first := join(t, front, as, "alice").call(mode, "list_books")
		_, token, ok := strings.Cut(first.body, `"resume_token":"`)
		if !ok {
			t.Fatalf("the result is not in parts: %s", first.body)
		}
		token, _, _ = strings.Cut(token, `"`)
		next := func(who string, front *httptest.Server) answer {
			return join(t, front, as, who).ask("tools/call", `"name":"next_part","arguments":{"resume_token":"`+token+`"}`)
		}
		if got := next("bob", front); strings.Contains(got.body, "1234567") {
			t.Errorf("%s: bob reads what alice asked for: %s", mode, got.body)
		}
		if got := next("alice", front); !strings.Contains(got.body, "1234567") {
			t.Errorf("%s: alice gets no further part: %s", mode, got.body)
		}
		fewer := *rules
		fewer.Deny = append(slices.Clip(rules.Deny), rule(t, "group:staff", named("list_books")))
		g.Swap(catalog(&fewer, mode))
		if got := next("alice", front); strings.Contains(got.body, "1234567") {
			t.Errorf("%s: alice has lost the tool and reads on: %s", mode, got.body)
		}
		scoped := *rules
		scoped.Needs = append(slices.Clip(rules.Needs), access.Need{Scope: "read", Matches: named("list_books")})
		g.Swap(catalog(&scoped, mode))
		if got := next("alice", front); got.status != http.StatusForbidden {
			t.Errorf("%s: alice lacks a scope now and reads on: %+v", mode, got)
		}
	}
}

// TestCursorsOfOthers: a cursor is good for those who see the same list, and says
// nothing to others.
func TestCursorsOfOthers(t *testing.T) {
	rules := shopRules(t)
	all := tenon.Features{}
	for i := range 30 {
		one := shop().Tools[0]
		one.Name = fmt.Sprintf("tool_%02d", i)
		all.Tools = append(all.Tools, one)
	}
	g := gateway.New(rules.Apply(gateway.Build([]gateway.Mount{{Name: "shop", Features: all}}, gateway.BuildOptions{}), nil), gateway.Options{})
	s := server.New(g, server.Options{PageSize: 10, Authenticate: func(r *http.Request) (context.Context, string, error) {
		c := callers(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		return auth.NewContext(r.Context(), c), c.ID(), nil
	}})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	front := httptest.NewServer(mux)
	defer front.Close()
	as := clients()[0]
	_, cursor, _ := strings.Cut(join(t, front, as, "alice").ask("tools/list", "").body, `"nextCursor":"`)
	cursor, _, _ = strings.Cut(cursor, `"`)
	for who, good := range map[string]bool{"alice": true, "bob": true, "owner": false, "eve": false} {
		got := join(t, front, as, who).ask("tools/list", `"cursor":"`+cursor+`"`)
		if strings.Contains(got.body, "tool_10") != good {
			t.Errorf("%s with the cursor of alice: %s", who, got.body)
		}
	}
}
