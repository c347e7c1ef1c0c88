package redis_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/app"
)

const commonSecret = "0123456789abcdef0123456789abcdef"

// lines collects what a process says.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }

func (l *lines) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// served is a replica that listens.
type served struct {
	t    *testing.T
	app  *app.App
	said *lines
	spec string // its own copy of the description
	url  string
	stop func() // ends it
}

// describe writes a description with so many tools.
func describe(t *testing.T, file, upstream string, tools int) {
	t.Helper()
	var b strings.Builder
	for i := range tools {
		fmt.Fprintf(&b, `,"/tool%d":{"get":{"operationId":"get_tool%d","responses":{"200":{"description":"ok"}}},"delete":{"operationId":"drop_tool%d","responses":{"200":{"description":"ok"}}}}`, i, i, i)
	}
	text := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"` + upstream + `"}],"paths":{` + b.String()[1:] + `}}`
	write(t, file, text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newConfig is that of a replica with a description of its own.
func newConfig(t *testing.T, address, upstream string, change func(*app.Config)) *app.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.json")
	describe(t, file, upstream, 3)
	c := app.NewConfig()
	c.AddSpec("shop=" + file)
	c.HTTP, c.Store, c.Secret, c.Sessions, c.PageSize = "127.0.0.1:0", "redis://"+address, "env:SECRET", "off", 2
	c.Defaults.AllowPrivateHost = []string{"127.0.0.1"}
	c.Defaults.Retries, c.Defaults.BreakerFailures = 0, 0
	if change != nil {
		change(c)
	}
	return c
}

func newApp(t *testing.T, c *app.Config, secret string) (*app.App, *lines, error) {
	t.Helper()
	said := &lines{}
	a, err := app.New(t.Context(), c, app.Env{Stderr: said, Getenv: func(name string) (string, bool) {
		value, ok := map[string]string{"SECRET": secret, "PASSWORD": "s3cret", "CLIENT": "id:hush"}[name]
		return value, ok
	}})
	return a, said, err
}

func replica(t *testing.T, address, upstream string, change func(*app.Config)) *served {
	t.Helper()
	c := newConfig(t, address, upstream, change)
	a, said, err := newApp(t, c, commonSecret)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); _ = a.Serve(ctx, l) }()
	s := &served{t: t, app: a, said: said, spec: c.Sources[0].Spec, url: "http://" + l.Addr().String() + "/mcp"}
	s.stop = sync.OnceFunc(func() { cancel(); <-ended; a.Close() })
	t.Cleanup(s.stop)
	return s
}

// open sends a request of 2026-07-28 and returns its response.
func (s *served) open(method, name, params string) *http.Response {
	s.t.Helper()
	if params != "" {
		params = "," + params
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}` + params + `}}`
	r, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// answer is what a request is answered with.
type answer struct {
	Error  struct{ Message string }
	Result struct {
		NextCursor string
		Tools      []struct{ Name string }
		Content    []struct{ Text string }
		IsError    bool
	}
}

func (s *served) ask(method, name, params string) (text string, a answer) {
	s.t.Helper()
	got := s.open(method, name, params)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	text = string(body)
	if _, data, ok := strings.Cut(text, "data: "); ok {
		text = data
	}
	_ = json.Unmarshal([]byte(text), &a)
	return text, a
}

func (s *served) call(tool, args string) (string, answer) {
	s.t.Helper()
	return s.ask("tools/call", tool, `"name":"`+tool+`","arguments":`+args)
}

// listener hears of changed lists until its server ends.
type listener struct {
	heard chan struct{} // for each time
	total chan int      // how often, at the end
}

func (s *served) listen() *listener {
	s.t.Helper()
	got := s.open("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`) //nolint:bodyclose // it is, at its end
	l := &listener{heard: make(chan struct{}, 100), total: make(chan int, 1)}
	ready := make(chan struct{})
	go func() {
		defer got.Body.Close()
		n := 0
		for in := bufio.NewScanner(got.Body); in.Scan(); {
			switch {
			case strings.Contains(in.Text(), "subscriptions/acknowledged"):
				close(ready)
			case strings.Contains(in.Text(), "tools/list_changed"):
				n++
				l.heard <- struct{}{}
			}
		}
		l.total <- n
	}()
	<-ready
	return l
}

// One replica reads its description again, as on SIGHUP; the others follow, and the
// clients of all hear of the new list once. Pages go on at any of them.
func TestClientsOfAllReplicasHearOfANewList(t *testing.T) {
	address := start(t)
	a, b := replica(t, address, "http://127.0.0.1:9", nil), replica(t, address, "http://127.0.0.1:9", nil)
	b.app.Reload(t.Context()) // one has made more reloads
	of := []*listener{a.listen(), b.listen()}
	describe(t, a.spec, "http://127.0.0.1:9", 4)
	describe(t, b.spec, "http://127.0.0.1:9", 4)
	a.app.Reload(t.Context())
	<-of[0].heard
	<-of[1].heard
	var names []string
	for at, cursor := 0, ""; ; at++ {
		if cursor != "" {
			cursor = `"cursor":"` + cursor + `"`
		}
		text, page := []*served{a, b}[at%2].ask("tools/list", "", cursor)
		if len(page.Result.Tools) == 0 {
			t.Fatalf("no tools: %s", text)
		}
		for _, tool := range page.Result.Tools {
			names = append(names, tool.Name)
		}
		if cursor = page.Result.NextCursor; cursor == "" {
			break
		}
	}
	if len(names) < 8 || !strings.Contains(strings.Join(names, " "), "tool3") {
		t.Errorf("listed are %q", names)
	}
	a.stop()
	b.stop()
	for i, l := range of {
		if n := <-l.total; n != 1 {
			t.Errorf("clients of replica %d heard of it %d times", i, n)
		}
	}
	if said := b.said.String(); !strings.Contains(said, "another replica lists something else now") || !strings.Contains(said, "new: ") {
		t.Errorf("the other said %q", said)
	}
}

// A replica whose description is as it was tells its clients nothing, and those of the
// other hear of the new list nevertheless.
func TestAReplicaThatHasTheOldListTellsNothing(t *testing.T) {
	address := start(t)
	a, b := replica(t, address, "http://127.0.0.1:9", nil), replica(t, address, "http://127.0.0.1:9", nil)
	of := []*listener{a.listen(), b.listen()}
	describe(t, a.spec, "http://127.0.0.1:9", 4)
	a.app.Reload(t.Context())
	<-of[0].heard // after some seconds
	a.stop()
	b.stop()
	if there, here := <-of[1].total, <-of[0].total; there != 0 || here != 1 {
		t.Errorf("clients heard of it %d times there and %d times here", there, here)
	}
}

// A replica that differs is told in what and from whom at its start, and one with
// another secret does not start.
func TestReplicasThatDifferAreTold(t *testing.T) {
	address := start(t)
	a := replica(t, address, "http://127.0.0.1:9", func(c *app.Config) { c.Limits = []string{"everybody=rate 100/s"} })
	if _, _, err := newApp(t, newConfig(t, address, "http://127.0.0.1:9", nil), strings.Repeat("x", 32)); err == nil || !strings.Contains(err.Error(), "has another secret") {
		t.Errorf("another secret: %v", err)
	}
	b := replica(t, address, "http://127.0.0.1:9", func(c *app.Config) {
		c.Limits = []string{"everybody=rate 200/s"}
		c.Defaults.Confirm.All = "arg"
		c.MaxConcurrentCalls = 7 // may differ
	})
	if said := b.said.String(); !strings.Contains(said, "differs from this one in its settings: confirm, limit\n") || strings.Contains(said, "arg") {
		t.Errorf("the second said %q", said)
	}
	if said := a.said.String(); said != "" && !strings.Contains(said, "in its settings: confirm, limit\n") {
		t.Errorf("the first said %q", said)
	}
	a.stop()
	b.stop()
	c := replica(t, address, "http://127.0.0.1:9", nil)
	if said := c.said.String(); said != "" {
		t.Errorf("one that is alone said %q", said)
	}
	d := replica(t, address, "http://127.0.0.1:9", nil)
	if said := d.said.String(); said != "" {
		t.Errorf("one with the same config, and its description elsewhere, said %q", said)
	}
}
