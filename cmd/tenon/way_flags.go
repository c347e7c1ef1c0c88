package main

import (
	"crypto/x509"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// wayFlags are the flags about the way to upstreams.
type wayFlags struct {
	roots   string
	connect time.Duration
	shake   time.Duration
	headers time.Duration
}

func (f *wayFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.roots, "upstream-ca", "", "file of authorities (PEM) that certificates of upstreams may be signed by, besides the system's")
	fs.DurationVar(&f.connect, "connect-timeout", 0, "the longest that looking up an upstream and connecting to it may take (0: 10s)")
	fs.DurationVar(&f.shake, "tls-timeout", 0, "the longest that a TLS handshake with an upstream may take (0: 10s)")
	fs.DurationVar(&f.headers, "answer-timeout", 0, "the longest from the end of a request to the end of the answer's headers (0: 30s)")
}

// client makes the way out.
func (f *wayFlags) client(allowHosts []string) (*http.Client, error) {
	roots, err := f.authorities()
	if err != nil {
		return nil, usagef("--upstream-ca: %v", err)
	}
	c, err := egress.NewClient(egress.Options{
		AllowHosts: allowHosts, Roots: roots,
		ConnectTimeout: f.connect, TLSTimeout: f.shake, HeaderTimeout: f.headers,
	})
	if err != nil {
		return nil, usagef("--allow-host: %v", err)
	}
	return c, nil
}

func (f *wayFlags) authorities() (*x509.CertPool, error) {
	if f.roots == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.roots)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, usagef("%s holds no certificate in PEM", f.roots)
	}
	return roots, nil
}
