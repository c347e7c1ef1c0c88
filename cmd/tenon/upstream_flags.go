package main

import (
	"crypto/x509"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
)

// wayFlags are the flags about the way to upstreams.
type wayFlags struct {
	roots   string
	connect time.Duration
	shake   time.Duration
	headers time.Duration
	attempt time.Duration
	policy  openapi.Upstream
}

func (f *wayFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.roots, "upstream-ca", "", "file of authorities (PEM) that certificates of upstreams may be signed by, besides the system's")
	fs.DurationVar(&f.connect, "connect-timeout", 0, "the longest that looking up an upstream and connecting to it may take (0: 10s)")
	fs.DurationVar(&f.shake, "tls-timeout", 0, "the longest that a TLS handshake with an upstream may take (0: 10s)")
	fs.DurationVar(&f.headers, "answer-timeout", 0, "the longest from the end of a request to the end of the answer's headers (0: as the request may)")
	f.registerPolicy(cmd)
}

// registerPolicy registers what openapi.Upstream holds.
func (f *wayFlags) registerPolicy(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.DurationVar(&f.attempt, "attempt-timeout", 0, "the longest that one request may take, each attempt anew (0: as --timeout)")
	fs.IntVar(&f.policy.Retries, "retries", 0, "further attempts of a request of an OpenAPI document that failed in passing and may be repeated")
	fs.DurationVar(&f.policy.MaxWait, "max-wait", 0, "the longest wait for the next attempt, also where Retry-After asks for more, or for a turn (0: 10s)")
	fs.IntVar(&f.policy.MaxConcurrent, "max-concurrent", 0, "requests at a time to one upstream (0: no limit)")
	fs.Float64Var(&f.policy.RequestsPerSecond, "max-rate", 0, "requests a second to one upstream (0: no limit)")
	fs.IntVar(&f.policy.BreakerFailures, "breaker", 0, "failures of an upstream in a row after which nothing is sent to it for a while (0: never)")
	fs.DurationVar(&f.policy.BreakerCooldown, "breaker-pause", 0, "for how long nothing is sent then (0: 30s)")
	fs.Int64Var(&f.policy.CacheBytes, "cache-bytes", 0, "bytes of answers that are kept, for each caller alone, as far as upstreams allow it (0: none)")
}

// check refuses numbers that mean nothing.
func (f *wayFlags) check() error {
	p := f.policy
	switch {
	case p.Retries < 0 || p.MaxConcurrent < 0 || p.RequestsPerSecond < 0 || p.BreakerFailures < 0 || p.CacheBytes < 0:
		return usagef("--retries, --max-concurrent, --max-rate, --breaker and --cache-bytes cannot be negative")
	case p.MaxWait < 0 || p.BreakerCooldown < 0 || f.attempt < 0 || f.connect < 0 || f.shake < 0 || f.headers < 0:
		return usagef("times of the way to upstreams cannot be negative")
	}
	return nil
}

// client makes the way out.
func (f *wayFlags) client(allowHosts []string) (*http.Client, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
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
