package app

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestHealthOfAServerThatLeaves: it lives and serves, and is not ready, until the
// delay is over; nobody is asked for a key or for a host that is known.
func TestHealthOfAServerThatLeaves(t *testing.T) {
	r := newReloading(t)
	r.set(func(c *Config) { c.ShutdownDelay = time.Hour })
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx, l) }()
	get := func(path string) int {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = "10.1.2.3:8080" // as a kubelet calls a pod
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	if a, b := get("/healthz"), get("/readyz"); a != http.StatusOK || b != http.StatusOK {
		t.Errorf("before: %d and %d", a, b)
	}
	end()
	for get("/readyz") != http.StatusServiceUnavailable {
		if t.Context().Err() != nil {
			t.Fatal("it never says that it leaves")
		}
	}
	if got := get("/healthz"); got != http.StatusOK {
		t.Errorf("while it leaves: %d", got)
	}
	if code, _ := r.list(); code != http.StatusOK {
		t.Errorf("a call while it leaves: %d", code)
	}
	_ = l.Close() // instead of an hour
	if err := <-ended; err == nil {
		t.Error("it did not notice that the listener is gone")
	}
}
