package egress

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// WithCertificates returns a client like c, which must come from NewClient,
// that presents client certificates: to each origin (scheme://host:port) the
// one that its function returns when a connection is made, and none to other
// origins, even after a redirect. It has connections of its own to these
// origins, so that no other client uses one with a certificate.
func WithCertificates(c *http.Client, certificates map[string]func() (*tls.Certificate, error)) (*http.Client, error) {
	d, ok := c.Transport.(*transport)
	if !ok {
		return nil, errors.New("certificates can only be set for a client that tenon creates; configure them in the given client")
	}
	own := make(map[string]*http.Transport, len(certificates))
	for to, read := range certificates {
		t := d.Clone()
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate, err := read()
			if err != nil {
				return nil, forbid("cannot read the client certificate")
			}
			return certificate, nil
		}
		own[to] = t
	}
	showing := *c
	showing.Transport = &transport{Transport: d.Transport, certTransports: own, parent: c, allow: d.allow, observer: d.observer, record: d.record, replay: d.replay, agent: d.agent, decoders: decoders{accept: d.accept}}
	return &showing, nil
}

// RoundTrip uses the connections for the request's origin. If the client that d
// was derived from has another transport by now, that one gets the requests: a
// test may have set it so that nothing is sent.
func (d *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t := trackerOf(r.Context()); t != nil && t.first != nil {
		answer := t.first
		t.first = nil
		return answer, nil
	}
	if d.parent != nil {
		if t := d.parent.Transport; t != nil {
			if _, ours := t.(*transport); !ours {
				return t.RoundTrip(r)
			}
		}
	}
	return d.exchange(r)
}

// network sends r.
func (d *transport) network(r *http.Request) (*http.Response, error) {
	if len(d.certTransports) > 0 {
		if t := d.certTransports[origin(r.URL)]; t != nil {
			return t.RoundTrip(r)
		}
	}
	return d.Transport.RoundTrip(r)
}

// CloseIdleConnections closes the idle connections of all origins.
func (d *transport) CloseIdleConnections() {
	for _, t := range d.certTransports {
		t.CloseIdleConnections()
	}
	d.Transport.CloseIdleConnections()
}

// Certificates identifies the client certificates of c by hash and origin:
// clients with equal results are equal to an upstream. It is empty without
// certificates. A certificate that cannot be read is represented by its error.
func Certificates(c *http.Client) string {
	var names []string
	add := func(to string, t *http.Transport) {
		if t == nil || t.TLSClientConfig == nil {
			return
		}
		all := t.TLSClientConfig.Certificates
		if get := t.TLSClientConfig.GetClientCertificate; get != nil {
			one, err := get(&tls.CertificateRequestInfo{})
			if err != nil || one == nil {
				names = append(names, fmt.Sprintf("%s none: %v", to, err))
				return
			}
			all = []tls.Certificate{*one}
		}
		for _, one := range all {
			h := sha256.New()
			for _, der := range one.Certificate {
				_, _ = h.Write(der) // never fails
			}
			names = append(names, to+" "+hex.EncodeToString(h.Sum(nil)))
		}
	}
	switch t := c.Transport.(type) {
	case *http.Transport:
		add("", t)
	case *transport:
		add("", t.Transport)
		for to, own := range t.certTransports {
			add(to, own)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}
