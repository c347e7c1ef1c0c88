package egress

import (
	"crypto/x509"
	"net/http"
	"net/netip"
)

// Public shows the policy's view of an address that is not allowed.
func Public(a netip.Addr) bool { return public(a) }

// Check asks the policy about an address that a host was found to have.
func Check(allowHosts []string, host string, address netip.AddrPort) error {
	list, err := parseAllowList(allowHosts)
	if err != nil {
		return err
	}
	return list.check(host, address)
}

// Trust makes the client accept the certificates of a test's upstream.
func Trust(c *http.Client, roots *x509.CertPool) {
	c.Transport.(*transport).TLSClientConfig.RootCAs = roots //nolint:errcheck // a test's panic is a failure
}
