package openapi

import (
	"crypto/tls"
	"net"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// ClientCert names the files of a client certificate in PEM, with what it is
// signed by behind it. They are read for each new connection, so that they can
// be replaced.
type ClientCert struct {
	Cert string
	Key  string // empty: the key is in the same file
}

func (c ClientCert) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.Cert, or(c.Key, c.Cert))
	return &pair, err
}

// showCertificates makes the client show the operator's certificates. One that
// cannot be read now would be missed much later.
func (o *Options) showCertificates() error {
	if len(o.ClientCerts) == 0 {
		return nil
	}
	readers := map[string]func() (*tls.Certificate, error){}
	for to, c := range o.ClientCerts {
		u, err := parseOrigin(to)
		if err == nil {
			_, err = c.read()
		}
		if err != nil {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--client-cert " + to + ": " + plain(err).Error()}
		}
		readers[u.Scheme+"://"+net.JoinHostPort(u.Hostname(), portOf(u))] = c.read
	}
	client, err := egress.WithCertificates(o.Client, readers)
	if err != nil {
		return &tenon.Error{Code: tenon.CodeUsage, Message: "--client-cert: " + err.Error()}
	}
	o.Client = client
	return nil
}

// certified tells whether a certificate is shown to the operation's server.
func (o *operation) certified() bool {
	for to := range o.api.options.ClientCerts {
		if u, err := parseOrigin(to); err == nil && isOrigin(u, o.planned().base) {
			return true
		}
	}
	return false
}
