package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/audit"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
)

// shop serves two tools, one of which needs consent, and writes l.
func shop(l *audit.Log, executed *int) *gateway.Gateway {
	handler := func(context.Context, *tenon.Call) (tenon.Response, error) {
		*executed++
		return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`{"ok":true}`), Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
	}
	input := tenon.Contract{Input: []byte(`{"type":"object","properties":{"id":{"type":"integer"},"card":{"type":"string"},"note":{"type":"string"}},"additionalProperties":false}`)}
	tools := []tenon.Tool{
		{Name: "buy", Contract: input, Handler: handler},
		{Name: "remove", Contract: input, Confirmation: tenon.ConfirmRule{Action: tenon.DeleteResource}, Handler: handler},
	}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{})
	return gateway.New(c, gateway.Options{Observers: []gateway.Observer{l}, Admission: []gateway.Admission{l}})
}

func call(g *gateway.Gateway, tool, args string) (*tenon.Result, error) {
	return g.Call(context.Background(), &tenon.Call{
		Tool: tool, Args: []byte(args), Subject: "caller alice@example.com", Client: []byte(`{"name":"desk","version":"2"}`),
	})
}

// lines reads lines, holds each against the schema, and returns them without
// what differs from run to run.
func lines(t *testing.T, text []byte) (list []map[string]any) {
	t.Helper()
	s, err := schema.Compile(audit.Schema, schema.Options{AssertFormat: true})
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if found := s.Validate(line); len(found) > 0 {
			t.Fatalf("%s: %v", line, found)
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("%q: %v", line, err)
		}
		delete(m, "time")
		delete(m, "duration_ms")
		list = append(list, m)
	}
	return list
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	l, err := audit.Open(audit.Options{Writer: &out, Key: []byte("a key"), Clear: map[string][]string{"": {"/id"}, "buy": {"/note", "/none"}}})
	if err != nil {
		t.Fatal(err)
	}
	g := shop(l, new(int))
	long := strings.Repeat("x", 2000)
	for _, c := range [][2]string{
		{"buy", `{"id":7,"card":"4111 1111 1111 1111","note":"gift"}`},
		{"buy", `{"note":"` + long + `"}`},
		{"buy", `{"id":"seven"}`},
		{"remove", `{"id":7}`},
		{"remove", `{"id":7,"confirmed":true}`},
		{"no such tool " + long, `{"card":"4111 1111 1111 1111"}`},
	} {
		_, _ = call(g, c[0], c[1])
	}
	if strings.Contains(out.String(), "4111") {
		t.Error("an argument is in clear that nobody named")
	}
	got := lines(t, out.Bytes())
	var digests []any
	for _, m := range got {
		digests = append(digests, m["arguments_digest"])
		delete(m, "arguments_digest")
	}
	if digests[0] == digests[1] {
		t.Error("digests", digests)
	}
	who := func(m map[string]any) map[string]any {
		m["subject"], m["client"], m["client_version"] = "caller alice@example.com", "desk", "2"
		return m
	}
	of := func(tool string, m map[string]any) map[string]any {
		m["tool"], m["source"], m["policy"] = tool, "shop", "enforce"
		return who(m)
	}
	noteDigest := ""
	if args, ok := got[1]["arguments"].(map[string]any); ok {
		if note, ok := args["/note"].(map[string]any); ok {
			noteDigest, _ = note["digest"].(string)
		}
	}
	want := []map[string]any{
		of("buy", map[string]any{"arguments": map[string]any{"/id": 7.0, "/note": "gift"}, "executed": "yes", "retry": "unsafe", "verdict": "unchecked", "upstream_status": 200.0, "bytes": got[0]["bytes"]}),
		of("buy", map[string]any{"arguments": map[string]any{"/note": map[string]any{"bytes": 2002.0, "digest": noteDigest}}, "executed": "yes", "retry": "unsafe", "verdict": "unchecked", "upstream_status": 200.0, "bytes": got[0]["bytes"]}),
		of("buy", map[string]any{"arguments": map[string]any{"/id": "seven"}, "error": "validation_error", "executed": "no", "retry": "safe", "verdict": "unchecked", "bytes": got[2]["bytes"]}),
		of("remove", map[string]any{"arguments": map[string]any{"/id": 7.0}, "consent": "asked", "executed": "no", "retry": "safe", "verdict": "unchecked", "bytes": got[3]["bytes"]}),
		of("remove", map[string]any{"arguments": map[string]any{"/id": 7.0}, "consent": "argument", "executed": "yes", "retry": "unsafe", "verdict": "unchecked", "upstream_status": 200.0, "bytes": got[0]["bytes"]}),
		who(map[string]any{"tool": got[5]["tool"], "error": "not_found"}),
	}
	if tool, _ := got[5]["tool"].(string); len(tool) > 300 {
		t.Errorf("the name of a tool has %d bytes", len(tool))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b, _ := got[0]["bytes"].(float64); int(b) < len(`{"ok":true}`) {
		t.Errorf("a result of %v bytes", b)
	}
}

// White space, order and escapes do not count for a digest, which
// differs with the key.
func TestDigests(t *testing.T) {
	digest := func(key, args string) string {
		var out bytes.Buffer
		l, err := audit.Open(audit.Options{Writer: &out, Key: []byte(key)})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = call(shop(l, new(int)), "buy", args)
		s, _ := lines(t, out.Bytes())[0]["arguments_digest"].(string)
		return s
	}
	if digest("k", `{"id":1,"note":"a"}`) != digest("k", `{ "note" : "\u0061" , "id" : 1 }`) {
		t.Error("the same arguments have two digests")
	}
	if digest("k", `{"id":1}`) == digest("j", `{"id":1}`) || digest("k", `{"id":1}`) == digest("k", `{"id":2}`) {
		t.Error("two digests are the same")
	}
}

// narrow is a disk with little space: a write stops in the middle.
type narrow struct {
	space int
	bytes.Buffer
}

var errFull = errors.New("no space left")

func (n *narrow) Write(p []byte) (int, error) {
	k := min(len(p), n.space)
	n.space -= k
	_, _ = n.Buffer.Write(p[:k])
	if k < len(p) {
		return k, errFull
	}
	return k, nil
}

// A full disk refuses calls where the log is required and not otherwise. When
// there is space again nothing is lost, and the line that broke off stands alone.
func TestFullDisk(t *testing.T) {
	for _, required := range []bool{false, true} {
		disk := &narrow{space: 400}
		l, err := audit.Open(audit.Options{Writer: disk, Required: required})
		if err != nil {
			t.Fatal(err)
		}
		executed := 0
		g := shop(l, &executed)
		for range 10 {
			_, _ = call(g, "buy", `{"id":7}`)
		}
		if want := map[bool]int{false: 10, true: 2}[required]; executed != want {
			t.Errorf("required %v: %d calls were executed, want %d", required, executed, want)
		}
		disk.space = 1 << 20
		res, _ := call(g, "buy", `{"id":7}`)
		if res.IsError {
			t.Errorf("required %v: %s", required, res.Message)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		var whole []byte
		torn := 0
		for line := range bytes.Lines(disk.Bytes()) {
			if !json.Valid(line) {
				torn++
				continue
			}
			whole = append(whole, line...)
		}
		if got := lines(t, whole); len(got) != 11 || torn != 1 {
			t.Errorf("required %v: %d lines, %d torn", required, len(got), torn)
		}
	}
}

func TestDeviceWithoutSpace(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	l, err := audit.Open(audit.Options{Path: "/dev/full", Required: true})
	if err != nil {
		t.Fatal(err)
	}
	executed := 0
	g := shop(l, &executed)
	for range 3 {
		_, _ = call(g, "buy", `{}`)
	}
	if executed != 1 || l.Close() == nil {
		t.Errorf("%d calls were executed", executed)
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(`{"torn":`), 0o600); err != nil {
		t.Fatal(err)
	}
	other := path + ".keep-me"
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(audit.Options{Path: path, MaxBytes: 2000, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	g := shop(l, new(int))
	const calls = 40
	for i := range calls {
		if i == 20 { // another program rotates
			if err := os.Rename(path, path+".theirs"); err != nil {
				t.Fatal(err)
			}
			if err := l.Reopen(); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = call(g, "buy", `{"id":`+strconv.Itoa(i)+`}`)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 5 || !slices.Contains(files, other) {
		t.Errorf("files %q", files)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 2000 {
			t.Errorf("%s has %d bytes", f, len(text))
		}
		lines(t, bytes.TrimPrefix(text, []byte("{\"torn\":\n")))
		if info, err := os.Stat(f); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
}

// Callers at once have whole lines, one each.
func TestManyAtOnce(t *testing.T) {
	for _, sync := range []audit.Sync{audit.SyncOff, audit.SyncSecond, audit.SyncCall} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		l, err := audit.Open(audit.Options{Path: path, Sync: sync, MaxBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		manyCalls(l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(t, text); len(got) != 8*20 {
			t.Errorf("%s: %d lines", sync, len(got))
		}
	}
}

func manyCalls(l *audit.Log) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			g := shop(l, new(int))
			for range 20 {
				_, _ = call(g, "buy", `{"id":7}`)
			}
		})
	}
	wg.Wait()
}

// The timer of a sync ends with the file.
func TestNothingRunsOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		l, err := audit.Open(audit.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = call(shop(l, new(int)), "buy", `{}`)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
	})
}

// FuzzLine: whatever a caller sends, a call has one line that its schema allows.
func FuzzLine(f *testing.F) {
	f.Add("buy", "caller a", []byte(`{"id":7}`), []byte(`{"name":"x"}`))
	f.Add("no\ntool", "\xff", []byte(`{"a/b":{"~":"\ud800"}}`), []byte(`{"name":7,"version":"\u0000"}`))
	f.Fuzz(func(t *testing.T, tool, subject string, args, client []byte) {
		var out bytes.Buffer
		l, err := audit.Open(audit.Options{Writer: &out, Clear: map[string][]string{"": {"", "/id", "/a~1b/~0"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = shop(l, new(int)).Call(t.Context(), &tenon.Call{Tool: tool, Args: args, Subject: tenon.Subject(subject), Client: client})
		if got := lines(t, out.Bytes()); len(got) != 1 {
			t.Errorf("%d lines: %q", len(got), out.String())
		}
	})
}
