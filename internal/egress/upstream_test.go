package egress_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// upstream is a far side made by hand, that can misbehave as no HTTP server
// does. It counts what really arrived.
type upstream struct {
	address  string
	conns    atomic.Int32
	requests atomic.Int32 // read to their end
	stop     chan struct{}
	running  sync.WaitGroup
}

// listen serves each connection with the function and closes it afterwards.
func listen(t *testing.T, serve func(u *upstream, c *net.TCPConn, r *bufio.Reader)) *upstream {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{address: l.Addr().String(), stop: make(chan struct{})}
	u.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conn, ok := c.(*net.TCPConn)
			if !ok {
				panic("a TCP listener gave another connection")
			}
			u.conns.Add(1)
			u.running.Go(func() {
				defer conn.Close()
				serve(u, conn, bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(func() {
		close(u.stop)
		_ = l.Close()
		u.running.Wait()
	})
	return u
}

// read takes one whole request off the connection.
func (u *upstream) read(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return false
	}
	u.requests.Add(1)
	return true
}

// expect waits until so many requests have arrived: what a client sent before
// it gave up may still be on its way.
func (u *upstream) expect(t *testing.T, want int32) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); u.requests.Load() < want && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := u.requests.Load(); n != want {
		t.Errorf("%d requests arrived, want %d", n, want)
	}
}

// hang holds the connection until the client closes it or the test ends.
func (u *upstream) hang(c net.Conn) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, c)
	}()
	select {
	case <-gone:
	case <-u.stop:
		_ = c.Close()
		<-gone
	}
}

// The ways in which an upstream ends a connection.
type ending int

const (
	closes ending = iota
	resets
	hangs
)

func (u *upstream) end(c *net.TCPConn, how ending) {
	switch how {
	case resets:
		_ = c.SetLinger(0)
	case hangs:
		u.hang(c)
	case closes:
	}
}

func client(t *testing.T, o egress.Options) *http.Client {
	t.Helper()
	c, err := egress.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// local is a client that may reach the upstreams of a test.
func local(t *testing.T) *http.Client {
	t.Helper()
	return client(t, egress.Options{AllowHosts: []string{"127.0.0.1"}})
}

func request(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settle waits until no more goroutines run than before.
func settle(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines ran before, %d are left:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}
