package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/gateway"
)

func quick() host.Options {
	return host.Options{Backoff: time.Millisecond, MaxAnswer: 1 << 20}
}

// TestAWorkerThatMisbehaves: every problem is a clear error that says whether
// the call was executed, and the next call is answered.
func TestAWorkerThatMisbehaves(t *testing.T) {
	tests := []struct {
		function, want, executed string
	}{
		{"Crash", "the worker of the app ended while it ran the function Crash (exit code 9)", "unknown"},
		{"Garbage", "the function Garbage answered what is no answer", "yes"},
		{"Html", `the function Html answered "text/html", not JSON; the operator finds in the log what it said`, "yes"},
		{"Wrong", "the function Wrong answered what is no answer: Outputs: must be an object", "yes"},
		{"Status", "the function Status failed: HTTP 500; the operator finds in the log what it said", "yes"},
		{"Head", "the connection to the worker broke while it ran the function Head", "unknown"},
		{"Huge", "the function Huge answered more than 1048576 bytes", "yes"},
	}
	var tools []functionapp.Tool
	for _, tt := range tests {
		tools = append(tools, functionapp.Tool{Name: tt.function})
	}
	log := &safeLog{}
	o := quick()
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	g, _ := serve(t, newApp(t, "plain", append(tools, functionapp.Tool{Name: "Echo", Envelope: true})...), o)
	for _, tt := range tests {
		t.Run(tt.function, func(t *testing.T) {
			got := call(t, g, strings.ToLower(tt.function), "{}")
			if !got.IsError || got.Executed != tt.executed || !strings.Contains(got.Text, tt.want) {
				t.Errorf("%+v", got)
			}
			if after := call(t, g, "echo", `{"n":1}`); after.IsError || after.Structured != `{"n":1}` {
				t.Errorf("the next call: %+v", after)
			}
			for _, said := range []string{"no stock", "<p>hello"} {
				if strings.Contains(got.Text, said) {
					t.Errorf("the client reads what is for the operator: %+v", got)
				}
			}
		})
	}
	for _, said := range []string{"no stock", "<p>hello"} {
		if !strings.Contains(log.String(), said) {
			t.Errorf("%q is not in the log: %s", said, log)
		}
	}
}

// TestAWorkerThatIsDoneIsStartedAgain: the code with which a process ends does
// not say that nobody needs it any more.
func TestAWorkerThatIsDoneIsStartedAgain(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Quit"}, functionapp.Tool{Name: "Echo", Envelope: true}), quick())
	for range 3 {
		call(t, g, "quit", "{}")
		if got := call(t, g, "echo", `{"n":1}`); got.IsError {
			t.Errorf("%+v", got)
		}
	}
}

func TestAWorkerThatListensNoMoreIsStartedAgain(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Deaf"}, functionapp.Tool{Name: "Echo", Envelope: true}), quick())
	call(t, g, "deaf", "{}")
	for range 50 {
		got := call(t, g, "echo", `{"n":1}`)
		if !got.IsError {
			return
		}
	}
	t.Error("the worker never answers again")
}

// TestAWorkerThatIsGivenUp: no call waits for a worker that will not answer,
// and its last words are in the log alone.
func TestAWorkerThatIsGivenUp(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := portOf(t, taken)
	tests := []struct {
		name, hostFile, want, logged string
	}{
		{"it dies at start", hostFile("die at start", 0), "ended 3 times in a row without an answer (exit code 3)", "no database"},
		{"it is done", hostFile("finish", 0), "ended 3 times in a row without an answer (exit code 0)", "is given up"},
		{"it never answers", hostFile("never listen", 0), "ended 3 times in a row without an answer (killed: it did not answer within 50ms)", "did not answer"},
		{"its port is taken", hostFile("plain", port), fmt.Sprintf("the port %d, which host.json wants for the worker, is taken", port), ""},
		{"it is not there", `{"customHandler":{"description":{"defaultExecutablePath":"no-such-program"}}}`, "cannot be started", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := newApp(t, "", functionapp.Tool{Name: "Echo"})
			write(t, dir, "host.json", tt.hostFile)
			log := &safeLog{}
			o := quick()
			o.MaxCrashes, o.StartTimeout, o.Logger = 3, 50*time.Millisecond, slog.New(slog.NewTextHandler(log, nil))
			if tt.name != "it never answers" {
				o.StartTimeout = 0
			}
			g, _ := serve(t, dir, o)
			got := call(t, g, "echo", "{}")
			if !got.IsError || got.Executed != "no" || !strings.Contains(got.Text, tt.want) || strings.Contains(got.Text, "no database") {
				t.Errorf("%+v", got)
			}
			if !strings.Contains(log.String(), tt.logged) {
				t.Errorf("the log: %s", log)
			}
		})
	}
}

func portOf(t *testing.T, l net.Listener) int {
	t.Helper()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal(l.Addr())
	}
	return addr.Port
}

// safeLog is a buffer for several goroutines.
type safeLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestAThousandCallsAcrossTwentyKills: every call is answered once, rightly or
// with an error that does not claim to know; and nothing is left behind.
func TestAThousandCallsAcrossTwentyKills(t *testing.T) {
	const calls, kills, callers = 1000, 20, 16
	before := resources(t)
	dir := newApp(t, "plain", functionapp.Tool{Name: "Echo", Envelope: true, Output: schemaOf(t, `{"type":"object","required":["n"]}`)}, functionapp.Tool{Name: "Pid"})
	s := host.New(dir, quick())
	g := load(t, s)
	var next, good, unknown, no atomic.Int64
	var all sync.WaitGroup
	kill := map[int64]bool{}
	for len(kill) < kills {
		kill[rand.Int64N(calls)] = true
	}
	for range callers {
		all.Go(func() {
			for n := next.Add(1) - 1; n < calls; n = next.Add(1) - 1 {
				if kill[n] {
					killWorker(t, g)
				}
				want := fmt.Sprintf(`{"n":%d}`, n)
				got := call(t, g, "echo", want)
				switch {
				case !got.IsError && got.Structured == want && got.Executed == "yes":
					good.Add(1)
				case got.IsError && got.Executed == "unknown":
					unknown.Add(1)
				case got.IsError && got.Executed == "no":
					no.Add(1)
				default:
					t.Errorf("call %d: %+v", n, got)
				}
			}
		})
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d answered, %d of unknown fate, %d not sent", good.Load(), unknown.Load(), no.Load())
	if good.Load() < calls/2 || good.Load()+unknown.Load()+no.Load() != calls {
		t.Errorf("%d answered, %d of unknown fate, %d not sent", good.Load(), unknown.Load(), no.Load())
	}
	sentOnce(t, filepath.Join(dir, "received"))
	after := resources(t)
	for range 20000 { // a connection that no worker accepts any more is given up after acceptTime
		if after.goroutines <= before.goroutines && after.files <= before.files {
			break
		}
		time.Sleep(time.Millisecond) // the last act of a goroutine comes after what it said
		after = resources(t)
	}
	if after.goroutines > before.goroutines || after.files > before.files || after.children > before.children {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// sentOnce checks that no line stands twice in the worker's own record.
func sentOnce(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if seen[line] {
			t.Errorf("sent twice: %s", line)
		}
		seen[line] = true
	}
}

// killWorker kills the process that runs the functions now.
func killWorker(t *testing.T, g *gateway.Gateway) {
	var worker struct{ N int }
	got := call(t, g, "pid", "{}")
	if got.IsError {
		return // it is dead already
	}
	if err := json.Unmarshal([]byte(got.Text), &worker); err != nil || worker.N == 0 {
		t.Errorf("%+v", got)
		return
	}
	if p, err := os.FindProcess(worker.N); err == nil {
		_ = p.Kill()
		_ = p.Release() // else its descriptor stays until the collector comes
	}
}

type counted struct{ goroutines, files, children int }

// resources counts what a process can leave behind. Where the system does not
// tell, goroutines stand for the rest.
func resources(t *testing.T) counted {
	t.Helper()
	c := counted{goroutines: runtime.NumGoroutine()}
	files, _ := filepath.Glob("/proc/self/fd/*")
	c.files = len(files)
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for pid := range strings.FieldsSeq(string(text)) {
			if _, err := strconv.Atoi(pid); err == nil {
				c.children++
			}
		}
	}
	return c
}

// TestReload: a call under way ends in the old worker, new ones see the app as
// it is now, and the port is the same.
func TestReload(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := portOf(t, l)
	_ = l.Close()
	dir := newApp(t, "", functionapp.Tool{Name: "Hang"}, functionapp.Tool{Name: "Echo", Envelope: true}, functionapp.Tool{Name: "Pid"})
	write(t, dir, "host.json", hostFile("plain", port))
	o := quick()
	o.Drain = 300 * time.Millisecond
	g, s := serve(t, dir, o)
	first := call(t, g, "pid", "{}").Text
	hanging := make(chan outcome, 1)
	ctx := t.Context()
	go func() {
		res, err := g.Call(ctx, &tenon.Call{Tool: "hang", Args: []byte("{}")})
		if err != nil {
			hanging <- outcome{Text: err.Error()}
			return
		}
		hanging <- read(t, res)
	}()
	if err := os.RemoveAll(filepath.Join(dir, "Echo")); err != nil {
		t.Fatal(err)
	}
	addTool(t, dir, functionapp.Tool{Name: "Say"})
	reloaded := load(t, s)
	if got := call(t, reloaded, "say", `{"return":"new"}`); got.Text != "new" {
		t.Errorf("%+v", got)
	}
	if got := call(t, reloaded, "pid", "{}").Text; got == first {
		t.Error("it is the old worker")
	}
	if got := call(t, g, "echo", "{}"); !got.IsError || got.Executed != "no" || !strings.Contains(got.Text, "does not have the function Echo any more") {
		t.Errorf("%+v", got)
	}
	if got := <-hanging; !got.IsError || got.Executed != "unknown" && !strings.Contains(got.Text, "closed") {
		t.Errorf("%+v", got)
	}
}

func TestClosedAppsAnswerNothing(t *testing.T) {
	g, s := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Echo"}), quick())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := call(t, g, "echo", "{}"); !got.IsError || got.Executed != "no" {
		t.Errorf("%+v", got)
	}
	if _, err := s.Load(context.Background()); err == nil {
		t.Error("a closed app was loaded")
	}
}
