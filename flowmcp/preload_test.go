package flowmcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	options := flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL, CacheDir: cache}
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

	all, err := flowmcp.KeptAnswers(cache, "")
	if err != nil || len(all) != 2 || all[0].Tool != "slow/Slow/genres" || all[1].Tool != "slow/Slow/genres" {
		t.Error(all, err)
	}
	if err := flowmcp.ClearKept(cache, "../slow"); err == nil {
		t.Error("a way out of the folder was taken")
	}
	if err := flowmcp.ClearKept(cache, "slow"); err != nil {
		t.Error(err)
	}
	if all, err := flowmcp.KeptAnswers(cache, ""); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 12, false)
	kept, err := filepath.Glob(filepath.Join(cache, "answers", "slow", "Slow", "genres.json"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.WriteFile(kept[0], []byte(`{"meta":{"expiresAt":"2100-01-01T00:00:00Z"},"data":nonsense`), 0o600); err != nil {
		t.Fatal(err)
	}
	g, _ = serveFiles(t, path, options)
	step("genres_slow", `{}`, 13, false)
}

func TestOutputsAreInferred(t *testing.T) {
	for name, tt := range map[string]struct {
		samples []string
		want    string
	}{
		"types, null and what differs": {
			[]string{`{"a":1,"b":null,"c":"x","d":[],"e":1}`, `{"a":1.5,"b":"y","d":[{"f":true}],"e":"1","g":null}`},
			`{"mimeType":"application/json","schema":{"type":"object","description":"","properties":{"a":{"type":"number","description":""},"b":{"type":"string","description":"","nullable":true},` +
				`"c":{"type":"string","description":""},"d":{"type":"array","description":"","items":{"type":"object","description":"","properties":{"f":{"type":"boolean","description":""}}}}}}}`,
		},
		"not deeper than the format": {
			[]string{`{"a":{"b":{"c":{"d":1}}}}`},
			`{"mimeType":"application/json","schema":{"type":"object","description":"","properties":{"a":{"type":"object","description":"","properties":{"b":{"type":"object","description":"","properties":{"c":{"type":"object","description":""}}}}}}}}`,
		},
		"texts":                    {[]string{`"a"`, `"b"`}, `{"mimeType":"text/plain","schema":{"type":"string","description":""}}`},
		"mixed":                    {[]string{`"a"`, `{}`}, ``},
		"pictures":                 {[]string{`"iVBORw0KGgoAAf8="`, `"iVBORw0K"`}, `{"mimeType":"image/png","schema":{"type":"string","format":"base64","description":""}}`},
		"pictures of another kind": {[]string{`"/9j/4AAQSkZJRg=="`}, ``},
		"pictures and texts":       {[]string{`"iVBORw0KGgoAAf8="`, `"no picture"`}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var samples [][]byte
			for _, s := range tt.samples {
				samples = append(samples, []byte(s))
			}
			got, err := flowmcp.InferOutput(samples...)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || (err == nil) != (tt.want != "") {
				t.Error(diff, err)
			}
		})
	}
}
