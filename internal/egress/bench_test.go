//go:build unix

package egress_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// cpuTime is what the process has used so far, in nanoseconds: on a machine
// that does other work too it says more than the clock. The upstream's share is
// in it, the same for both ways.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

// BenchmarkDo compares Do with the least that a program can do: the standard
// client and io.ReadAll, with as many idle connections.
func BenchmarkDo(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		} else {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	}))
	defer s.Close()
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.1"}})
	if err != nil {
		b.Fatal(err)
	}
	plain := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	ways := map[string]func(*http.Request) (int, error){
		"plain": func(r *http.Request) (int, error) {
			got, err := plain.Do(r)
			if err != nil {
				return 0, err
			}
			defer got.Body.Close()
			body, err := io.ReadAll(got.Body)
			return len(body), err
		},
		"egress": func(r *http.Request) (int, error) {
			got, err := egress.Do(client, r, 1<<20)
			return len(got.Body), err
		},
	}
	for _, path := range []string{"/length", "/chunks"} {
		for _, n := range []int{200, 50_000} {
			for _, way := range []string{"plain", "egress"} {
				b.Run(fmt.Sprintf("%s/%d/%s", path[1:], n, way), func(b *testing.B) {
					b.ReportAllocs()
					url := fmt.Sprintf("%s%s?n=%d", s.URL, path, n)
					before := cpuTime(b)
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
							if err != nil {
								b.Fatal(err)
							}
							if got, err := ways[way](r); err != nil || got != n {
								b.Fatal(got, err)
							}
						}
					})
					b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
				})
			}
		}
	}
}
