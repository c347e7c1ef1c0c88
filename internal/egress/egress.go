// Package egress is the only way out: every request to an external service goes
// through a client that it creates. It implements the address policy,
// redirects, and limits of time and size, and records how far each request got.
// Upstreams adds what depends on other requests: retries, limits, a circuit
// breaker, a cache.
//
// It does not know what a request is for: no tool, no description, no security
// scheme.
//
// It is at the far end of the path of a call: a source's handler builds a
// request, Do sends it and returns status, headers, bytes and progress.
//
// Rules of this package:
//
//   - An address that is not publicly routable is dialed only if the operator
//     allowed it. The address that is checked is the address that is dialed.
//   - Nothing that could be a credential is sent to another origin.
//   - An unsafe request is sent once: a redirect never repeats it elsewhere.
//   - No message contains a query string, user information or a header value.
package egress

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync"
	"time"
)

// Options configure a client. The zero value works.
type Options struct {
	AllowHosts      []string       // hosts, host:port pairs, IPs and CIDRs that may be private; empty: public addresses only
	MaxRedirects    int            // maximum number of redirects of a request; 0: 5; negative: none
	ConnectTimeout  time.Duration  // DNS lookup and connection; 0: 10 s
	TLSTimeout      time.Duration  // TLS handshake; 0: 10 s
	HeaderTimeout   time.Duration  // from the end of the request to the end of the response headers; 0: no limit but the context
	MaxConnsPerHost int            // connections to one host; 0: no limit
	UserAgent       string         // for requests without one; empty: "tenon"
	Roots           *x509.CertPool // certificate authorities of upstreams; nil: those of the system
	Observer        Observer       // told of requests; nil: nobody is
	Record          Record         // sees every exchange but those of Fetch; nil: nobody does
	Replay          Replay         // answers requests in place of the network, but for those of Fetch; nil: nobody does
}

const (
	maxResponseHeaders = 512 << 10        // bytes; the standard library's default is 10 MiB
	idlePerHost        = 128              // idle connections per host; with the standard library's 2, 64 clients keep reconnecting
	idleTotal          = 1024             // idle connections to all hosts
	idleTime           = 60 * time.Second // shorter than the usual 75 s of servers, so that they seldom close first
)

// NewClient returns a client that follows the rules of this package. It opens
// no connection and is safe for concurrent use. Only the deadline of its
// context bounds the time of a whole request.
//
// The environment's proxy settings are ignored: a proxy resolves names itself,
// and the address policy would apply to the proxy only.
//
// The error names the entry of AllowHosts that is not a host, host:port, IP or
// CIDR.
func NewClient(o Options) (*http.Client, error) {
	allow, err := parseAllowList(o.AllowHosts)
	if err != nil {
		return nil, err
	}
	dial := &dialer{allow: allow, timeout: orDuration(o.ConnectTimeout, 10*time.Second)}
	t := &http.Transport{
		DialContext:            dial.DialContext,
		TLSHandshakeTimeout:    orDuration(o.TLSTimeout, 10*time.Second),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
		ResponseHeaderTimeout:  o.HeaderTimeout,
		MaxResponseHeaderBytes: maxResponseHeaders,
		MaxConnsPerHost:        o.MaxConnsPerHost,
		MaxIdleConnsPerHost:    max(idlePerHost, o.MaxConnsPerHost),
		MaxIdleConns:           idleTotal,
		IdleConnTimeout:        idleTime,
		ForceAttemptHTTP2:      true, // a custom dial function disables it
		// A connection that carries many requests is pinged; otherwise all of
		// them would wait for their deadlines after it breaks.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second},
	}
	redirects := o.MaxRedirects
	if redirects == 0 {
		redirects = 5
	}
	return &http.Client{
		Transport:     &transport{Transport: t, allow: allow, observer: o.Observer, record: o.Record, replay: o.Replay, agent: []string{orString(o.UserAgent, "tenon")}, decoders: decoders{accept: []string{"gzip, br"}}},
		CheckRedirect: redirectRule(redirects, allow),
	}, nil
}

// transport is the transport of a client made by this package.
type transport struct {
	*http.Transport
	parent         *http.Client               // the client that it is derived from; nil: none
	certTransports map[string]*http.Transport // by origin, for those with a client certificate
	allow          *allowList
	observer       Observer  // nil: nobody
	record         Record    // nil: nobody
	replay         Replay    // nil: nobody
	agent          []string  // shared by the requests, never written
	scratch        sync.Pool // *[]byte, for bodies of unknown length
	decoders
}

func orDuration(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

func orString(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
