package flowmcp_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

const slow = `export const main = { namespace: 'slow', name: 'Slow', description: 'What changes slowly', version: '4.0.0', root: 'https://shop.example', docs: [ 'https://shop.example' ],
  tools: {
    genres: { method: 'GET', path: '/genres', description: 'Lists genres', preload: { enabled: true, ttl: 3600 },
      parameters: [ { position: { key: 'of', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } },
        { position: { key: 'to', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } } ] },
    order: { method: 'POST', path: '/order', description: 'Orders', preload: { enabled: true, ttl: 3600 }, parameters: [] },
    fails: { method: 'GET', path: '/fails', description: 'Fails', preload: { enabled: true, ttl: 3600 }, parameters: [] },
    fresh: { method: 'GET', path: '/fresh', description: 'Changes', preload: { enabled: false, ttl: 3600 }, parameters: [] }
  } }`

// TestAnswersAreKept counts what reaches the upstream.
func TestAnswersAreKept(t *testing.T) {
	asked := 0
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = fmt.Fprintf(w, `{"asked":%d}`, asked)
	}))
	defer upstream.Close()
	path := filepath.Join(t.TempDir(), "Slow.mjs")
	writeAt(t, path, slow)
	cache := t.TempDir()
	options := flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL, CacheDir: cache, Confirm: tenon.ConfirmOff}
	g, _ := serveFiles(t, path, options)
	step := func(tool, args string, want int, hit bool) {
		t.Helper()
		res := callTool(t, g, tool, args)
		if tool != "fails_slow" && !strings.Contains(string(res.Structured), fmt.Sprintf(`{"asked":%d}`, want)) || asked < want {
			t.Errorf("%s %s: got %s, want answer %d", tool, args, res.Structured, want)
		}
		if got := strings.Contains(string(res.Meta), `"flowmcp/cache":{"hit":true`); got != hit {
			t.Errorf("%s %s: kept %v, want %v: %s", tool, args, got, hit, res.Meta)
		}
	}
	step("genres_slow", `{}`, 1, false)
	step("genres_slow", `{}`, 1, true)
	step("genres_slow", `{"of":"a","to":"b"}`, 2, false)
	step("genres_slow", `{"to":"b","of":"a"}`, 2, true)
	step("order_slow", `{}`, 3, false)
	step("order_slow", `{}`, 4, false)
	step("fails_slow", `{}`, 5, false)
	step("fails_slow", `{}`, 6, false)
	step("fresh_slow", `{}`, 7, false)
	step("fresh_slow", `{}`, 8, false)

	t.Log("another process finds the files")
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 1, true)
	options.NoCache = true
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 9, false)
	options.NoCache, options.Refresh = false, true
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 10, false)
	options.Refresh = false
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 10, true)

	t.Log("a file that was changed asks anew")
	writeAt(t, path, strings.Replace(slow, "Lists genres", "Lists all genres", 1))
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 11, false)

	all, err := flowmcp.CachedResponses(cache, "")
	if err != nil || len(all) != 3 || all[0].Tool != "slow/Slow/genres" || all[1].Tool != "slow/Slow/genres" {
		t.Error(all, err)
	}
	if err := flowmcp.ClearCache(cache, "../slow"); err == nil {
		t.Error("a way out of the folder was taken")
	}
	if err := flowmcp.ClearCache(cache, "slow"); err != nil {
		t.Error(err)
	}
	if all, err := flowmcp.CachedResponses(cache, ""); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 12, false)
	kept, err := filepath.Glob(filepath.Join(cache, "answers", "slow", "Slow", "genres", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.WriteFile(kept[0], []byte(`{"meta":{"expiresAt":"2100-01-01T00:00:00Z"},"data":nonsense`), 0o600); err != nil {
		t.Fatal(err)
	}
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 13, false)
}

// TestKeptAnswersHaveOneReader changes one thing after the other that an answer
// depends on: each asks anew, and what was before is still there.
func TestKeptAnswersHaveOneReader(t *testing.T) {
	asked := 0
	answer := func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = fmt.Fprintf(w, `{"asked":%d}`, asked)
	}
	one, two := httptest.NewServer(http.HandlerFunc(answer)), httptest.NewServer(http.HandlerFunc(answer))
	defer one.Close()
	defer two.Close()
	const text = `export const main = { namespace: 'slow', name: 'Slow', description: 'x', version: '4.0.0', root: 'https://shop.example', docs: [ 'https://shop.example' ],
  requiredServerParams: [ 'KEY' ], headers: { 'X-Key': '{{SERVER_PARAM:KEY}}' },
  tools: { genres: { method: 'GET', path: '/genres', description: 'x', preload: { enabled: true, ttl: 3600 }, parameters: [] } } }
export const handlers = () => ({ genres: { postRequest: async ({ response }) => ({ response }) } })`
	path, cache := filepath.Join(t.TempDir(), "Slow.mjs"), t.TempDir()
	type state struct{ text, base, key, subject, secrets, certificate string }
	ask := func(s state) (string, bool) {
		t.Helper()
		writeAt(t, path, s.text)
		way := &http.Transport{}
		if s.certificate != "" {
			way.TLSClientConfig = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{[]byte(s.certificate)}}}, MinVersion: tls.VersionTLS12}
		}
		g, _ := serveFiles(t, path, flowmcp.Options{
			BaseURL: s.base, CacheDir: cache, Worker: worker(), Client: &http.Client{Transport: way}, HandlerSecrets: []string{s.secrets},
			Env: func(string) (string, bool) { return s.key, true },
		})
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "genres_slow", Subject: tenon.Subject(s.subject)})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Structured), strings.Contains(string(res.Meta), `"flowmcp/cache"`)
	}
	first := state{text, one.URL, "k1", "ann", "", ""}
	all := map[string]state{"first": first}
	for name, change := range map[string]func(*state){
		"another subject":    func(s *state) { s.subject = "bob" },
		"nobody":             func(s *state) { s.subject = "" },
		"another credential": func(s *state) { s.key = "k2" },
		"another upstream":   func(s *state) { s.base = two.URL },
		"another handler":    func(s *state) { s.text = strings.Replace(text, "({ response }) }", "({ response: response }) }", 1) },
		"a trusted handler":  func(s *state) { s.secrets = "slow" },
		"a certificate":      func(s *state) { s.certificate = "c1" },
		"another one":        func(s *state) { s.certificate = "c2" },
	} {
		s := first
		change(&s)
		all[name] = s
	}
	kept := map[string]string{}
	for name, s := range all {
		got, hit := ask(s)
		if hit {
			t.Errorf("%s got the answer of another: %s", name, got)
		}
		kept[name] = got
	}
	for name, s := range all {
		if got, hit := ask(s); !hit || got != kept[name] {
			t.Errorf("%s: %s, want %s", name, got, kept[name])
		}
	}
	files, err := filepath.Glob(filepath.Join(cache, "answers", "slow", "Slow", "genres", "*"))
	if err != nil || len(files) != len(all) {
		t.Errorf("%q %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || strings.Contains(f+string(text), "k1") || strings.Contains(string(text), "ann") {
			t.Errorf("%s: %s %v", f, text, err)
		}
	}
}

// TestOnlyGoodAnswersAreKept has answers that are none of what is declared.
func TestOnlyGoodAnswersAreKept(t *testing.T) {
	const object = `output: { mimeType: 'application/json', schema: { type: 'object', description: '', properties: { a: { type: 'number', description: '' } } } },`
	const words = `output: { mimeType: 'text/plain', schema: { type: 'string', description: '' } },`
	for _, tt := range []struct {
		name, output, sent, body string
		kept                     bool
	}{
		{"what fits", object, "application/json", `{"a":1}`, true},
		{"what fits and is called text", object, "text/html", `{"a":1}`, true},
		{"a violation", object, "application/json", `{"a":"x"}`, false},
		{"another type", object, "application/json", `[]`, false},
		{"a page under JSON", object, "text/html", `<html>log in</html>`, false},
		{"a page that is called JSON", object, "application/json", `<html>log in</html>`, false},
		{"half a JSON", object, "application/json", `{"a":1`, false},
		{"nothing", object, "application/json", ``, false},
		{"a text", words, "text/plain", `hello`, true},
		{"a page under a text", words, "text/html; charset=utf-8", `<html>`, false},
		{"bytes under a text", words, "text/plain", "a\x00", false},
		{"JSON where nothing is declared", "", "application/json", `[1]`, true},
		{"a page where nothing is declared", "", "text/html", `<html>`, false},
		{"bytes where nothing is declared", "", "image/png", png, false},
	} {
		for _, handlers := range []string{"", "\nexport const handlers = () => ({ a: { postRequest: async ({ response }) => ({ response }) } })"} {
			asked := 0
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Content-Type", tt.sent)
				_, _ = w.Write([]byte(tt.body))
			}))
			if handlers != "" && !tt.kept && (tt.output == "" || strings.Contains(tt.sent, "html") && tt.output == words) {
				upstream.Close()
				continue // what a handler makes of it is no page
			}
			tool := load(t, file(`a: { method: 'GET', path: '/x', description: 'x', preload: { enabled: true, ttl: 60 }, `+tt.output+` parameters: [] }`)+handlers,
				flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL, CacheDir: t.TempDir()})
			for range 2 {
				if _, err := tool.Handler(t.Context(), &tenon.Call{}); err != nil {
					t.Fatal(err)
				}
			}
			if kept := asked == 1; kept != tt.kept {
				t.Errorf("%s, handled %v: kept %v", tt.name, handlers != "", kept)
			}
			upstream.Close()
		}
	}
}

// TestAnswersOfWritesAreNotKept: each call of a tool that may change something
// reaches the service, whatever its file says about preload.
func TestAnswersOfWritesAreNotKept(t *testing.T) {
	for method, want := range map[string]int{"GET": 1, "POST": 2, "DELETE": 2} {
		out := &seen{}
		tool := load(t, file(`a: { method: '`+method+`', path: '/x', description: 'x', preload: { enabled: true, ttl: 60 }, parameters: [] }`),
			flowmcp.Options{Client: &http.Client{Transport: out}, BaseURL: "https://shop.example"})
		for range 2 {
			response, err := tool.Handler(t.Context(), &tenon.Call{})
			if err != nil || string(response.Body) != `{"a":1}` {
				t.Fatal(string(response.Body), err)
			}
		}
		if len(out.all) != want {
			t.Errorf("%s: %d requests, want %d", method, len(out.all), want)
		}
	}
}
