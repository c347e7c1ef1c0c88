package egress_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// secure starts an upstream that speaks TLS, and HTTP/2 if asked to.
func secure(t *testing.T, http2 bool, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func trusting(t *testing.T, s *httptest.Server) *http.Client {
	t.Helper()
	c := local(t)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	egress.Trust(c, roots)
	return c
}

func TestOverTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[http2], func(t *testing.T) {
			var requests atomic.Int32
			s := secure(t, http2, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				requests.Add(1)
				if r.ProtoMajor == 2 != http2 {
					t.Errorf("spoke %s", r.Proto)
				}
				switch r.URL.Path {
				case "/abort":
					panic(http.ErrAbortHandler)
				case "/half":
					w.Header().Set("Content-Length", "10")
					_, _ = w.Write([]byte("half"))
					http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
				_, _ = w.Write([]byte("whole"))
			})
			client := trusting(t, s)
			defer client.CloseIdleConnections()
			for _, c := range []struct {
				path string
				want outcome
			}{
				{"/", outcome{progress: egress.Responded, status: 200, body: "whole"}},
				{"/abort", outcome{egress.Network, egress.SentNoResponse, 0, ""}},
				{"/half", outcome{egress.Truncated, egress.SentNoResponse, 200, "half"}},
				{"/", outcome{progress: egress.Responded, status: 200, body: "whole"}},
			} {
				requests.Store(0)
				got, err := egress.Do(client, request(t, http.MethodPost, s.URL+c.path, "x"), 100)
				if c.want.progress != egress.Responded {
					expect(t, c.want, got, err)
				} else if have := (outcome{0, got.State, got.Status, string(got.Body)}); err != nil || have != c.want {
					t.Errorf("%s: got %+v, %v", c.path, have, err)
				}
				if n := requests.Load(); n != 1 {
					t.Errorf("%s: %d requests arrived", c.path, n)
				}
			}
		})
	}
}

// A certificate that is not accepted keeps the request back, and the reason is
// told without a word of the certificate.
func TestCertificates(t *testing.T) {
	var requests atomic.Int32
	s := secure(t, false, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := client(t, egress.Options{AllowHosts: []string{"localhost", "127.0.0.1"}})
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	egress.Trust(elsewhere, roots)
	for name, c := range map[string]struct {
		client *http.Client
		url    string
		why    string
	}{
		"an unknown authority": {local(t), s.URL, "signed by an unknown authority"},
		"another host":         {elsewhere, "https://localhost:" + port, "for another host"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := egress.Do(c.client, request(t, http.MethodPost, c.url, "x"), 100)
			expect(t, outcome{egress.Network, egress.NotSent, 0, ""}, got, err)
			if !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "example.com") {
				t.Error(err)
			}
		})
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestUpstreamThatEndsTheHandshake(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return nil, http.ErrAbortHandler
	}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	got, err := egress.Do(local(t), request(t, http.MethodPost, s.URL, "x"), 100)
	expect(t, outcome{egress.Network, egress.NotSent, 0, ""}, got, err)
	if !strings.Contains(err.Error(), "ended the TLS handshake") {
		t.Error(err)
	}
}

// An upstream that has nothing newer than TLS 1.1 gets no request.
func TestOldTLSIsNotSpoken(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	s.StartTLS()
	defer s.Close()
	got, err := egress.Do(trusting(t, s), request(t, http.MethodPost, s.URL, "x"), 100)
	expect(t, outcome{egress.Network, egress.NotSent, 0, ""}, got, err)
}
