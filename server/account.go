package server

import (
	"cmp"
	"net/http"
	"net/netip"
	"strings"
)

// account is on whose account a request is. What stands on one is bounded, so
// that there is room for the others.
type account struct {
	key    string // subject, else session, else address; empty: who started the process, who may take all
	origin string // the address that the request came from, whoever it says to be; empty: none
}

// accountOf is that of a subject, which in a session is the session, else that
// of the address.
func accountOf(subject string, r *http.Request) account {
	origin := addressOf(r.RemoteAddr)
	return account{key: cmp.Or(subject, origin), origin: origin}
}

// addressOf is the address without its port; of IPv6 the network, of which one
// host has all the addresses.
func addressOf(remote string) string {
	i := strings.LastIndexByte(remote, ':')
	if i < 0 {
		return cmp.Or(remote, "unknown")
	}
	host := remote[:i]
	if !strings.HasPrefix(host, "[") {
		return host
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || ip.Is4In6() {
		return host
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
