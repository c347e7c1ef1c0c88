package host_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

// impostor listens where a worker should, and counts what it is sent.
type impostor struct {
	net.Listener
	conns, bytes atomic.Int64
}

func listenAsImpostor(t *testing.T, address string) *impostor {
	reuse := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
	}}
	l, err := reuse.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	i := &impostor{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			i.conns.Add(1)
			go func() {
				defer func() { _ = c.Close() }()
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					i.bytes.Add(int64(n))
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return i
}

// TestAnImpostorBesideTheWorker: it listens on 127.0.0.1, the worker on [::1].
func TestAnImpostorBesideTheWorker(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("there is no loopback of version 6")
	} else {
		_ = l.Close()
	}
	port := unusedPort(t)
	dir := newApp(t, "version 6", functionapp.Tool{Name: "Echo", Envelope: true})
	write(t, dir, "host.json", hostFile("version 6", port))
	g, _ := serve(t, dir, host.Options{OnDemand: true})

	first := make(chan outcome, 1)
	go func() { first <- call(t, g, "echo", `{"secret":"first"}`) }()
	// The port is looked at before the worker is started, and it waits for the
	// file: so the impostor is quicker.
	var i *impostor
	for i == nil {
		if started(dir) {
			i = listenAsImpostor(t, fmt.Sprintf("127.0.0.1:%d", port))
		}
	}
	write(t, dir, "listen", "")
	if got := <-first; got.IsError {
		t.Fatalf("the first call: %+v", got)
	}
	for n := range 1000 {
		if got := call(t, g, "echo", fmt.Sprintf(`{"n":%d}`, n)); got.IsError || !strings.Contains(got.Structured, fmt.Sprint(n)) {
			t.Fatalf("call %d: %+v", n, got)
		}
	}
	if i.conns.Load() == 0 || i.bytes.Load() != 0 {
		t.Errorf("the impostor had %d connections and read %d bytes", i.conns.Load(), i.bytes.Load())
	}
}

// started reports whether a worker runs in the folder.
func started(dir string) bool {
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && to == here {
			return true
		}
	}
	return false
}

// TestAnImpostorAfterTheWorker: the worker stops listening, and somebody else
// takes the port.
func TestAnImpostorAfterTheWorker(t *testing.T) {
	port := unusedPort(t)
	dir := newApp(t, "plain", functionapp.Tool{Name: "Echo", Envelope: true}, functionapp.Tool{Name: "Deaf"})
	write(t, dir, "host.json", hostFile("plain", port))
	g, _ := serve(t, dir, host.Options{})
	if got := call(t, g, "deaf", `{}`); got.IsError {
		t.Fatalf("%+v", got)
	}
	var i *impostor
	for i == nil {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = l.Close()
			i = listenAsImpostor(t, fmt.Sprintf("127.0.0.1:%d", port))
		}
	}
	for range 3 {
		got := call(t, g, "echo", `{"secret":"x"}`)
		if !got.IsError || got.Executed == "yes" {
			t.Errorf("%+v", got)
		}
	}
	if i.bytes.Load() != 0 {
		t.Errorf("the impostor read %d bytes", i.bytes.Load())
	}
}

// TestAWrapperStartsTheWorker: who listens is not the process that was started
// but one that it started.
func TestAWrapperStartsTheWorker(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Echo", Envelope: true})
	write(t, dir, "run.sh", "#!/bin/sh\n'"+os.Args[0]+"' "+asWorker+" plain\nexit $?\n")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "host.json", `{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":"run.sh"}}}`)
	g, _ := serve(t, dir, host.Options{})
	for n := range 20 {
		if got := call(t, g, "echo", fmt.Sprintf(`{"n":%d}`, n)); got.IsError {
			t.Fatalf("%+v", got)
		}
	}
}

// TestAPortThatIsTrusted: a program that the worker did not start answers for
// it, because the operator says so.
func TestAPortThatIsTrusted(t *testing.T) {
	port := unusedPort(t)
	dir := newApp(t, "never listen", functionapp.Tool{Name: "Echo", Envelope: true})
	write(t, dir, "host.json", hostFile("never listen", port))
	g, _ := serve(t, dir, host.Options{TrustPort: true, OnDemand: true})
	answered := make(chan outcome, 1)
	go func() { answered <- call(t, g, "echo", `{"n":1}`) }()
	for !started(dir) {
		runtime.Gosched()
	}
	t.Chdir(t.TempDir()) // where it leaves a file
	t.Setenv("FUNCTIONS_CUSTOMHANDLER_PORT", fmt.Sprint(port))
	go work("plain")
	if got := <-answered; got.IsError {
		t.Errorf("%+v", got)
	}
}
