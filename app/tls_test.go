package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writePair writes a certificate for 127.0.0.1 with this serial number, and its
// key.
func writePair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyBytes}} {
		// Another file of that name, so that it has changed whatever the clock says.
		if err := os.WriteFile(name+".new", pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServeTLS: HTTP/2 over TLS from 1.2 on, with the certificate that is in the
// files now, or the last one that could be read.
func TestServeTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1)
	c := NewConfig()
	c.HTTP, c.TLSCert, c.TLSKey = "127.0.0.1:0", cert, key
	c.AddSpec(filepath.Join("..", "docs", "warehouse.yaml"))
	var log bytes.Buffer
	a, err := New(t.Context(), c, Env{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	l, err := Listen(t.Context(), c.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, l) }()
	if url := a.URL(l); !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Error(url)
	}
	// serial makes a connection of its own and returns whose certificate it got.
	serial := func() int64 {
		client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL(l), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
			t.Errorf("%s over %s", res.Status, res.Proto)
		}
		return res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	writePair(t, cert, key, 2)
	if n := serial(); n != 2 {
		t.Errorf("certificate %d after a new one was written", n)
	}
	writePair(t, cert, filepath.Join(dir, "other.pem"), 3) // the key does not fit yet
	if n := serial(); n != 2 {
		t.Errorf("certificate %d while the new one has no key", n)
	}
	if err := os.Rename(filepath.Join(dir, "other.pem"), key); err != nil {
		t.Fatal(err)
	}
	if n := serial(); n != 3 {
		t.Errorf("certificate %d after its key was written", n)
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	if n := serial(); n != 3 {
		t.Errorf("certificate %d while there is no file", n)
	}
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := (&tls.Dialer{Config: old}).DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is served")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 1 {
		t.Errorf("a key that does not fit is logged %d times:\n%s", n, log.String())
	}
}

func TestTLSThatCannotBeServed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1)
	for want, c := range map[string]Config{
		"belong together":      {HTTP: ":1", TLSCert: cert},
		"is for --http":        {TLSCert: cert, TLSKey: key},
		"no such file":         {HTTP: ":1", TLSCert: cert, TLSKey: key + "x"},
		"failed to find":       {HTTP: ":1", TLSCert: key, TLSKey: key},
		"with the key " + cert: {HTTP: ":1", TLSCert: cert, TLSKey: cert},
	} {
		_, err := readTLS(&c, Env{}.withDefaults())
		if e, ok := errors.AsType[*ConfigError](err); !ok || !strings.Contains(e.CommandLine(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
