package app

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections need no network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) { return <-p, nil }
func (p pipes) Close() error              { return nil }
func (p pipes) Addr() net.Addr            { return &net.TCPAddr{} }

// TestDeadlinesOfReads: a read ends at its deadline, whenever that was set, and
// one that was lifted or moved has no effect.
func TestDeadlinesOfReads(t *testing.T) {
	const lifted, never = 0, -1
	for _, c := range []struct {
		name   string
		before []time.Duration // deadlines before the read, from now on
		during []time.Duration // a second after each other, while it reads
		ends   time.Duration   // never: only what is written ends it
	}{
		{"one that comes", []time.Duration{5 * time.Second}, nil, 5 * time.Second},
		{"one that was moved", []time.Duration{5 * time.Second, time.Minute}, nil, time.Minute},
		{"one that was lifted", []time.Duration{5 * time.Second, lifted}, nil, never},
		{"one that is over", []time.Duration{-time.Hour}, nil, 0},
		{"one that was over and lifted", []time.Duration{-time.Hour, lifted}, nil, never},
		{"one that is set while it reads", nil, []time.Duration{5 * time.Second}, 6 * time.Second},
		{"one that is over, set while it reads", nil, []time.Duration{-time.Hour}, time.Second},
		{"one that is lifted while it reads", []time.Duration{5 * time.Second}, []time.Duration{lifted}, never},
		{"one that is put off while it reads", []time.Duration{5 * time.Second}, []time.Duration{time.Minute, time.Hour}, 2*time.Second + time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				defer there.Close()
				l := make(pipes, 1)
				l <- here
				conn, err := (&idleListener{Listener: l}).Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				set := func(in time.Duration) {
					var at time.Time
					if in != lifted {
						at = time.Now().Add(in)
					}
					if err := conn.SetReadDeadline(at); err != nil {
						t.Error(err)
					}
				}
				for _, in := range c.before {
					set(in)
				}
				var others sync.WaitGroup
				defer others.Wait()
				others.Go(func() {
					for _, in := range c.during {
						time.Sleep(time.Second)
						set(in)
					}
					if c.ends == never {
						time.Sleep(2 * time.Hour)
						_, _ = there.Write([]byte("x")) // else the read fails
					}
				})
				began := time.Now()
				_, err = conn.Read(make([]byte, 1))
				took := time.Since(began)
				if c.ends == never && err != nil {
					t.Errorf("it ended after %v: %v", took, err)
				}
				if c.ends != never && (!errors.Is(err, os.ErrDeadlineExceeded) || took != c.ends) {
					t.Errorf("it ended after %v, %v, want %v", took, err, c.ends)
				}
				set(lifted)
				others.Go(func() { _, _ = there.Write([]byte("y")) }) // as above
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					t.Errorf("no read after it: %v", err)
				}
			})
		})
	}
}

// TestIdleConnections: net/http behaves as documented over such connections.
func TestIdleConnections(t *testing.T) {
	gone := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })
	mux.HandleFunc("/wait", func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(gone)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 50 * time.Millisecond, IdleTimeout: 50 * time.Millisecond}
	go func() { _ = web.Serve(&idleListener{Listener: l}) }()
	defer web.Close()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}

	slow := dial()
	if _, err := io.WriteString(slow, "GET / HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(slow); err != nil {
		t.Errorf("after a head that does not end: %q, %v", rest, err)
	}

	idle := dial()
	in := bufio.NewReader(idle)
	if _, err := io.WriteString(idle, "GET / HTTP/1.1\r\nHost: here\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); string(body) != "here" {
		t.Errorf("the answer is %q, %v", body, err)
	}
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("an idle connection got %q, %v", rest, err)
	}

	lost := dial()
	if _, err := io.WriteString(lost, "GET /wait HTTP/1.1\r\nHost: here\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = lost.Close()
	<-gone
}

// TestHalfOfAConnectionEnds: what the other side still says can be read.
func TestHalfOfAConnectionEnds(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	there, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	here, err := (&idleListener{Listener: tcp}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	half, ok := here.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		t.Fatal("it cannot be closed for writing alone")
	}
	if _, err := there.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the other side reads: %v", err)
	}
	if _, err := io.WriteString(there, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}
