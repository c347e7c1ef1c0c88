package egress

import (
	"crypto/tls"
	"errors"
	"net/http"
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
