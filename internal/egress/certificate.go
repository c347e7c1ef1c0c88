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
// that shows client certificates: to each origin (scheme://host:port) the one
// that its function returns when a connection is made, and none to others, also
// after a redirect. Its connections to these origins are its own: no other
// client gets onto one that carries a certificate.
func WithCertificates(c *http.Client, certificates map[string]func() (*tls.Certificate, error)) (*http.Client, error) {
	d, ok := c.Transport.(*door)
	if !ok {
		return nil, errors.New("a client that was not made here must bring its certificates itself")
	}
	own := make(map[string]*http.Transport, len(certificates))
	for to, read := range certificates {
		t := d.Clone()
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate, err := read()
			if err != nil {
				return nil, refuse("the client certificate cannot be read")
			}
			return certificate, nil
		}
		own[to] = t
	}
	showing := *c
	showing.Transport = &door{Transport: d.Transport, own: own, from: c, allow: d.allow, agent: d.agent, decoders: decoders{accept: d.accept}}
	return &showing, nil
}

// RoundTrip takes the connections that are for the request's origin. Where
// somebody put another transport into the client that d was made of, that one
// gets the requests of d as well: it may be there so that nothing is sent.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	if t := trackerOf(r.Context()); t != nil && t.first != nil {
		answer := t.first
		t.first = nil
		return answer, nil
	}
	if d.from != nil {
		if t := d.from.Transport; t != nil {
			if _, ours := t.(*door); !ours {
				return t.RoundTrip(r)
			}
		}
	}
	if len(d.own) > 0 {
		if t := d.own[origin(r.URL)]; t != nil {
			return t.RoundTrip(r)
		}
	}
	return d.Transport.RoundTrip(r)
}

// CloseIdleConnections closes those that nobody uses.
func (d *door) CloseIdleConnections() {
	for _, t := range d.own {
		t.CloseIdleConnections()
	}
	d.Transport.CloseIdleConnections()
}

// Certificates names the client certificates that c shows by their hashes, and
// for which origins it has them: two clients with the same name are the same to
// an upstream. It is empty where there are none. One that cannot be read now is
// named after its error.
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
				_, _ = h.Write(der) // a hash takes all
			}
			names = append(names, to+" "+hex.EncodeToString(h.Sum(nil)))
		}
	}
	switch t := c.Transport.(type) {
	case *http.Transport:
		add("", t)
	case *door:
		add("", t.Transport)
		for to, own := range t.own {
			add(to, own)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}
