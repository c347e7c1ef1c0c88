package app

import (
	"crypto/x509"
	"net/http"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
)

// upstream is how requests to one upstream are limited and repeated.
func upstream(o *SourceOptions) openapi.Upstream {
	return openapi.Upstream{
		Retries: o.Retries, MaxWait: o.MaxWait, MaxConcurrent: o.MaxConcurrency, RequestsPerSecond: o.RateLimit,
		BreakerFailures: o.BreakerFailures, BreakerCooldown: o.BreakerCooldown, CacheBytes: o.CacheBytes,
	}
}

// Client makes the HTTP client for upstreams.
func (o *SourceOptions) Client() (*http.Client, error) { return o.client(Env{}) }

func (o *SourceOptions) client(e Env) (*http.Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	roots, err := authorities(o.UpstreamCA)
	if err != nil {
		return nil, invalid("upstream-ca", ": %v", err)
	}
	use := egress.Options{
		AllowHosts: o.AllowPrivateHost, Roots: roots, Observer: e.observer,
		ConnectTimeout: o.ConnectTimeout, TLSTimeout: o.TLSHandshakeTimeout, HeaderTimeout: o.ResponseHeaderTimeout,
	}
	if e.Recorder != nil {
		use.Record = e.Recorder.RoundTrip
	}
	if e.Player != nil {
		use.Replay = e.Player.RoundTrip
	}
	c, err := egress.NewClient(use)
	if err != nil {
		return nil, invalid("allow-private-host", ": %v", err)
	}
	return c, nil
}

func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, invalid("", "%s holds no certificate in PEM", file)
	}
	return roots, nil
}

// ParseHeaders reads 'Name: value' flags. ${VAR} in a value is taken from the
// environment, so that no secret stands on the command line.
func ParseHeaders(flags []string, getenv func(string) (string, bool)) (http.Header, error) {
	header := http.Header{}
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, invalid("header", " wants 'Name: value'")
		}
		var missing string
		value = variable.ReplaceAllStringFunc(value, func(ref string) string {
			v, ok := getenv(ref[2 : len(ref)-1])
			if !ok {
				missing = ref
			}
			return v
		})
		if missing != "" {
			return nil, invalid("header", " %s: the environment has no variable %s", strings.TrimSpace(name), missing)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}
