package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// allowList holds the places that may have an address that is not public.
type allowList struct {
	hosts     map[string]bool         // lower case, without a dot at the end
	hostPorts map[string]bool         // host:port, the host as above
	addrs     map[netip.AddrPort]bool // one address, one port
	nets      []netip.Prefix          // single addresses and CIDRs, any port
}

func parseAllowList(entries []string) (*allowList, error) {
	a := &allowList{
		hosts:     map[string]bool{},
		hostPorts: map[string]bool{},
		addrs:     map[netip.AddrPort]bool{},
	}
	for _, entry := range entries {
		if err := a.add(strings.TrimSpace(entry)); err != nil {
			return nil, fmt.Errorf("allowed host %q: %w", entry, err)
		}
	}
	return a, nil
}

func (a *allowList) add(entry string) error {
	switch {
	case entry == "":
		return errors.New("it is empty")
	case strings.Contains(entry, "://"):
		return errors.New("it is a URL; write only its host or host:port")
	case strings.Contains(entry, "%"):
		return errors.New("an address with a zone cannot be allowed; write it without the zone")
	case strings.Contains(entry, "/"):
		return a.addNet(entry)
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil && (bare == entry || ip.Is6() && len(bare) == len(entry)-2) {
		ip = ip.Unmap()
		a.nets = append(a.nets, netip.PrefixFrom(ip, ip.BitLen()))
		return nil
	}
	if ap, err := netip.ParseAddrPort(entry); err == nil {
		if ap.Port() == 0 {
			return errors.New("port 0 is not a port")
		}
		a.addrs[netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())] = true
		return nil
	}
	return a.addHost(entry)
}

func (a *allowList) addNet(entry string) error {
	p, err := netip.ParsePrefix(entry)
	if err != nil {
		return errors.New("it is not a CIDR such as 10.0.0.0/8")
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return errors.New("write the IPv4 form of the CIDR")
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p != p.Masked() {
		return fmt.Errorf("it has bits behind its length; did you mean %s?", p.Masked())
	}
	a.nets = append(a.nets, p)
	return nil
}

func (a *allowList) addHost(entry string) error {
	host, port, hasPort := strings.Cut(entry, ":")
	host = canonicalHost(host)
	if err := checkHost(host); err != nil {
		return err
	}
	if !hasPort {
		a.hosts[host] = true
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is not a port", port)
	}
	a.hostPorts[hostPort(host, uint16(n))] = true
	return nil
}

// checkHost accepts what can be a name in DNS. A last label that is a number
// is refused: some resolvers read 127.1 and 0x7f000001 as addresses, and a
// list that means an address should show it.
func checkHost(host string) error {
	if len(host) > 253 {
		return errors.New("it is longer than a host name can be")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return errors.New("it is no host, host:port, IP or CIDR (names outside ASCII are written in their xn-- form)")
		}
	}
	last := labels[len(labels)-1]
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, "0123456789abcdef"
	}
	if strings.Trim(last, digits) == "" {
		return errors.New("it ends in a number but is no IP address")
	}
	return nil
}

// names reports whether the list names the host itself, not only an address
// that the host may have.
func (a *allowList) names(host string, port uint16) bool {
	host = canonicalHost(host)
	return a.hosts[host] || a.hostPorts[hostPort(host, port)]
}

// holds reports whether the list allows the address.
func (a *allowList) holds(ap netip.AddrPort) bool {
	if a.addrs[ap] {
		return true
	}
	for _, p := range a.nets {
		if p.Contains(ap.Addr()) {
			return true
		}
	}
	return false
}

// inside tells, without looking its name up, whether a URL is at a place that is
// allowed although it may be private.
func (a *allowList) inside(u *url.URL) bool {
	port, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return !public(ip.Unmap().WithZone(""))
	}
	host := canonicalHost(u.Hostname())
	return a.names(host, uint16(port)) || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// check returns an error unless the address, which was found for the host, is
// public or allowed.
func (a *allowList) check(host string, ap netip.AddrPort) error {
	plain := netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	if public(plain.Addr()) || a.holds(plain) || a.names(host, ap.Port()) {
		return nil
	}
	return &AddressError{Host: host, Address: plain}
}

func canonicalHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func hostPort(host string, port uint16) string {
	return host + ":" + strconv.FormatUint(uint64(port), 10)
}
