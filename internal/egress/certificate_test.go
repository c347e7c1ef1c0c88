package egress_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// named makes a certificate for a client of that name.
func named(t *testing.T, name string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	body := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, body, body, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// asking starts an upstream that asks for a certificate, tells whose it saw,
// and sends /away to another.
func asking(t *testing.T, away string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, away, http.StatusFound)
			return
		}
		who := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			who = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = io.WriteString(w, who)
	}))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestClientCertificates(t *testing.T) {
	other := asking(t, "")
	home := asking(t, other.URL)
	roots := x509.NewCertPool()
	roots.AddCert(home.Certificate())
	roots.AddCert(other.Certificate())
	plain := client(t, egress.Options{AllowHosts: []string{"127.0.0.1"}, Roots: roots})
	showing := func(name string) *http.Client {
		certificate := named(t, name)
		c, err := egress.WithCertificates(plain, map[string]func() (*tls.Certificate, error){
			home.URL: func() (*tls.Certificate, error) { return certificate, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.CloseIdleConnections)
		return c
	}
	alice, bob := showing("alice"), showing("bob")
	for range 3 { // the second time on a kept connection
		for _, c := range []struct {
			client    *http.Client
			url, want string
		}{
			{alice, home.URL, "alice"},
			{bob, home.URL, "bob"},
			{plain, home.URL, "nobody"},
			{alice, other.URL, "nobody"},
			{alice, home.URL + "/away", "nobody"},
		} {
			got, err := egress.Do(c.client, request(t, http.MethodGet, c.url, ""), 100)
			if err != nil || string(got.Body) != c.want {
				t.Errorf("%s: got %s, %v, want %s", c.url, got.Body, err, c.want)
			}
		}
	}
	lost, err := egress.WithCertificates(plain, map[string]func() (*tls.Certificate, error){
		home.URL: func() (*tls.Certificate, error) { return nil, errors.New("open /secret/place") },
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := egress.Do(lost, request(t, http.MethodGet, home.URL, ""), 100)
	expect(t, outcome{egress.Forbidden, got.State, 0, ""}, got, err)
	if !strings.Contains(err.Error(), "cannot read the client certificate") {
		t.Error(err)
	}
	if _, err := egress.WithCertificates(&http.Client{}, nil); err == nil {
		t.Error("a foreign client can be given certificates")
	}
}

// A transport that is put in the place of ours, so that nothing is sent, gets
// the requests with certificates too.
func TestClientCertificatesAndAnotherTransport(t *testing.T) {
	home := asking(t, "")
	plain := local(t)
	c, err := egress.WithCertificates(plain, map[string]func() (*tls.Certificate, error){home.URL: nil})
	if err != nil {
		t.Fatal(err)
	}
	plain.Transport = failing{}
	if _, err := egress.Do(c, request(t, http.MethodGet, home.URL, ""), 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}
