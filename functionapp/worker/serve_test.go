package worker_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/worker"
)

// TestTheEndpoint is what the handler makes of requests that are no calls.
func TestTheEndpoint(t *testing.T) {
	a := worker.New(worker.Options{MaxBody: 200})
	a.Tool("t").Handle(answers(`{}`))
	h := handler(t, a)
	good := string(functionapp.Invocation{Function: "t", Binding: "context", Context: functionapp.Context{Name: "t"}}.Append(nil))
	const media = "application/json"
	for _, tt := range []struct {
		name, method, path, host, media, body string
		want                                  int
	}{
		{"a host that waits for the worker", "GET", "/", "127.0.0.1:8000", "", "", 200},
		{"a call", "POST", "/t", "localhost:8000", media, `{"Data":{"context":{}}}`, 200},
		{"a function in another case", "POST", "/T/", "[::1]:8000", media, `{"Data":{"context":{}}}`, 200},
		{"a function that is not there", "POST", "/x", "127.0.0.1", media, good, 404},
		{"another method", "GET", "/t", "127.0.0.1", "", "", 405},
		{"another host's name", "POST", "/t", "evil.example", media, `{"Data":{"context":{}}}`, 403},
		{"a form", "POST", "/t", "127.0.0.1", "application/x-www-form-urlencoded", good, 415},
		{"no JSON", "POST", "/t", "127.0.0.1", media, "{", 400},
		{"no data", "POST", "/t", "127.0.0.1", media, "{}", 400},
		{"too much", "POST", "/t", "127.0.0.1", media, strings.Repeat(" ", 201) + good, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			r.Host = tt.host
			r.Header.Set("Content-Type", tt.media)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("%d, want %d: %s", w.Code, tt.want, w.Body)
			}
		})
	}
}

// listen opens a port for a worker.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestShutdown: what is under way may end, and is cancelled when it does not.
func TestShutdown(t *testing.T) {
	for _, tt := range []struct {
		name  string
		drain time.Duration
		stays bool // the call waits for its context
	}{
		{"a call that ends", time.Minute, false},
		{"a call that has to be cancelled", time.Millisecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began, release := make(chan struct{}), make(chan struct{})
			cancelled := make(chan error, 1)
			a := worker.New(worker.Options{Drain: tt.drain})
			a.Tool("t").Handle(func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
				close(began)
				if tt.stays {
					<-ctx.Done()
				} else {
					<-release
				}
				cancelled <- ctx.Err()
				return worker.Text("done"), ctx.Err()
			})
			ctx, stop := context.WithCancel(t.Context())
			l := listen(t)
			served, posted := make(chan error, 1), make(chan int, 1)
			go func() { served <- a.Serve(ctx, l) }()
			go func() {
				res, err := http.Post("http://"+l.Addr().String()+"/t", "application/json", strings.NewReader(`{"Data":{"context":{}}}`))
				if err != nil {
					posted <- 0
					return
				}
				res.Body.Close()
				posted <- res.StatusCode
			}()
			<-began
			stop()
			close(release)
			err, status, ended := <-cancelled, <-posted, <-served
			if (err != nil) != tt.stays || ended != nil {
				t.Errorf("the call's context: %v, Serve: %v", err, ended)
			}
			if !tt.stays && status != http.StatusOK {
				t.Errorf("status %d", status)
			}
			if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
				t.Error("the port is still open")
			}
		})
	}
}

func sample() *worker.App {
	a := worker.New(worker.Options{Name: "n", Version: "1", Executable: "n"})
	a.Tool("one").WithDescription("One.").WithOutputSchema(forecast).Handle(answers(`{"temp":1}`))
	a.Tool("two").Handle(answers(`{}`))
	return a
}

func TestEmit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app")
	told := func(changes []worker.Change, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, c := range changes {
			b.WriteString(c.String() + "\n")
		}
		return b.String()
	}
	for _, tt := range []struct {
		name string
		do   func() string
		want string
	}{
		{"checked before anything is there", func() string { return told(sample().Check(dir)) }, "host.json: missing\none/function.json: missing\ntwo/function.json: missing\n"},
		{"written", func() string { return told(sample().Emit(dir)) }, "host.json: missing\none/function.json: missing\ntwo/function.json: missing\nlocal.settings.json: missing\n"},
		{"checked", func() string { return told(sample().Check(dir)) }, ""},
		{"written again", func() string { return told(sample().Emit(dir)) }, ""},
		{"somebody wrote into it", func() string {
			write(t, dir, "one/function.json", "{}")
			write(t, dir, "local.settings.json", "{}")
			write(t, dir, "two/notes.txt", "mine")
			write(t, dir, "foreign/function.json", `{"bindings":[]}`)
			write(t, dir, "broken/function.json", `{`)
			return told(sample().Check(dir))
		}, "one/function.json: different\n"},
		{"a function is gone", func() string {
			a := worker.New(worker.Options{Name: "n", Version: "1", Executable: "n"})
			a.Tool("one").WithDescription("One.").WithOutputSchema(forecast).Handle(answers(`{}`))
			return told(a.Emit(dir))
		}, "one/function.json: different\ntwo/function.json: left over\n"},
	} {
		if got := tt.do(); got != tt.want {
			t.Errorf("%s: %s", tt.name, cmp.Diff(tt.want, got))
		}
	}
	var left []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			left = append(left, filepath.ToSlash(rel))
		}
		return err
	})
	want := []string{"broken/function.json", "foreign/function.json", "host.json", "local.settings.json", "one/function.json", "two/notes.txt"}
	if diff := cmp.Diff(want, left); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEmittedBytes pins what stands in a folder, to the byte: CI compares it.
func TestEmittedBytes(t *testing.T) {
	files, err := sample().Files()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "generatedBy": "tenon",
  "bindings": [
    {
      "name": "context",
      "type": "mcpToolTrigger",
      "direction": "in",
      "toolName": "one",
      "description": "One.",
      "toolProperties": "[]",
      "outputSchema": "{\"type\":\"object\",\"properties\":{\"temp\":{\"type\":\"number\"}},\"required\":[\"temp\"]}",
      "useResultSchema": true
    }
  ]
}
`
	if diff := cmp.Diff(want, string(files[1].Text)); diff != "" {
		t.Error(diff)
	}
	h, _, err := functionapp.ParseHost(files[0].Text, nil)
	wantHost := functionapp.Host{Server: functionapp.ServerInfo{Name: "n", Version: "1"}, Timeout: 5 * time.Minute, Bundle: "[4.*, 5.0.0)", Executable: "n"}
	if diff := cmp.Diff(wantHost, h); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	bad := worker.New(worker.Options{})
	bad.Tool("t").WithOutputSchema("[]").Handle(answers(`{}`))
	for _, tt := range []struct {
		name     string
		app      *worker.App
		args     []string
		port     string
		code     int
		out, err string // parts
	}{
		{"compared with an empty folder", sample(), []string{"emit", "--check", dir}, "", 1, "one/function.json: missing\n", ""},
		{"written", sample(), []string{"emit", dir}, "", 0, "wrote one/function.json\n", ""},
		{"compared", sample(), []string{"emit", "--check", dir}, "", 0, "", ""},
		{"an app with a mistake", bad, []string{"emit", dir}, "", 1, "", "tool t: Output schema must be a JSON object"},
		{"a word that is none", sample(), []string{"omit"}, "", 2, "", "emit [DIR]"},
		{"a flag that is none", sample(), []string{"emit", "--chekc"}, "", 2, "", "emit [DIR]"},
		{"started by hand", sample(), nil, "", 1, "", "FUNCTIONS_CUSTOMHANDLER_PORT is not set: a host starts this program"},
		{"a port that is none", sample(), nil, "many", 1, "", "listen tcp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			env := func(name string) string {
				if name == "FUNCTIONS_HTTPWORKER_PORT" {
					return tt.port
				}
				return ""
			}
			code := tt.app.Main(t.Context(), worker.Process{Args: tt.args, Getenv: env, Out: &out, Err: &errs})
			if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("%d\n%s\n%s", code, &out, &errs)
			}
		})
	}
}

// TestMainServes: the program listens where the host says and ends with 0, so
// that the host does not take the end for a crash.
func TestMainServes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	said := make(lines, 1)
	code := make(chan int, 1)
	go func() {
		code <- sample().Main(ctx, worker.Process{Getenv: func(string) string { return "0" }, Out: said, Err: said})
	}()
	address, listens := strings.CutPrefix(strings.TrimSpace(<-said), "listening on ")
	if !listens {
		t.Fatal(address)
	}
	res, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	stop()
	if got := <-code; got != 0 || res.StatusCode != 200 {
		t.Errorf("exit code %d, status %d", got, res.StatusCode)
	}
}

// lines hands on what is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
