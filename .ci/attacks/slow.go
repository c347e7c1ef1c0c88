package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// items is a JSON value of about so many bytes.
func items(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"number %d of many"}`, i, i)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

const (
	slowClients = 40
	peakAllowed = 600 // MB
	restAllowed = 200
)

// slowReaders are clients that ask for much and read nothing of it. What the
// server takes for them is bounded by its budget, others are served meanwhile,
// and in the end the memory is given back.
func slowReaders(ctx context.Context, tenon string) (string, error) {
	body := items(11 << 20)
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := body
		if strings.HasPrefix(r.URL.Path, "/small") {
			answer = []byte(`{"items":[]}`)
		}
		if r.URL.Path == "/large" {
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		}
		_, _ = w.Write(answer)
	})
	if err != nil {
		return "", err
	}
	t, err := serve(ctx, tenon, document("http://"+up, "large", "chunked", "small"), "--max-result-bytes", "-1", "--envelope", "native")
	if err != nil {
		return "", err
	}
	defer t.stop()
	before := t.megabytes("VmHWM")
	var held []net.Conn
	for i := range slowClients {
		c, err := net.Dial("tcp", t.addr)
		if err != nil {
			return "", err
		}
		held = append(held, c)
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		if _, err := c.Write([]byte(raw(message("tools/call", `"name":"`+[]string{"large", "chunked"}[i%2]+`","arguments":{}`)))); err != nil {
			return "", err
		}
	}
	// The peak stands when it has not grown for a while.
	for last, same := int64(0), 0; same < 5; {
		time.Sleep(time.Second)
		if peak := t.megabytes("VmHWM"); peak == last {
			same++
		} else {
			last, same = peak, 0
		}
	}
	peak := t.megabytes("VmHWM")
	for _, c := range held {
		_ = c.Close()
	}
	if err := together(slowClients, func(int) error {
		got, err := t.call(ctx, "large", "{}")
		if err == nil && len(got) < len(body) {
			err = fmt.Errorf("a client that reads gets %.200s", got)
		}
		return err
	}); err != nil {
		return "", err
	}
	got, err := t.call(ctx, "small", "{}")
	if err != nil || !strings.Contains(got, `"items":[]`) {
		return "", fmt.Errorf("who comes afterwards is not served: %.200s %w", got, err)
	}
	rest := t.megabytes("VmRSS")
	for range 30 {
		if rest = t.megabytes("VmRSS"); rest < restAllowed {
			break
		}
		time.Sleep(time.Second)
	}
	told := fmt.Sprintf("%d clients, peak %d MB (%d MB before), %d MB afterwards", slowClients, peak, before, rest)
	if peak > peakAllowed || rest > restAllowed {
		return "", fmt.Errorf("%s; %d and %d MB are allowed", told, peakAllowed, restAllowed)
	}
	return told, nil
}
