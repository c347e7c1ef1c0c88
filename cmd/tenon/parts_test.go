package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/internal/mcpclient"
)

// printed is what a command prints, and tells when a text is there.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
	news chan struct{}
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
	if p.news != nil {
		close(p.news)
	}
	p.news = make(chan struct{})
	return len(b), nil
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// wait waits until text was printed, or the request has ended.
func (p *printed) wait(r *http.Request, text string) {
	for {
		p.mu.Lock()
		there := strings.Contains(p.text.String(), text)
		if p.news == nil {
			p.news = make(chan struct{})
		}
		news := p.news
		p.mu.Unlock()
		if there {
			return
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

// bits is a service whose answers come bit by bit, or are large.
func bits(out *printed, live bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		say := func(text string) {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		item := func(n int) string { return fmt.Sprintf(`{"n":%d,"name":"item %d"}`, n, n) }
		switch r.URL.Path {
		case "/stream", "/broken":
			w.Header().Set("Content-Type", "application/x-ndjson")
			for i := range 3 {
				say(item(i) + "\n")
				if live {
					out.wait(r, fmt.Sprintf(`item %d`, i)) // it is printed before the next one comes
				}
			}
			if r.URL.Path == "/broken" {
				panic(http.ErrAbortHandler)
			}
		case "/list", "/map":
			w.Header().Set("Content-Type", "application/json")
			var items []string
			for i := range 40 {
				items = append(items, item(i))
			}
			say(`{"before":[],"items":[` + strings.Join(items, ", ") + `],"after":"x"}`)
		}
	}
}

const bitsDocument = `{"openapi":"3.2.0","info":{"title":"bits","version":"1"},"servers":[{"url":"%s"}],"paths":{
	"/stream":{"get":{"operationId":"stream","responses":{"200":{"description":"","content":{"application/x-ndjson":{"itemSchema":{"type":"object","required":["n"]}}}}}}},
	"/broken":{"get":{"operationId":"broken","responses":{"200":{"description":"","content":{"application/x-ndjson":{"itemSchema":{"type":"object","required":["n"]}}}}}}},
	"/list":{"get":{"operationId":"list","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{"items":{"type":"array"}}}}}}}}}}}`

// bitsCommand runs a command about the service.
func bitsCommand(t *testing.T, in string, live bool, args ...string) (out, errs string, code int) {
	t.Helper()
	p, said := &printed{}, &printed{}
	up := httptest.NewServer(bits(p, live))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "bits.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, bitsDocument, up.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, a := range args {
		if a == "SPEC" {
			args[i] = file
		}
	}
	args = append(args, "--allow-private-host", "127.0.0.1", "--flush-interval", "1ms")
	code = run(t.Context(), env{in: strings.NewReader(in), out: p, err: said, getenv: os.LookupEnv}, args)
	return p.String(), said.String(), code
}

// A command that ends takes the rest of an answer with it, so it prints all
// parts, as one value, and each as soon as it is there.
func TestCallPrintsAllParts(t *testing.T) {
	for _, env := range []string{"native", "openapi-mcp", "flowmcp"} {
		for _, tool := range []string{"stream", "list"} {
			for _, form := range []string{"", "--compact", "--json"} {
				t.Run(env+" "+tool+form, func(t *testing.T) {
					args := []string{"call", "SPEC", tool, "--envelope", env, "--max-result-bytes", "150"}
					if form != "" {
						args = append(args, form)
					}
					out, errs, code := bitsCommand(t, "", tool == "stream" && form != "--json", args...)
					if code != 0 || errs != "" {
						t.Fatalf("exit %d: %s", code, errs)
					}
					var value any
					if err := json.Unmarshal([]byte(out), &value); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					if got := numbers(value); got != numbersUpTo(map[string]int{"stream": 3, "list": 40}[tool]) {
						t.Errorf("%s\n%s", got, out)
					}
					if tool == "list" && !strings.Contains(out, `"after":`) {
						t.Errorf("what stands behind the list is missing: %s", out)
					}
					if form == "" && strings.Contains(out, ",{") || form != "" && strings.Count(out, "\n") != 1 {
						t.Errorf("the form: %s", out)
					}
					if form == "--json" && (strings.Contains(out, "resume_token") || strings.Contains(out, "tenon/partial") || !strings.Contains(out, `"verdict":"fits"`)) {
						t.Errorf("the joined result: %s", out)
					}
				})
			}
		}
	}
}

// numbers lists the members "n" of an answer, in order. A result holds them
// once more in its text.
func numbers(value any) string {
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if structured, ok := v["structuredContent"]; ok {
				walk(structured)
				return
			}
			if n, ok := v["n"]; ok {
				fmt.Fprintf(&b, "%v ", n)
			}
			for _, name := range []string{"result", "data", "items"} {
				walk(v[name])
			}
		}
	}
	walk(value)
	return b.String()
}

func numbersUpTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()
}

// Where a part is missing, what came is printed as one value and the command
// says that it is not whole.
func TestCallSaysWhatIsMissing(t *testing.T) {
	for _, form := range []string{"--compact=false", "--compact", "--json"} {
		t.Run(form, func(t *testing.T) {
			out, errs, code := bitsCommand(t, "", false, "call", "SPEC", "broken", "--max-result-bytes", "20", form)
			if code != 1 || !strings.Contains(errs, "the answer is not whole: what follows part ") || !strings.Contains(errs, "was interrupted") {
				t.Errorf("exit %d: %s", code, errs)
			}
			var value any
			if err := json.Unmarshal([]byte(out), &value); err != nil || !strings.HasPrefix(numbers(value), "0 ") {
				t.Errorf("%v: %s", err, out)
			}
			if form == "--json" && !strings.Contains(out, "resume_token") {
				t.Errorf("it looks whole: %s", out)
			}
		})
	}
}

func TestShellPrintsAllParts(t *testing.T) {
	for _, env := range []string{"native", "openapi-mcp", "flowmcp"} {
		for tool, n := range map[string]int{"stream": 3, "list": 40} {
			out, errs, code := bitsCommand(t, "call "+tool+"\n", false, "shell", "SPEC", "--envelope", env, "--max-result-bytes", "150")
			var value any
			if err := json.Unmarshal([]byte(out), &value); code != 0 || err != nil || numbers(value) != numbersUpTo(n) {
				t.Errorf("%s %s: exit %d, %v: %s %s", env, tool, code, err, out, errs)
			}
		}
		out, errs, code := bitsCommand(t, "call broken\n", false, "shell", "SPEC", "--envelope", env, "--max-result-bytes", "20")
		if code != 1 || !strings.Contains(errs, "the answer is not whole") || !json.Valid([]byte(out)) {
			t.Errorf("%s: exit %d: %s %s", env, code, out, errs)
		}
	}
}

// FuzzJoiner: what is joined of the parts of a list is the list.
func FuzzJoiner(f *testing.F) {
	f.Add([]byte(`[1,{"a":[]}]`), 1, true)
	f.Add([]byte(`[]`), 0, false)
	f.Fuzz(func(t *testing.T, list []byte, cut int, compact bool) {
		var items []json.RawMessage
		if json.Unmarshal(list, &items) != nil || items == nil {
			return
		}
		cut = max(0, min(cut, len(items)))
		var out bytes.Buffer
		j := &joiner{out: &out, compact: compact}
		for _, part := range [][]json.RawMessage{items[:cut], items[cut:]} {
			text, err := json.Marshal(map[string]any{"a": 1, "items": part, "z": "z"})
			if err != nil {
				return
			}
			if err := j.add(text, "/items", mcpclient.Part{Cut: "/items"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(map[string]any{"a": 1, "items": items, "z": "z"})
		if err != nil {
			return
		}
		var got bytes.Buffer
		if err := json.Compact(&got, out.Bytes()); err != nil || got.String() != string(want) {
			t.Errorf("%v: %s, want %s", err, out.String(), want)
		}
	})
}
