// Package egress is the one door out: every request that leaves the program
// for a foreign service goes through a client made here.
//
// It keeps the address policy, the rules for redirects and the bounds on time
// and size, and it records how far each request got. Upstreams adds what one
// request owes to the others: attempts, turns, a breaker, kept answers. It does
// not know what a request is for: no tool, no description, no security scheme.
//
// It stands at the far end of the path: a source's handler builds a request,
// Do sends it and hands back status, headers, bytes and progress.
//
// The rules that this package keeps:
//
//   - An address that is not publicly routable is dialed only if the operator
//     allowed it. The address that is checked is the address that is dialed.
//   - Nothing that could be a credential crosses to another origin.
//   - An unsafe request is sent once: it is never repeated at another place.
//   - No message holds a query string, user information or a header value.
package egress

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync"
	"time"
)

// Options for a client. The zero value works.
type Options struct {
	AllowHosts      []string       // hosts, host:port pairs, IPs and CIDRs that may be private; empty: public addresses only
	MaxRedirects    int            // redirects that one request may follow; 0: 5; negative: none
	ConnectTimeout  time.Duration  // looking up the name and connecting; 0: 10 s
	TLSTimeout      time.Duration  // TLS handshake; 0: 10 s
	HeaderTimeout   time.Duration  // from the request's last byte to the end of the answer's headers; 0: as long as the context lasts
	MaxConnsPerHost int            // connections to one host; 0: no limit
	UserAgent       string         // for requests that have none of their own; empty: "tenon"
	Roots           *x509.CertPool // authorities that certificates of upstreams are signed by; nil: those of the system
}

const (
	maxAnswerHeaders = 512 << 10        // bytes; the standard library's default is 10 MiB
	idlePerHost      = 128              // kept open to one host; the standard library's 2 make 64 clients dial anew
	idleTotal        = 1024             // kept open to all hosts
	idleTime         = 60 * time.Second // shorter than the usual 75 s of the far side, so that it seldom hangs up first
)

// NewClient returns a client that keeps the rules of this package. It opens
// nothing and is safe for concurrent use. The whole of a request is bounded by
// the deadline of its context alone: give it one.
//
// The environment's proxy settings are not used: a proxy looks up names by
// itself, and the address policy would hold for the proxy only.
//
// The error says which entry of AllowHosts is no host, host:port, IP or CIDR.
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
		MaxResponseHeaderBytes: maxAnswerHeaders,
		MaxConnsPerHost:        o.MaxConnsPerHost,
		MaxIdleConnsPerHost:    max(idlePerHost, o.MaxConnsPerHost),
		MaxIdleConns:           idleTotal,
		IdleConnTimeout:        idleTime,
		ForceAttemptHTTP2:      true, // a dial function of one's own turns it off
		// A connection that carries many requests is asked now and then whether
		// it still lives; else all of them wait for their deadlines.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second},
	}
	redirects := o.MaxRedirects
	if redirects == 0 {
		redirects = 5
	}
	return &http.Client{
		Transport:     &door{Transport: t, allow: allow, agent: []string{orString(o.UserAgent, "tenon")}, decoders: decoders{accept: []string{"gzip, br"}}},
		CheckRedirect: redirectRule(redirects, allow),
	}, nil
}

// door is the transport of a client made here.
type door struct {
	*http.Transport
	from    *http.Client               // what it was made of; nil: of nothing
	own     map[string]*http.Transport // by origin, where a client certificate is shown
	allow   *allowList
	agent   []string  // shared by the requests, never written
	scratch sync.Pool // *[]byte, for bodies of unknown length
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
