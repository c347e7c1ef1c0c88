package flowmcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestRequests checks the request of a call, and calls that are rejected.
func TestRequests(t *testing.T) {
	const root = "https://api.shop.example/v1"
	for _, c := range []struct{ name, tool, args, url, body, refused string }{
		{"inserts of every style", "inserts", `{"first":"a","second":2}`, root + "/a/2/x.json?mode=", "", ""},
		{"an insert stays in its segment", "inserts", `{"first":"../a?b=1#c d","second":2,"mode":"m&n=1"}`, root + "/..%2Fa%3Fb=1%23c%20d/2/x.json?mode=m%26n%3D1", "", ""},
		{"an insert is never a placeholder", "inserts", `{"first":"{{SHOP_KEY}}","second":2,"third":":second"}`, root + "/%7B%7BSHOP_KEY%7D%7D/2/:second.json?mode=", "", ""},
		{"replacement patterns are text", "inserts", `{"first":"$&$$","second":2}`, root + "/$&$$/2/x.json?mode=", "", ""},
		{"a segment of two dots", "inserts", `{"first":"..","second":2}`, "", "", "an argument makes a path segment . or .."},
		{"an insert in the middle is needed", "inserts", `{"second":2}`, "", "", "the argument first is required for the path"},
		{"an insert at the end is not", "lastInsert", `{}`, root + "/books", "", ""},
		{"null is not given", "lastInsert", `{"id":null}`, root + "/books", "", ""},
		{"an insert at the end", "lastInsert", `{"id":"é"}`, root + "/books/%C3%A9", "", ""},
		{"fixed, secret and default queries", "queries", `{"q":"a b*~"}`, root + "/search?fixed=1&kind=book&q=a+b*%7E&limit=10&key=SECRET&kind=poem", "", ""},
		{
			"lists, templates and given defaults", "queries", `{"q":"{{SHOP_KEY}}","tag":["x","y,z"],"where":"Rome","limit":3.50,"page":2}`,
			root + "/search?fixed=1&kind=book&q=%7B%7BSHOP_KEY%7D%7D&tag=x%2Cy%2Cz&where=city%3ARome&limit=3.50&page=2&key=SECRET&kind=poem", "", "",
		},
		{
			"a body keeps types", "body", `{"items":[1,"2"],"big":9007199254740993,"note":"Ann","more":{"z":1,"a":[null]}}`, root + "/orders",
			`{"items":[1,"2"],"big":9007199254740993,"gift":false,"note":"for Ann","more":{"z":1,"a":[null]},"source":"tenon"}`, "",
		},
		{"a body without members", "empty", `{}`, root + "/ping", `{}`, ""},
		{"a DELETE has none", "remove", `{"id":"7"}`, root + "/books/7", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := &recorder{}
			g := serve(t, "Requests.mjs", flowmcp.Options{Client: &http.Client{Transport: rec}, Env: secrets("api", "SECRET")})
			tool := g.Catalog().Find(snake(c.tool) + "_shop_two").Tool()
			_, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(c.args)})
			if c.refused != "" {
				if tenon.CodeOf(err) != tenon.CodeValidation || err.Error() != c.refused || rec.last != nil {
					t.Fatalf("%v, sent %v; want %s", err, rec.last, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			body := ""
			if rec.last.Body != nil {
				body = *rec.last.Body
			}
			if diff := cmp.Diff([]string{c.url, c.body}, []string{rec.last.URL, body}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := map[string]string{"accept": "application/json", "authorization": "Bearer SECRET"}
			if c.tool == "inserts" {
				want["accept"] = "text/plain"
			}
			if c.body != "" {
				want["content-type"] = "application/json"
			}
			if diff := cmp.Diff(want, rec.last.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLetterSendsDefaults sends a default beside optional() in strict mode.
func TestLetterSendsDefaults(t *testing.T) {
	const text = `tool: { method: 'GET', path: '/a', description: 'x', tests: [ { _description: 'x' } ],
		meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false, searchHint: 'x', aliases: [], alwaysLoad: false },
		output: { mimeType: 'text/plain', schema: { type: 'string' } },
		parameters: [ { position: { key: 'page', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: ['optional()', 'default(1)'] } } ] }`
	schemaFile := strings.Replace(file(text), "docs:", "schemaVersion: '1.0.0', schemaHash: 'HASH', docs:", 1)
	schemaFile = strings.Replace(schemaFile, "HASH", check(t, schemaFile, flowmcp.Options{}).Hash, 1)
	rec := &recorder{}
	for strict, want := range map[bool]string{true: "https://shop.example/a?page=1", false: "https://shop.example/a"} {
		features, err := flowmcp.New(write(t, "Test.mjs", schemaFile), flowmcp.Options{Client: &http.Client{Transport: rec}, Strict: strict}).Load(t.Context())
		if err != nil || len(features.Tools) != 1 {
			t.Fatalf("strict %v: %v %v", strict, features.Diagnostics, err)
		}
		if _, err := features.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if rec.last.URL != want {
			t.Errorf("strict %v: %s, want %s", strict, rec.last.URL, want)
		}
	}
}

// TestSecretsThatCannotBeSent sends nothing and names no value.
func TestSecretsThatCannotBeSent(t *testing.T) {
	for _, c := range []struct{ name, host, key string }{
		{"a key with a line break", "api", "SECRET\r\nX-Evil: 1"},
		{"a host that is another host", "evil.example/SECRET", "k"},
		{"an empty host", "", "SECRET"},
	} {
		rec := &recorder{}
		g := serve(t, "Requests.mjs", flowmcp.Options{Client: &http.Client{Transport: rec}, Env: secrets(c.host, c.key)})
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "last_insert_shop_two"})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(res.Structured); !res.IsError || rec.last != nil || strings.Contains(text, "SECRET") || !strings.Contains(text, "E006") {
			t.Errorf("%s: %s, sent %v", c.name, text, rec.last)
		}
	}
}

// TestSecretsStayInside searches everything that a client gets for the canary.
func TestSecretsStayInside(t *testing.T) {
	const canary = "CANARY-7f3a"
	g := serve(t, "Requests.mjs", flowmcp.Options{Client: &http.Client{Transport: refuser{}}, Env: secrets("api", canary)})
	for _, e := range g.Catalog().Tools() {
		if strings.Contains(string(e.Definition()), canary) || strings.Contains(string(e.Definition()), "SHOP_KEY") {
			t.Errorf("%s publishes the server parameter: %s", e.Name(), e.Definition())
		}
	}
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "queries_shop_two", Args: []byte(`{"q":"ab"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(res.Structured) + string(res.Meta); !res.IsError || strings.Contains(text, canary) || !strings.Contains(text, "E003") {
		t.Errorf("the error says %s", text)
	}
}

// TestSecretGone removes a server parameter after the load.
func TestSecretGone(t *testing.T) {
	there := true
	env := func(string) (string, bool) { return "api", there }
	g := serve(t, "Requests.mjs", flowmcp.Options{Client: &http.Client{Transport: &recorder{}}, Env: env})
	there = false
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "last_insert_shop_two"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"status":false,"messages":["E006 last_insert_shop_two: the server parameter is not set: SHOP_KEY"],"data":null}`; string(res.Structured) != want {
		t.Errorf("%s, want %s", res.Structured, want)
	}
}

// TestSecretsInAnswers has an upstream that repeats the request.
func TestSecretsInAnswers(t *testing.T) {
	const canary = "canary 7f3a/+"
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Next", r.URL.RequestURI())
		if strings.HasPrefix(r.URL.Path, "/books") {
			w.WriteHeader(http.StatusForbidden)
		}
		answer, _ := json.Marshal(map[string]string{"next": r.URL.RequestURI(), "key": r.Header.Get("Authorization")})
		_, _ = w.Write(answer)
	}))
	defer upstream.Close()
	g := serve(t, "Requests.mjs", flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL, Env: secrets("api", canary)})
	for tool, args := range map[string]string{"queries_shop_two": `{"q":"ab"}`, "last_insert_shop_two": `{"id":"1"}`} {
		res, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		all := string(res.Structured) + string(res.Meta)
		for _, secret := range []string{canary, "7f3a"} {
			if strings.Contains(all, secret) {
				t.Errorf("%s: the key is in %s", tool, all)
			}
		}
		if tool == "queries_shop_two" && !strings.Contains(all, "{{SERVER_PARAM:SHOP_KEY}}") {
			t.Errorf("%s: nothing was hidden in %s", tool, all)
		}
	}
}

type refuser struct{}

func (refuser) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, http.ErrHandlerTimeout
}

func secrets(host, key string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case "SHOP_HOST":
			return host, true
		case "SHOP_KEY":
			return key, true
		}
		return "", false
	}
}

func snake(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "lastinsert", "last_insert")
}
