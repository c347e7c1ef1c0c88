package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// guarded is a server with TLS and two keys: polite may make every call, narrow only
// the tool open.
type guarded struct {
	*target
	config *tls.Config
	hidden *atomic.Int64 // calls that narrow may not make
	tidy   func()
}

const (
	politeKey = "polite-key-0123456789"
	narrowKey = "narrow-key-0123456789"
)

func serveGuarded(ctx context.Context, tenon string) (*guarded, error) {
	g := &guarded{hidden: new(atomic.Int64)}
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hidden" {
			g.hidden.Add(1)
		}
		itemsOf(`{"items":[]}`)(w, r)
	})
	if err != nil {
		return nil, err
	}
	cert, authority, err := certificate()
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return nil, err
	}
	g.tidy = func() { _ = os.RemoveAll(folder) }
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	err = errors.Join(os.WriteFile(certFile, authority, 0o600), os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	if err == nil {
		g.target, err = serveAs(ctx, tenon, []string{"POLITE=" + politeKey, "NARROW=" + narrowKey}, document("http://"+up, "hidden", "open"), "--envelope", "native",
			"--api-key", "polite=env:POLITE", "--api-key", "narrow=env:NARROW", "--allow", "key:polite=*", "--allow", "key:narrow=id:open", "--tls-cert", certFile, "--tls-key", keyFile)
	}
	if err != nil {
		g.tidy()
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	g.config = &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	return g, nil
}

func (g *guarded) stop() {
	g.target.stop()
	g.tidy()
}

// over returns a client with connections of its own.
func (g *guarded) over() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: g.config.Clone(), ForceAttemptHTTP2: true}, Timeout: 20 * time.Second}
}

// ask sends a message by c and returns the status and the body.
func (g *guarded) ask(ctx context.Context, c *http.Client, body string, headers ...string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+g.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	if res.ProtoMajor != 2 {
		return 0, "", fmt.Errorf("the server speaks %s", res.Proto)
	}
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// overTLS are callers of a server with TLS, most by HTTP/2: old versions, callers
// who share a connection, headers that have two readings, floods of frames.
func overTLS(ctx context.Context, tenon string) (string, error) {
	g, err := serveGuarded(ctx, tenon)
	if err != nil {
		return "", err
	}
	defer g.stop()
	for _, step := range []func(context.Context) error{g.oldVersions, g.oneConnection, g.twoReadings, g.floods} {
		if err := step(ctx); err != nil {
			return "", err
		}
	}
	if n := g.hidden.Load(); n != 200 { // those that polite made in oneConnection
		return "", fmt.Errorf("%d hidden calls were made, 200 are right", n)
	}
	peak := g.megabytes("VmHWM")
	if peak > 350 {
		return "", fmt.Errorf("the peak is %d MB", peak)
	}
	return fmt.Sprintf("2 old versions, 400 calls of two callers on a connection, %d forms of headers, %d floods beside a polite caller, peak %d MB", len(forms()), len(frameFloods()), peak), nil
}

// oldVersions: versions before 1.2 are refused, and so is a request without TLS.
func (g *guarded) oldVersions(context.Context) error {
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		old := g.config.Clone()
		old.MinVersion, old.MaxVersion = version, version
		if c, err := tls.Dial("tcp", g.addr, old); err == nil {
			_ = c.Close()
			return fmt.Errorf("%s is served", tls.VersionName(version))
		}
	}
	got, err := exchange(g.addr, raw(message("tools/call", `"name":"hidden","arguments":{}`), "X-API-Key: "+politeKey))
	if err != nil || !strings.HasPrefix(got, "HTTP/1.0 400") {
		return fmt.Errorf("without TLS: %.100q %w", got, err)
	}
	return nil
}

// oneConnection: two callers behind one proxy share its connection, and nothing else.
func (g *guarded) oneConnection(ctx context.Context) error {
	c := g.over()
	defer c.CloseIdleConnections()
	hidden := message("tools/call", `"name":"hidden","arguments":{}`)
	status, got, err := g.ask(ctx, c, hidden)
	if err != nil || status != http.StatusUnauthorized {
		return fmt.Errorf("without a key: %d %.200s %w", status, got, err)
	}
	return together(400, func(i int) error {
		key, wanted := politeKey, `{"items":[]}`
		if i%2 == 0 {
			key, wanted = narrowKey, "unknown tool"
		}
		_, got, err := g.ask(ctx, c, hidden, "X-API-Key", key)
		if err != nil || !strings.Contains(got, wanted) {
			return fmt.Errorf("caller %d: %.200s %w", i%2, got, err)
		}
		return nil
	})
}

// field is a header as HPACK has it without compression: a literal without indexing
// (RFC 7541, 6.2.2).
func field(name, value string) []byte {
	b := append([]byte{0}, byte(len(name)))
	b = append(append(b, name...), byte(len(value)))
	return append(b, value...)
}

// fields are the headers of a request with this body.
func fields(body string, more ...string) (b []byte) {
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", "/mcp"}, {":authority", "127.0.0.1"}, {"content-type", "application/json"}, {"accept", "application/json"}, {"content-length", strconv.Itoa(len(body))}} {
		b = append(b, field(h[0], h[1])...)
	}
	for i := 0; i < len(more); i += 2 {
		b = append(b, field(more[i], more[i+1])...)
	}
	return b
}

// forms are headers of a call that nobody with this key may make, and that a reader
// who is less strict than the one behind it would let pass.
func forms() map[string][]byte {
	hidden := message("tools/call", `"name":"hidden","arguments":{}`)
	return map[string][]byte{
		"two keys, the right one last":   fields(hidden, "x-api-key", narrowKey, "x-api-key", politeKey),
		"two keys, the right one first":  fields(hidden, "x-api-key", politeKey, "x-api-key", narrowKey),
		"two keys in one":                fields(hidden, "x-api-key", narrowKey+","+politeKey),
		"a key in capitals":              fields(hidden, "X-API-KEY", politeKey),
		"a line break in a value":        fields(hidden, "x-other", "a\r\nx-api-key: "+politeKey),
		"a zero in a value":              fields(hidden, "x-api-key", politeKey+"\x00"),
		"a foreign authority":            append(fields(hidden, "x-api-key", politeKey), field(":authority", "evil.example")...),
		"a second host":                  fields(hidden, "x-api-key", politeKey, "host", "evil.example", "origin", "https://evil.example"),
		"a second path":                  append(fields(hidden, "x-api-key", politeKey), field(":path", "/healthz")...),
		"a coding of HTTP/1.1":           fields(hidden, "x-api-key", politeKey, "transfer-encoding", "chunked"),
		"a connection that is forgotten": fields(hidden, "x-api-key", politeKey, "connection", "x-api-key"),
		"a length that is too short":     fields("x", "x-api-key", politeKey),
		"an upgrade":                     fields(hidden, "x-api-key", politeKey, "upgrade", "h2c"),
		"no path at all":                 append(field(":method", "POST"), field("x-api-key", politeKey)...),
		"a tunnel":                       append(append(field(":method", "CONNECT"), field(":authority", "127.0.0.1:1")...), field("x-api-key", politeKey)...),
	}
}

// twoReadings sends each of the forms. None makes a call: where a caller is known it
// is not by guessing, and a request that is no proper one is none.
func (g *guarded) twoReadings(context.Context) error {
	body := []byte(message("tools/call", `"name":"hidden","arguments":{}`))
	before := g.hidden.Load()
	var heads [][]byte
	var names []string
	for name, head := range forms() {
		names, heads = append(names, name), append(heads, head)
	}
	err := together(len(heads), func(i int) error {
		if err := g.frames(time.Second, frame(frameHeaders, endHeaders, 1, heads[i]), frame(frameData, endStream, 1, body)); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		return nil
	})
	if n := g.hidden.Load() - before; n != 0 {
		return fmt.Errorf("%d calls were made by one of %v", n, names)
	}
	return err
}

// frames opens a connection, sends frames and reads what comes until the server
// closes it or the time is over.
func (g *guarded) frames(within time.Duration, all ...[]byte) error {
	c, err := tls.Dial("tcp", g.addr, g.config)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(within))
	if _, err := io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, c)
		close(done)
	}()
	send(c, append([][]byte{frame(frameSettings, 0, 0, nil)}, all...)...) // who refuses may have hung up
	<-done
	return nil
}

// frameFloods are frames that cost their sender little, again and again on the
// connections of one caller. What each returns is sent as often as the server takes it.
func frameFloods() map[string]func(round uint32) []byte {
	body := message("ping", "")
	request := func(stream uint32) []byte {
		return frame(frameHeaders, endHeaders, stream, fields(body, "x-api-key", narrowKey))
	}
	repeated := func(b []byte) func(uint32) []byte {
		return func(uint32) []byte { return b }
	}
	return map[string]func(uint32) []byte{
		"requests that are taken back": func(n uint32) []byte {
			return append(request(2*n+1), frame(frameReset, 0, 2*n+1, []byte{0, 0, 0, 8})...)
		},
		"requests without a body": func(n uint32) []byte { return request(2*n + 1) },
		"bodies without an end":   func(n uint32) []byte { return append(request(2*n+1), frame(frameData, 0, 2*n+1, nil)...) },
		"headers without an end": func(n uint32) []byte {
			if n == 0 {
				return frame(frameHeaders, 0, 1, fields(body))
			}
			return frame(frameContinued, 0, 1, field("x-"+strconv.Itoa(int(n)), strings.Repeat("x", 100)))
		},
		"settings": repeated(frame(frameSettings, 0, 0, []byte{0, 1, 0, 0, 16, 0})),
		"pings":    repeated(frame(framePing, 0, 0, make([]byte, 8))),
		"resets":   repeated(frame(frameReset, 0, 1, make([]byte, 4))),
		"nothing":  repeated(nil),
	}
}

// floods sends each flood by 16 connections, and half a handshake by 200 more, while a
// polite caller is served in its time.
func (g *guarded) floods(ctx context.Context) error {
	var halves []net.Conn
	defer func() {
		for _, c := range halves {
			_ = c.Close()
		}
	}()
	for range 200 {
		c, err := net.Dial("tcp", g.addr)
		if err != nil {
			return err
		}
		_, _ = c.Write([]byte{0x16, 3, 1, 2, 0, 1})
		halves = append(halves, c)
	}
	for name, flood := range frameFloods() {
		short, cancel := context.WithTimeout(ctx, time.Second)
		ended := make(chan error, 1)
		go func() {
			ended <- together(16, func(int) error { return g.flood(short, flood) })
		}()
		err := g.politely(short)
		cancel()
		if err = errors.Join(err, <-ended); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// politely calls until ctx ends, each time by a connection of its own.
func (g *guarded) politely(ctx context.Context) error {
	for ctx.Err() == nil {
		c, began := g.over(), time.Now()
		_, got, err := g.ask(context.WithoutCancel(ctx), c, message("tools/call", `"name":"open","arguments":{}`), "X-API-Key", politeKey)
		c.CloseIdleConnections()
		if took := time.Since(began); err != nil || !strings.Contains(got, `{"items":[]}`) || took > 5*time.Second {
			return fmt.Errorf("a polite call after %v: %.200s %w", took, got, err)
		}
	}
	return nil
}

// flood sends what the server takes until ctx ends, by one connection after the other.
func (g *guarded) flood(ctx context.Context, flood func(uint32) []byte) error {
	for ctx.Err() == nil {
		c, err := tls.Dial("tcp", g.addr, g.config)
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		go func() { _, _ = io.Copy(io.Discard, c) }()
		_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		alive := send(c, frame(frameSettings, 0, 0, nil))
		for round := uint32(0); alive && ctx.Err() == nil; round++ {
			b := flood(round)
			if b == nil { // silence
				<-ctx.Done()
			}
			alive = send(c, b)
		}
		stop()
		_ = c.Close()
	}
	return nil
}
