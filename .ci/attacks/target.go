package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// target is a running server.
type target struct {
	cmd    *exec.Cmd
	addr   string
	folder string // of its own; empty: it has none

	mu     sync.Mutex
	log    bytes.Buffer // the first of what it logs
	bytes  int64        // of the whole log
	raw    string       // the first line that is not fit to be read
	secret bool         // something is in it that nobody should read
}

// serve starts a server with a description of the upstream at addr. It ends
// with stop.
func serve(ctx context.Context, tenon, document string, flags ...string) (*target, error) {
	return serveAs(ctx, tenon, nil, document, flags...)
}

// serveAs is serve with variables of the environment.
func serveAs(ctx context.Context, tenon string, env []string, document string, flags ...string) (*target, error) {
	return serveFiles(ctx, tenon, env, map[string]string{"openapi.json": document}, flags...)
}

// serveFiles is serveAs with files of these names.
func serveFiles(ctx context.Context, tenon string, env []string, files map[string]string, flags ...string) (*target, error) {
	folder, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--http", "127.0.0.1:0", "--allow-private-host", "127.0.0.1"}, flags...)
	for name, text := range files {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		args = append(args, file)
	}
	t := &target{folder: folder}
	return t, t.start(ctx, tenon, env, args...)
}

// start starts a server and waits until it says where it listens.
func (t *target) start(ctx context.Context, program string, env []string, args ...string) error {
	t.cmd = exec.CommandContext(ctx, program, args...)
	t.cmd.Dir, t.cmd.Env = t.folder, append(os.Environ(), env...)
	out, err := t.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	found := make(chan string, 1)
	go t.read(out, found)
	select {
	case t.addr = <-found:
	case <-time.After(30 * time.Second):
	}
	if t.addr == "" {
		t.stop()
		return errors.New("the server did not start: " + t.logged())
	}
	return nil
}

const (
	logKept  = 1 << 20   // bytes of a log
	longLine = 512 << 10 // bytes of a line that are looked at
	secret   = "top-secret-0123456789"
)

// read looks at what the server logs, and finds its address.
func (t *target) read(from io.Reader, found chan<- string) {
	lines := bufio.NewReaderSize(from, longLine)
	for {
		line, err := lines.ReadSlice('\n')
		t.mu.Lock()
		t.bytes += int64(len(line))
		t.log.Write(line[:min(len(line), max(logKept-t.log.Len(), 0))])
		unfit := err == bufio.ErrBufferFull || bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), unicode.IsControl) //nolint:errorlint // never wrapped
		if t.raw == "" && unfit {
			t.raw = fmt.Sprintf("%d bytes: %.300q", len(line), line)
		}
		t.secret = t.secret || bytes.Contains(line, []byte(secret))
		t.mu.Unlock()
		if _, rest, ok := strings.Cut(string(line), "://127.0.0.1:"); ok {
			port := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
			select {
			case found <- "127.0.0.1:" + port:
			default:
			}
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // never wrapped
			break
		}
	}
	close(found)
}

// readable looks whether the log is fit to be read: of bounded size, in lines of
// bounded length, without control characters and secrets.
func (t *target) readable(most int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.raw != "":
		return errors.New("a line of the log: " + t.raw)
	case t.secret:
		return errors.New("a secret is in the log")
	case t.bytes > most:
		return fmt.Errorf("the log has %d KB; it ends with %.2000s", t.bytes>>10, t.log.Bytes()[max(0, t.log.Len()-2000):])
	}
	return nil
}

func (t *target) logged() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.log.String()
}

func (t *target) stop() {
	_ = t.cmd.Process.Kill() // it may have ended by itself
	_ = t.cmd.Wait()
	if t.folder != "" {
		_ = os.RemoveAll(t.folder)
	}
}

// status is a number of the process in KiB, as VmHWM: its peak.
func (t *target) status(name string) int64 {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(t.cmd.Process.Pid) + "/status")
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// megabytes is that number in MB.
func (t *target) megabytes(name string) int64 { return t.status(name) >> 10 }

// message is a JSON-RPC request.
func message(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}

// raw is the HTTP request of a message.
func raw(body string, headers ...string) string {
	head := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	return head + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// call makes a call and returns what came back for it.
func (t *target) call(ctx context.Context, tool, arguments string) (string, error) {
	return t.post(ctx, message("tools/call", `"name":"`+tool+`","arguments":`+arguments))
}

func (t *target) post(ctx context.Context, body string, headers ...string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// upstream serves h on loopback until ctx ends.
func upstream(ctx context.Context, h http.HandlerFunc) (addr string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, IdleTimeout: 2 * time.Second}
	go func() { _ = srv.Serve(l) }()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	return l.Addr().String(), nil
}

// document describes operations without arguments at paths of those names.
func document(base string, operations ...string) string {
	var paths []string
	for _, o := range operations {
		paths = append(paths, fmt.Sprintf(`"/%s":{"get":{"operationId":%q,"responses":{"200":{"description":"ok","content":{"application/json":{"schema":`+
			`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}}},"required":["items"]}}}}}}}`, o, o))
	}
	return `{"openapi":"3.1.0","info":{"title":"Attacked","version":"1"},"servers":[{"url":"` + base + `"}],"paths":{` + strings.Join(paths, ",") + `}}`
}

// together runs f so many times at once, and returns the first errors.
func together(n int, f func(i int) error) error {
	all := make(chan error, n)
	for i := range n {
		go func() { all <- f(i) }()
	}
	var failed []error
	for range n {
		if err := <-all; err != nil && len(failed) < 10 {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
