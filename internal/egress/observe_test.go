package egress_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// watcher notes what it is told.
type watcher struct {
	mu       sync.Mutex
	began    int
	ended    []egress.RequestRecord
	lookups  []bool
	breakers []string
}

type beganKey struct{}

func (w *watcher) BeginRequest(r *http.Request) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began++
	r.Header.Set("Traceparent", "here")
	return context.WithValue(r.Context(), beganKey{}, true)
}

func (w *watcher) EndRequest(ctx context.Context, r egress.RequestRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Value(beganKey{}) == nil {
		r.Failure = "another context"
	}
	w.ended = append(w.ended, r)
}

func (w *watcher) CacheLookup(hit bool)                { w.lookups = append(w.lookups, hit) }
func (w *watcher) BreakerChanged(origin, state string) { w.breakers = append(w.breakers, state) }

func observedClient(t *testing.T, h http.HandlerFunc) (*watcher, *http.Client, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w := &watcher{}
	c, err := egress.NewClient(egress.Options{AllowHosts: []string{strings.TrimPrefix(s.URL, "http://")}, Observer: w})
	if err != nil {
		t.Fatal(err)
	}
	return w, c, s.URL
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each attempt is told, with what the upstream was told, how often it was tried
// before, and how it ended.
func TestObserverIsToldOfAttempts(t *testing.T) {
	n := 0
	w, c, url := observedClient(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n < 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, r.Header.Get("Traceparent"))
	})
	got, err := egress.NewUpstreams(c, egress.Policy{Retries: 5}).Do(get(t, url), egress.RequestOptions{MaxBody: 100, Idempotent: true})
	if err != nil || string(got.Body) != "here" {
		t.Fatal(got, err)
	}
	var said []int
	for _, r := range w.ended {
		said = append(said, r.Resends, r.Status)
	}
	if !slices.Equal(said, []int{0, 503, 1, 503, 2, 200}) || w.began != 3 || w.ended[2].Failure != "" || w.ended[2].Duration <= 0 {
		t.Error(said, w.began, w.ended)
	}
}

// What ends without a whole response says why, once.
func TestObserverIsToldOfFailures(t *testing.T) {
	w, c, url := observedClient(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	})
	if _, err := egress.Do(c, get(t, url), 10); err == nil {
		t.Error("it is too large")
	}
	if _, err := egress.Do(c, get(t, "http://127.0.0.2:1/"), 10); err == nil {
		t.Error("it is not allowed")
	}
	o, _, err := egress.Open(c, get(t, url), 1000)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(o)
	_, _ = o.Close(), o.Close()
	var said []string
	for _, r := range w.ended {
		said = append(said, r.Failure)
	}
	if !slices.Equal(said, []string{"response too large", "refused", ""}) || !w.ended[1].NotSent || w.ended[0].NotSent {
		t.Errorf("%q %v", said, w.ended)
	}
}

// Lookups in the cache and the state of breakers are told.
func TestObserverIsToldOfCacheAndBreaker(t *testing.T) {
	failing := false
	w, c, url := observedClient(t, func(w http.ResponseWriter, _ *http.Request) {
		if failing {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, "x")
	})
	u := egress.NewUpstreams(c, egress.Policy{CacheBytes: 1 << 20, Failures: 2})
	for range 2 {
		if _, err := u.Do(get(t, url), egress.RequestOptions{MaxBody: 100, Safe: true}); err != nil {
			t.Fatal(err)
		}
	}
	failing = true
	for range 3 {
		_, _ = u.Do(get(t, url+"/other"), egress.RequestOptions{MaxBody: 100, Safe: true})
	}
	if !slices.Equal(w.lookups, []bool{false, true, false, false, false}) || !slices.Equal(w.breakers, []string{"closed", "open"}) || w.began != 3 {
		t.Error(w.lookups, w.breakers, w.began)
	}
}
