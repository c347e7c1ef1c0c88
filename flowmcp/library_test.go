package flowmcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// publicLibrary is the folder of the public library's providers, with the options
// that its handlers need. It is no part of the project.
func publicLibrary(t *testing.T) (string, flowmcp.Options) {
	t.Helper()
	dir := os.Getenv("TENON_FLOWMCP_LIBRARY")
	if dir == "" {
		t.Skip("SKIPPED: TENON_FLOWMCP_LIBRARY does not name the providers folder of the public library; its handlers are not run")
	}
	return dir, flowmcp.Options{Worker: worker(), ListsDir: os.Getenv("TENON_FLOWMCP_LISTS"), LibraryDir: os.Getenv("TENON_FLOWMCP_LIBS")}
}

// witness answers every request and keeps what left.
type witness struct {
	mu    sync.Mutex
	all   []*http.Request
	texts []string
}

func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	var b bytes.Buffer
	_ = r.Clone(r.Context()).Write(&b) // a buffer takes all
	body, _ := io.ReadAll(bytes.NewReader(b.Bytes()))
	w.mu.Lock()
	w.all = append(w.all, r)
	w.texts = append(w.texts, r.URL.String()+"\n"+string(body))
	w.mu.Unlock()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"data":[],"result":{},"items":[]}`)), ContentLength: -1, Request: r}, nil
}

// TestLibraryCanary runs the handlers of every test case of the public library
// with canaries for server parameters. None goes into a worker or comes out of
// one, none stands in a result or an error, and none leaves towards another
// host than that of root.
func TestLibraryCanary(t *testing.T) {
	const canary = "canary"
	dir, o := publicLibrary(t)
	out := &witness{}
	o.Client = &http.Client{Transport: out}
	o.Env = func(name string) (string, bool) {
		return canary + strings.ToLower(strings.ReplaceAll(name, "_", "")), true
	}
	s := flowmcp.New(dir, o)
	defer s.Close()
	frames := 0
	look := func(stage string, b []byte) {
		frames++
		if bytes.Contains(bytes.ToLower(b), []byte(canary)) {
			t.Errorf("%s: a canary in %.300s", stage, b)
		}
	}
	var mu sync.Mutex
	locked := func(stage string, b []byte) { mu.Lock(); defer mu.Unlock(); look(stage, b) }
	files, factories, wrong, cases, err := flowmcp.Library(t.Context(), s, &flowmcp.Tap{In: locked, Out: locked})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Errorf("a factory does not initialise: %s", w)
	}
	answered, put := 0, 0
	why := map[string]int{}
	for _, c := range cases {
		from := len(out.all)
		response, err := c.Handler(t.Context(), &tenon.Call{Args: c.Args})
		if err == nil {
			answered++
		} else {
			why[reason(err)]++
			if os.Getenv("TENON_FLOWMCP_REASONS") != "" {
				t.Logf("%s test %d: %v", c.ID, c.Test, err)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("%s: a canary in the error %v", c.ID, err)
			}
			if strings.Contains(err.Error(), "server parameter") || strings.Contains(err.Error(), "schema file") || strings.Contains(err.Error(), "SEC10") {
				t.Logf("%s test %d: %v", c.ID, c.Test, err)
			}
		}
		if bytes.Contains(response.Body, []byte(canary)) {
			t.Errorf("%s: a canary in the result", c.ID)
		}
		for i, r := range out.all[from:] {
			if !strings.Contains(out.texts[from+i], canary) {
				continue
			}
			put++
			if !c.Home(r.URL) {
				t.Errorf("%s: a canary went to %s", c.ID, r.URL.Host)
			}
		}
	}
	t.Logf("%d files with handlers, %d factories initialise; %d test cases, %d answered, %d requests with a server parameter of %d; %d frames; errors: %v",
		files, factories, len(cases), answered, put, len(out.all), frames, why)
}

// reason is the kind of an error, for counting.
func reason(err error) string {
	text, _, _ := strings.Cut(err.Error(), ": ")
	return text
}

// TestLibraryRequests compares the requests that preRequest makes with those of
// the reference, where a recording of them is at hand.
func TestLibraryRequests(t *testing.T) {
	dir, o := publicLibrary(t)
	_, mains := corpusFolder(t)
	rec := &recorder{}
	o.Client = &http.Client{Transport: rec}
	o.Env = func(name string) (string, bool) { return "SP_" + name, true }
	s := flowmcp.New(dir, o)
	defer s.Close()
	nothing := func(string, []byte) {}
	_, _, _, cases, err := flowmcp.Library(t.Context(), s, &flowmcp.Tap{In: nothing, Out: nothing})
	if err != nil {
		t.Fatal(err)
	}
	handlers := map[string]tenon.Handler{}
	for _, c := range cases {
		file, err := filepath.Rel(dir, c.File)
		if err != nil {
			t.Fatal(err)
		}
		handlers[filepath.ToSlash(file)+"::"+c.Tool] = c.Handler
	}
	described := map[string]main{}
	for _, row := range mains {
		var m main
		if err := json.Unmarshal(row.Main, &m); err != nil {
			t.Fatal(err)
		}
		described[row.Schema] = m
	}
	compared, equal, signed := 0, 0, 0
	differ := map[string]int{}
	for _, row := range corpus[requestRow](t, "requests.jsonl") {
		handler := handlers[row.Schema+"::"+row.Tool]
		if !row.PreRequest || handler == nil {
			continue
		}
		compared++
		rec.last = nil
		_, err := handler(t.Context(), &tenon.Call{Args: row.UserParams})
		if rec.last != nil && row.Request.Headers["X-Auth-Date"] != "" { // signed with the time
			for _, name := range []string{"Authorization", "X-Auth-Date"} {
				row.Request.Headers[name] = rec.last.Headers[strings.ToLower(name)]
			}
			signed++
		}
		if rec.last != nil {
			rec.last.URL, row.Request.URL = anyTime(rec.last.URL), anyTime(row.Request.URL)
		}
		kind, why := compareRequest(described[row.Schema].Tools[row.Tool], row, rec.last, err)
		switch {
		case why != "":
			t.Errorf("%s::%s test %d: %s (%v)", row.Schema, row.Tool, row.Test, why, err)
		case kind != "":
			differ[kind]++
		default:
			equal++
		}
	}
	t.Logf("%d requests behind preRequest compared, %d equal, %d of them but for a signature with the time; differences by intent: %v", compared, equal, signed, differ)
}

// anyTime takes the present out of a URL: seconds since 1970 of these decades.
func anyTime(address string) string {
	return regexp.MustCompile(`\b1[789]\d{8}\b`).ReplaceAllString(address, "now")
}
