package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/gateway"
)

// The test binary is the worker, too: host.json gives it this argument, and
// how it behaves.
const asWorker = "act-as-worker"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asWorker {
		work(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// work is a worker of the custom handler protocol as simple as it can be. It
// shares no code with the packages under test but the reader of a context.
func work(manner string) {
	port := os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT")
	switch manner {
	case "die at start":
		fmt.Fprintln(os.Stderr, "error: no database")
		os.Exit(3)
	case "finish":
		os.Exit(0)
	case "never listen":
		time.Sleep(time.Hour)
	}
	address := "127.0.0.1:" + port
	if manner == "version 6" { // as soon as the file "listen" is there
		address = "[::1]:" + port
		for _, err := os.Stat("listen"); err != nil; _, err = os.Stat("listen") {
			time.Sleep(time.Millisecond)
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(4)
	}
	fmt.Println("listening")
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		answer(w, r, strings.Trim(r.URL.Path, "/"), body)
	}))
	time.Sleep(time.Hour) // it listens no more, and lives on
}

func answer(w http.ResponseWriter, r *http.Request, function string, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	c, err := functionapp.ReadInvocation(body, "context")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	give := func(value any) {
		text, _ := json.Marshal(map[string]any{"Outputs": nil, "Logs": []string{"ran " + function}, "ReturnValue": value})
		_, _ = w.Write(text)
	}
	switch function {
	case "Echo": // the arguments are the structured content; each call leaves a line
		if f, err := os.OpenFile("received", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString(string(c.Arguments) + "\n")
			_ = f.Close()
		}
		give(envelope("text", `{"type":"text","text":"echo"}`, string(c.Arguments)))
	case "Env":
		text, _ := json.Marshal(os.Environ())
		give(string(text))
	case "Pid":
		give(fmt.Sprintf(`{"n":%d}`, os.Getpid()))
	case "Payload":
		give(string(body))
	case "Headers":
		give(fmt.Sprint(r.Header.Get("Content-Type"), "|", r.Header.Get("X-Azure-Functions-InvocationId") != "", "|", r.UserAgent()))
	case "Hang":
		<-r.Context().Done()
	case "Crash":
		os.Exit(9)
	case "Quit":
		os.Exit(0)
	case "Garbage":
		_, _ = io.WriteString(w, "{]")
	case "Html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>hello")
	case "Wrong":
		_, _ = io.WriteString(w, `{"Outputs":7,"ReturnValue":{}}`)
	case "Status":
		http.Error(w, "no stock", http.StatusInternalServerError)
	case "Away":
		w.Header().Set("Location", "/Echo")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case "Huge":
		_, _ = io.WriteString(w, `{"ReturnValue":"`)
		chunk := strings.Repeat("x", 1<<20)
		for range 50 {
			_, _ = io.WriteString(w, chunk)
		}
		_, _ = io.WriteString(w, `"}`)
	case "Head":
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		give("never read")
	case "Deaf":
		w.Header().Set("Connection", "close")
		give("deaf from now on")
		go stopListening(r)
	default: // "Say": the argument "return" is what the function returns
		var args struct{ Return json.RawMessage }
		_ = json.Unmarshal(c.Arguments, &args)
		give(args.Return)
	}
}

func stopListening(r *http.Request) {
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		_ = s.Shutdown(context.WithoutCancel(r.Context()))
	}
}

func envelope(kind, content, structured string) string {
	e := map[string]string{"type": kind, "content": content}
	if structured != "" {
		e["structuredContent"] = structured
	}
	text, _ := json.Marshal(e)
	return string(text)
}

// write makes a file of an app.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hostFile is the host.json of an app whose worker is this binary.
func hostFile(manner string, port int) string {
	self, _ := json.Marshal(os.Args[0])
	text := `{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":` + string(self) +
		`,"arguments":["` + asWorker + `","` + manner + `"]}`
	if port != 0 {
		text += `,"port":"` + strconv.Itoa(port) + `"`
	}
	return text + `}}`
}

// newApp makes an app with these functions, each the tool of the same name in
// lower case.
func newApp(t testing.TB, manner string, tools ...functionapp.Tool) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "host.json", hostFile(manner, 0))
	for _, tool := range tools {
		addTool(t, dir, tool)
	}
	return dir
}

func addTool(t testing.TB, dir string, tool functionapp.Tool) {
	t.Helper()
	name := tool.Name
	tool.Name = strings.ToLower(name)
	f := functionapp.Function{Bindings: []functionapp.Object{tool.Object()}}
	write(t, dir, name+"/function.json", string(f.Append(nil)))
}

func schemaOf(t testing.TB, text string) functionapp.Schema {
	t.Helper()
	s, err := functionapp.ParseSchema(functionapp.Output, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve loads an app and returns a gateway for it. The app is closed at the
// end of the test.
func serve(t testing.TB, dir string, o host.Options) (*gateway.Gateway, *host.Source) {
	t.Helper()
	s := host.New(dir, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return load(t, s), s
}

func load(t testing.TB, s *host.Source) *gateway.Gateway {
	t.Helper()
	offer, err := s.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "app", Features: offer}}, gateway.BuildOptions{})
	return gateway.New(catalog, gateway.Options{Timeout: 20 * time.Second})
}

// outcome is a result as a client sees it.
type outcome struct {
	Text       string // of all blocks, joined by |
	Structured string
	IsError    bool
	Verdict    string
	Executed   string
}

func call(t testing.TB, g *gateway.Gateway, tool, args string) outcome {
	t.Helper()
	res, err := g.Call(context.Background(), &tenon.Call{Tool: tool, Args: []byte(args), Subject: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, res)
}

func read(t testing.TB, res *tenon.Result) outcome {
	t.Helper()
	o := outcome{Structured: string(res.Structured), IsError: res.IsError}
	var texts []string
	for _, b := range res.Content {
		text := string(b.Text)
		if b.Type != tenon.TextContent {
			text = fmt.Sprintf("%d:%s:%s%s", b.Type, b.MediaType, b.URI, b.Data)
		}
		texts = append(texts, text)
	}
	o.Text = strings.Join(texts, "|")
	var meta struct {
		Contract struct{ Verdict, Executed string } `json:"tenon/contract"`
	}
	if err := json.Unmarshal(res.Meta, &meta); err != nil {
		t.Fatalf("meta %s: %v", res.Meta, err)
	}
	o.Verdict, o.Executed = meta.Contract.Verdict, meta.Contract.Executed
	return o
}
