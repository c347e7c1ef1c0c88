package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const ruledBooks = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://example.com"}],"paths":{
"/books":{"get":{"operationId":"listBooks","responses":{"200":{"description":"ok"}}},
 "post":{"operationId":"addBook","security":[{"o":["catalog:write"]}],"responses":{"200":{"description":"ok"}}}},
"/books/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
 "delete":{"operationId":"deleteBook","tags":["danger"],"responses":{"204":{"description":"ok"}}}}},
"components":{"securitySchemes":{"o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://example.com/t","scopes":{"catalog:write":""}}}}}}}`

const ruledPets = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://example.com"}],"paths":{
"/pets":{"get":{"operationId":"listPets","tags":["reports"],"responses":{"200":{"description":"ok"}}}},
"/reindex":{"post":{"operationId":"reindex","responses":{"200":{"description":"ok"}}}}}}`

// ruled reads the example of docs/rules.md, with changes to its text.
func ruled(t *testing.T, changes ...string) (*App, *Config, error) {
	t.Helper()
	text := exampleOf(t, "rules")
	folder := t.TempDir()
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	for name, content := range map[string]string{"tenon.yaml": text, "books.yaml": ruledBooks, "pets.yaml": ruledPets} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := ReadFile(filepath.Join(folder, "tenon.yaml"))
	if err != nil {
		return nil, nil, err
	}
	a, err := New(t.Context(), c, Env{Getenv: onlyNightly})
	if err == nil {
		t.Cleanup(a.Close)
	}
	return a, c, err
}

// seen is what somebody can call, and with which scope in brackets.
func seen(t *testing.T, a *App, c *Config, as ...string) (all []string) {
	t.Helper()
	caller, err := c.ReadCaller(as)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range a.SeenBy(caller) {
		switch {
		case one.Sees && one.Missing != nil:
			all = append(all, one.Tool+"["+strings.Join(one.Missing, " ")+"]")
		case one.Sees:
			all = append(all, one.Tool)
		}
	}
	slices.Sort(all)
	return all
}

// The example of docs/rules.md says what the page says.
func TestExampleOfTheRulesPage(t *testing.T) {
	a, c, err := ruled(t)
	if err != nil {
		t.Fatal(asFlags(err))
	}
	for _, tt := range []struct {
		as   []string
		want []string
	}{
		{[]string{"alice"}, []string{"listBooks", "listPets"}},
		{[]string{"alice", "group:editors"}, []string{"addBook[books:write]", "deleteBook[books:write]", "listBooks", "listPets"}},
		{[]string{"alice", "group:editors", "scope:books:admin"}, []string{"addBook", "deleteBook", "listBooks", "listPets"}},
		{[]string{"alice", "group:editors", "group:interns", "scope:books:write"}, []string{"addBook", "listBooks", "listPets"}},
		{[]string{"key:nightly"}, []string{"listBooks", "listPets", "reindex"}},
	} {
		if got := seen(t, a, c, tt.as...); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.as, got, tt.want)
		}
	}
	if got := a.SeenByNobody(); got != nil {
		t.Errorf("nobody sees %v", got)
	}
}

func TestScopesOfTheDescription(t *testing.T) {
	a, c, err := ruled(t, "require-scope:", "scopes-from-description: true\nrequire-scope:")
	if err != nil {
		t.Fatal(asFlags(err))
	}
	if got := seen(t, a, c, "alice", "group:editors", "scope:books:write"); !slices.Contains(got, "addBook[catalog:write]") {
		t.Errorf("got %v", got)
	}
}

// A rule about nobody or nothing is a mistake.
func TestRulesThatMeanNothing(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"a source", "source:books", "source:book", "--allow group:editors=source:book: no tool, resource or prompt matches the selector"},
		{"a tool", "id:delete*", "id:remove*", "--deny group:interns=id:remove*: no tool"},
		{"a scope", "[method:POST, method:DELETE]", "method:PUT", "--require-scope books:write=method:PUT: no tool"},
		{"a key", "key:nightly: [", "key:daily: [", "there is no --api-key daily"},
		{"a kind", "group:editors", "team:editors", "says not who"},
		{"a pattern", "id:delete*", "/(/", "not a regular expression"},
		{"a file", "id:delete*", "@list", "a file of selectors is for --include"},
		{"no issuer", "oauth-issuer: https://login.example.com/realms/tools\noauth-resource: https://mcp.example.com/mcp\noauth-scope-implies:\n  books:admin: books:write\n", "", "there is no --oauth-issuer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := ruled(t, tt.from, tt.to); err == nil || !strings.Contains(asFlags(err), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Reconfigure serves the same tools by other rules, or leaves everything as it was.
func TestOtherRules(t *testing.T) {
	a, c, err := ruled(t)
	if err != nil {
		t.Fatal(asFlags(err))
	}
	bad, fewer := *c, *c
	bad.Deny = []string{"everybody=id:nothing"}
	fewer.Deny = []string{"everybody=tag:danger"}
	before := a.Gateway.Catalog()
	if change, err := a.Reconfigure(t.Context(), &bad); err == nil || change.String() != "" || a.Gateway.Catalog() != before {
		t.Errorf("a wrong rule is in force: %v", err)
	}
	if change, err := a.Reconfigure(t.Context(), c); err != nil || change.String() != "" {
		t.Errorf("the same rules are others: %v", err)
	}
	if change, err := a.Reconfigure(t.Context(), &fewer); err != nil || change.String() == "" {
		t.Errorf("other rules are not in force: %v", err)
	}
	if got := a.SeenByNobody(); !slices.Equal(got, []string{"deleteBook"}) {
		t.Errorf("nobody sees %v", got)
	}
	if change, err := a.Reconfigure(t.Context(), &bad); err == nil || change.String() != "" || !slices.Equal(a.SeenByNobody(), []string{"deleteBook"}) {
		t.Errorf("a wrong rule is in force: %v", err)
	}
}

func onlyNightly(name string) (string, bool) {
	if name == "NIGHTLY_KEY" {
		return "secret", true
	}
	return "", false
}

// TestPublicTools: without a credential a caller has what is public, and is told to
// say who it is for anything else.
func TestPublicTools(t *testing.T) {
	a, c, err := ruled(t, "deny:", "public: [id:listPets, id:deleteBook]\ndeny:\n  everybody: id:deleteBook")
	if err != nil {
		t.Fatal(asFlags(err))
	}
	if got := seen(t, a, c, "key:nightly"); !slices.Equal(got, []string{"listBooks", "listPets", "reindex"}) {
		t.Errorf("nightly has %v", got)
	}
	front := httptest.NewServer(a.Handler())
	defer front.Close()
	ask := func(header, body string) (int, string, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+"/jsonrpc", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if header != "" {
			r.Header.Set("X-API-Key", header)
		}
		got, err := front.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		return got.StatusCode, got.Header.Get("Www-Authenticate"), string(text)
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	call := func(tool string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"id":true}}}`
	}
	for _, tt := range []struct {
		name, key, body string
		status          int
		has, hasNot     string
	}{
		{"anybody lists what is public", "", list, 200, `"listPets"`, "Book"},
		{"the owner of a key lists more", "secret", list, 200, `"reindex"`, "deleteBook"},
		{"a wrong key is wrong", "wrong", list, 401, "", "listPets"},
		{"what is public is called", "", call("listPets"), 200, "validation_error", ""},
		{"what is not is not", "", call("listBooks"), 401, "credential", ""},
		{"nor what there is not", "", call("listCats"), 401, "credential", ""},
		{"nor what is denied", "", call("deleteBook"), 401, "credential", ""},
		{"a key hears that there is none", "secret", call("listCats"), 200, "unknown tool", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, challenge, text := ask(tt.key, tt.body)
			if status != tt.status || !strings.Contains(text, tt.has) || tt.hasNot != "" && strings.Contains(text, tt.hasNot) {
				t.Errorf("%d %s", status, text)
			}
			if (status == 401) != strings.Contains(challenge, "resource_metadata") {
				t.Errorf("%d with the challenge %q", status, challenge)
			}
		})
	}
	if _, _, err := ruled(t, "deny:", "public: id:nothing\ndeny:"); err == nil || !strings.Contains(asFlags(err), "--public id:nothing: no tool") {
		t.Errorf("got %v", err)
	}
}
