package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// session is a client of a `tenon serve` on standard input and output.
type session struct {
	t     *testing.T
	in    io.Writer
	lines chan string // that the server wrote
	said  *errorLines
	stop  func() // as a signal does
}

// errorLines hands out the lines of standard error.
type errorLines struct {
	mu   sync.Mutex
	rest string
	all  chan string
}

func (e *errorLines) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest += string(p)
	for {
		line, rest, ok := strings.Cut(e.rest, "\n")
		if !ok {
			return len(p), nil
		}
		e.rest = rest
		select {
		case e.all <- line:
		default: // nobody reads any more
		}
	}
}

func serveOnPipes(t *testing.T, args ...string) *session {
	ctx, cancel := context.WithCancel(t.Context())
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	s := &session{t: t, in: in, lines: make(chan string, 1000), said: &errorLines{all: make(chan string, 1000)}, stop: cancel}
	var ends sync.WaitGroup
	ends.Go(func() {
		e := env{in: inRead, out: outWrite, err: s.said, getenv: func(string) (string, bool) { return "", false }}
		if code := run(ctx, e, append([]string{"serve"}, args...)); code != exitOK {
			t.Errorf("serve ended with %d", code)
		}
		_ = outWrite.Close()
	})
	ends.Go(func() {
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			s.lines <- scan.Text()
		}
	})
	t.Cleanup(func() {
		_ = in.Close()
		cancel()
		ends.Wait()
	})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.expect(s.lines, `"listChanged":true`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *session) send(message string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, message+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// expect waits for a line that holds a text.
func (s *session) expect(lines <-chan string, text string) string {
	s.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		select {
		case line := <-lines:
			if strings.Contains(line, text) {
				return line
			}
		case <-limit.C:
			s.t.Fatalf("never came: %s", text)
		}
	}
}

// tools lists the names of the tools.
func (s *session) tools() string {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	var names []string
	for i, part := range strings.Split(s.expect(s.lines, `"id":2`), `"name":"`) {
		if name, _, ok := strings.Cut(part, `"`); ok && i > 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

const listChanged = `"notifications/tools/list_changed"`

func shopWith(operations ...string) string {
	var paths []string
	for _, o := range operations {
		paths = append(paths, fmt.Sprintf(`"/%s":{"get":{"operationId":%q,"responses":{"200":{"description":"ok"}}}}`, o, o))
	}
	return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://shop.test"}],"paths":{` + strings.Join(paths, ",") + `}}`
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatChangesIsServedAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	write(t, file, shopWith("listBooks", "oldest"))
	s := serveOnPipes(t, "--describe", "off", "--max-result-bytes", "-1", "--policy", "listBooks=enforce", file)
	if got := s.tools(); got != "listBooks oldest" {
		t.Fatalf("tools before: %s", got)
	}

	write(t, file, shopWith("listBooks", "newest"))
	s.expect(s.lines, listChanged)
	s.expect(s.said.all, "has changed: 2 tools, 0 warnings; new: newest; gone: oldest")
	if got := s.tools(); got != "listBooks newest" {
		t.Errorf("tools after: %s", got)
	}

	for _, bad := range []struct{ text, why string }{
		{shopWith("listBooks")[:60], "cannot be served; the tools before stay in force: "},
		{shopWith(), "it describes no tool any more"},
		{shopWith("newest"), "--policy listBooks=enforce: no tool has such a name"},
	} {
		write(t, file, bad.text)
		s.expect(s.said.all, bad.why)
		if got := s.tools(); got != "listBooks newest" {
			t.Errorf("tools after %q: %s", bad.why, got)
		}
	}

	// As an editor does it that writes beside the file and renames.
	write(t, file+".new", shopWith("listBooks"))
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	s.expect(s.lines, listChanged)
	if got := s.tools(); got != "listBooks" {
		t.Errorf("tools in the end: %s", got)
	}
}

// A selector that matches nothing is an error at the start, and a warning where a
// description that is served loses what it matched.
func TestASelectorThatMatchesNothingAnyMore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	write(t, file, shopWith("a", "b"))
	s := serveOnPipes(t, "--describe", "off", "--max-result-bytes", "-1", "--include", "id:a", "--include", "id:b", file)
	write(t, file, shopWith("a"))
	s.expect(s.said.all, "has changed: 1 tool, 1 warning; gone: b")
	s.expect(s.said.all, `the selector "id:b" matches no operation`)
	if got := s.tools(); got != "a" {
		t.Errorf("tools after: %s", got)
	}
}

func TestAConfigThatChangesIsSaid(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shop.json"), shopWith("a"))
	config := filepath.Join(dir, "tenon.yaml")
	write(t, config, "sources: {shop: shop.json}\n")
	s := serveOnPipes(t, "--config", config)
	write(t, config, "sources: {shop: shop.json}\nwatch: false\n")
	s.expect(s.said.all, "tenon.yaml has changed: watch takes effect at the next start")
}

// A config that changes is in force at once, and where anything of it is wrong
// nothing changes.
func TestAConfigThatChangesIsServed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shop.json"), shopWith("a", "b"))
	write(t, filepath.Join(dir, "more.json"), shopWith("c"))
	config := filepath.Join(dir, "tenon.yaml")
	common := "describe: off\nmax-result-bytes: -1\n"
	write(t, config, common+"sources: {shop: shop.json}\n")
	s := serveOnPipes(t, "--config", config)
	for _, step := range []struct{ text, said, tools string }{
		{"sources: {shop: {spec: shop.json, exclude: [\"id:b\"]}}\n", "tenon.yaml has changed: source shop was read anew, came or went", "a"},
		{"sources: {shop: shop.json, more: more.json}\nlimit: {everybody: day 5}\n", "limit is in force; source more, source shop were read anew, came or went", "a b c"},
		{"sources: {more: more.json}\nlimit: {everybody: often}\n", "tenon.yaml:4: limit: ", "a b c"},
		{"sources: {more: more.json}\npage-size: -4\n", "tenon.yaml:4: --page-size is at least 0, not -4", "a b c"},
		{"sources: {more: absent.json}\n", "tenon.yaml:3: source more: ", "a b c"},
		{"sources: {more: more.json}\nlimits: 4\n", "tenon.yaml:4: ", "a b c"},
		{"sources: {more: {spec: more.json, policy: enforce}}\n", "source more, source shop were read anew, came or went", "c"},
	} {
		write(t, config, common+step.text)
		s.expect(s.said.all, step.said)
		if got := s.tools(); got != step.tools {
			t.Errorf("%s: tools %s, not %s", step.text, got, step.tools)
		}
	}
	write(t, filepath.Join(dir, "more.json"), shopWith("c", "d")) // a source that came later is watched
	s.expect(s.said.all, "more.json has changed: 2 tools")
	if got := s.tools(); got != "c d" {
		t.Errorf("tools in the end: %s", got)
	}
}

func TestWhatChangesOnOneSourceLeavesTheOthersAlone(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.json"), filepath.Join(dir, "two.json")
	write(t, one, shopWith("a"))
	write(t, two, shopWith("b"))
	s := serveOnPipes(t, "--describe", "off", "--max-result-bytes", "-1", one, two)
	write(t, one, "nonsense")
	s.expect(s.said.all, "one.json has changed and cannot be served")
	write(t, two, shopWith("b", "a"))
	s.expect(s.lines, listChanged)
	if got := s.tools(); got != "one_a b two_a" {
		t.Errorf("tools: %s", got)
	}
}

func TestAnAddressIsAskedWhetherItHasChanged(t *testing.T) {
	var text atomic.Value
	text.Store(shopWith("a"))
	unchanged := make(chan string, 1000)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now, _ := text.Load().(string)
		if now == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		tag := fmt.Sprintf(`"%d"`, len(now))
		if r.Header.Get("If-None-Match") == tag {
			unchanged <- "304"
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", tag)
		_, _ = io.WriteString(w, now)
	}))
	defer web.Close()
	host := strings.TrimPrefix(web.URL, "http://")
	s := serveOnPipes(t, "--describe", "off", "--max-result-bytes", "-1", "--poll-interval", "1s", "--allow-private-host", host, "http://u:s3cret@"+host+"/openapi.json?k=s3cret")
	text.Store(shopWith("a", "b"))
	s.expect(s.lines, listChanged)
	s.expect(s.said.all, "tenon: http://"+host+"/openapi.json has changed: 2 tools")
	if got := s.tools(); got != "a b" {
		t.Errorf("tools: %s", got)
	}
	text.Store("nonsense, and of another length")
	s.expect(s.said.all, "the tools before stay in force")
	text.Store(shopWith("a", "b", "c"))
	s.expect(s.lines, listChanged)
	if got := s.tools(); got != "a b c" {
		t.Errorf("tools: %s", got)
	}
	s.expect(unchanged, "304")
	text.Store("")
	s.expect(s.said.all, `cannot read a remote description; its tools are unchanged" host=`+host)
	text.Store(shopWith("a", "b", "c"))
	s.expect(s.said.all, `a remote description is available again" host=`+host)
}

// What a changed description would do with a credential is said, and so is that
// it lost most of what it described.
func TestReloadTellsWhatMatters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	doc := func(server string, operations ...string) string {
		text := shopWith(operations...)
		text = strings.Replace(text, "https://shop.test", server, 1)
		return strings.Replace(text, `"paths"`, `"security":[{"key":[]}],"components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"K"}}},"paths"`, 1)
	}
	write(t, file, doc("https://shop.test", "one", "two", "three"))
	s := serveOnPipes(t, "--auth", "key=caller:K", file)
	write(t, file, doc("https://elsewhere.test", "one"))
	s.expect(s.said.all, "WARNING: "+file+" has lost most of its tools: 1 of 3 are left")
	s.expect(s.said.all, "the credential of key would be sent to https://elsewhere.test, which was not its destination at the first load; such calls are rejected (to allow it, use --auth-origin https://elsewhere.test)")
}

func schemaWith(namespace string, tools ...string) string {
	var members strings.Builder
	for _, name := range tools {
		fmt.Fprintf(&members, "%s: { method: 'GET', path: '/%s', description: 'Reads', parameters: [], tests: [] },\n", name, name)
	}
	return "export const main = { namespace: '" + namespace + "', name: 'N', description: 'D', version: '4.3.0', root: 'https://shop.test',\n" +
		"requiredServerParams: [], requiredLibraries: [], headers: {}, tools: {\n" + members.String() + "} }\n"
}

// A schema file that is being written, or is broken, takes no tool away.
func TestASchemaFileThatCannotBeReadLeavesItsTools(t *testing.T) {
	whole := schemaWith("shop", "listBooks", "oldest")
	for name, text := range map[string]string{
		"truncated": "", "half": whole[:len(whole)-20], "without main": "export const other = {}\n", "main no object": "export const main = 42\n",
		"no text": "\xff\xfe\x00", "no tools": schemaWith("shop"),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "shop.mjs")
			write(t, file, whole)
			s := serveOnPipes(t, "--describe", "off", "--max-result-bytes", "-1", file)
			want := s.tools()
			write(t, file, text)
			s.expect(s.said.all, "shop.mjs has changed and cannot be served; the tools before stay in force: ")
			if got := s.tools(); got != want {
				t.Errorf("tools: %s; before: %s", got, want)
			}
			write(t, file+".new", schemaWith("shop", "listBooks", "oldest", "newest"))
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
			s.expect(s.lines, listChanged)
			if got := s.tools(); got != want+" newest_shop" {
				t.Errorf("tools in the end: %s", got)
			}
		})
	}
}

func TestAFolderOfSchemaFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.mjs"), filepath.Join(dir, "two.mjs")
	write(t, one, schemaWith("one", "a", "b", "c"))
	write(t, two, schemaWith("two", "d"))
	s := serveOnPipes(t, "--describe", "off", "--max-result-bytes", "-1", dir)
	write(t, two, "export const main = {")
	s.expect(s.said.all, "WARNING: "+two+" has lost most of its tools: 0 of 1 are left")
	s.expect(s.said.all, two+":1: VAL001 file: is not an ECMAScript module: ")
	write(t, one, "export const main = {")
	s.expect(s.said.all, "has changed and cannot be served; the tools before stay in force: none of the 2 schema files of "+dir+" can be read; the first is "+one+":1: VAL001")
	if got := s.tools(); got != "a_one b_one c_one" {
		t.Errorf("tools: %s", got)
	}
}

// What cannot be read at all ends a command in the same way, whatever it is.
func TestADescriptionThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"broken.json": `{"openapi":"3.1.0","inf`, "broken.mjs": "export const main = {", "empty.mjs": "", "folder/a.mjs": "export const main = 42",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
		if name == "folder/a.mjs" {
			file = filepath.Dir(file)
		}
		for _, command := range []string{"tools", "check", "serve"} {
			var said strings.Builder
			e := env{in: strings.NewReader(""), out: io.Discard, err: &said, getenv: func(string) (string, bool) { return "", false }}
			if code := run(t.Context(), e, []string{command, file}); code != exitBadSource {
				t.Errorf("%s %s ended with %d: %s", command, name, code, said.String())
			}
		}
	}
}
