package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// allowList lists the hosts and addresses that are allowed even if they are not
// public.
type allowList struct {
	hosts     map[string]bool         // lower case, without a trailing dot
	hostPorts map[string]bool         // host:port, the host as in hosts
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
		return errors.New("the entry is empty")
	case strings.Contains(entry, "://"):
		return errors.New("a URL is not allowed; write its host or host:port")
	case strings.Contains(entry, "%"):
		return errors.New("an address with a zone is not allowed; write it without the zone")
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
		return errors.New("not a CIDR such as 10.0.0.0/8")
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return errors.New("write the IPv4 form of the CIDR")
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p != p.Masked() {
		return fmt.Errorf("the CIDR has bits set after its prefix; did you mean %s?", p.Masked())
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

// checkHost reports whether a name is valid in DNS. It rejects a numeric last
// label: some resolvers read 127.1 and 0x7f000001 as addresses, and the list
// should show an address as such.
func checkHost(host string) error {
	if len(host) > 253 {
		return errors.New("longer than a host name can be")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return errors.New("not a host, host:port, IP or CIDR (write names outside ASCII in their xn-- form)")
		}
	}
	last := labels[len(labels)-1]
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, "0123456789abcdef"
	}
	if strings.Trim(last, digits) == "" {
		return errors.New("it ends in a number but is not an IP address")
	}
	return nil
}

// hasHost reports whether the list contains the host name, not just one of its
// addresses.
func (a *allowList) hasHost(host string, port uint16) bool {
	host = canonicalHost(host)
	return a.hosts[host] || a.hostPorts[hostPort(host, port)]
}

// hasAddress reports whether the list contains the address.
func (a *allowList) hasAddress(ap netip.AddrPort) bool {
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

// mayBePrivate reports, without a DNS lookup, whether a URL is on a private or
// allowed host.
func (a *allowList) mayBePrivate(u *url.URL) bool {
	port, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return !public(ip.Unmap().WithZone(""))
	}
	host := canonicalHost(u.Hostname())
	return a.hasHost(host, uint16(port)) || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// check returns an error unless the address of the host is public or allowed.
func (a *allowList) check(host string, ap netip.AddrPort) error {
	plain := netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	if public(plain.Addr()) || a.hasAddress(plain) || a.hasHost(host, ap.Port()) {
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
