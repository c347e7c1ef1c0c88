package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// soak is what ordinary clients do, for long: calls, large answers, lists,
// sessions, errors. Memory and descriptors are in the end what they were after
// the first quarter.
func soak(ctx context.Context, tenon string) (string, error) {
	large := items(1 << 20)
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(large)
		case "/broken":
			w.WriteHeader(http.StatusBadGateway)
		default:
			_, _ = w.Write([]byte(`{"items":[]}`))
		}
	})
	if err != nil {
		return "", err
	}
	t, err := serve(ctx, tenon, document("http://"+up, "small", "large", "broken"), "--max-concurrent-calls", "64")
	if err != nil {
		return "", err
	}
	defer t.stop()
	var calls atomic.Int64
	work := func(d time.Duration) error {
		until := time.Now().Add(d)
		return together(8, func(i int) error {
			for n := i; time.Now().Before(until); n++ {
				want, body := `"structuredContent"`, message("tools/call", `"name":"`+[]string{"small", "large", "broken", "small"}[n%4]+`","arguments":{}`)
				switch n % 16 {
				case 5:
					want, body = `"tools":[`, message("tools/list", "")
				case 9:
					want, body = `"serverInfo"`, message("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}`)
				}
				got, err := t.post(ctx, body)
				if err != nil || !strings.Contains(got, want) {
					return fmt.Errorf("%.300s %w", got, err)
				}
				calls.Add(1)
			}
			return nil
		})
	}
	if err := work(*swapTime / 4); err != nil {
		return "", err
	}
	before, files := t.megabytes("VmRSS"), t.descriptors()
	if err := work(*swapTime * 3 / 4); err != nil {
		return "", err
	}
	after := t.megabytes("VmRSS")
	told := fmt.Sprintf("%d requests, %d MB after a quarter, %d MB in the end, peak %d MB", calls.Load(), before, after, t.megabytes("VmHWM"))
	// Parts of large answers and sessions are kept for ten minutes and half an
	// hour, within bounds of their own.
	if after > before+before/2+300 || t.descriptors() > files+16 {
		return "", fmt.Errorf("%s; %d and %d descriptors", told, files, t.descriptors())
	}
	return told, nil
}
