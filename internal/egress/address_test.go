package egress_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/egress"
)

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true,
		"168.63.129.15": true, "169.253.255.255": true, "172.15.255.255": true, "172.32.0.0": true, "192.0.1.0": true,
		"192.167.255.255": true, "192.169.0.0": true, "198.17.255.255": true, "198.20.0.0": true, "223.255.255.255": true,
		"2606:4700::1111": true, "2001:4860:4860::8888": true, "64:ff9b::101:101": true, "2a00::5efe:101:101": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.0": false, "100.100.100.200": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.255": false, "168.63.129.16": false, "169.254.0.0": false, "169.254.169.254": false,
		"172.16.0.0": false, "172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.0.0": false, "192.168.255.255": false, "198.18.0.0": false, "198.19.255.255": false, "198.51.100.7": false,
		"203.0.113.7": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,

		"::": false, "::1": false, "::7f00:1": false, "::ffff:0:7f00:1": false, "64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false,
		"64:ff9b:1::101:101": false, "100::1": false, "2001::1": false, "2001:db8::1": false, "2002:7f00:1::": false, "2002:101:101::": false,
		"3fff::1": false, "5f00::1": false, "fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fec0::1": false, "ff02::1": false,
		"4000::1": false, "2a00::5efe:a00:1": false, "2a00::200:5efe:a00:1": false,
	} {
		if got := egress.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public is %v", address, got)
		}
	}
}

func TestAllowHosts(t *testing.T) {
	for name, c := range map[string]struct {
		allow   []string
		host    string
		address string
		want    bool
	}{
		"nothing allowed":                   {nil, "x.example", "10.0.0.1:80", false},
		"a public address needs nothing":    {nil, "x.example", "1.1.1.1:80", true},
		"the host":                          {[]string{"x.example"}, "x.example", "10.0.0.1:80", true},
		"the host in other letters":         {[]string{"X.Example."}, "x.eXample", "10.0.0.1:80", true},
		"the host with a dot":               {[]string{"x.example"}, "x.example.", "10.0.0.1:80", true},
		"another host":                      {[]string{"x.example"}, "y.x.example", "10.0.0.1:80", false},
		"the host and port":                 {[]string{"x.example:80"}, "x.example", "10.0.0.1:80", true},
		"the host and another port":         {[]string{"x.example:81"}, "x.example", "10.0.0.1:80", false},
		"the IP":                            {[]string{"10.0.0.1"}, "x.example", "10.0.0.1:80", true},
		"the IP mapped":                     {[]string{"::ffff:10.0.0.1"}, "x.example", "10.0.0.1:80", true},
		"the IP of a mapped address":        {[]string{"10.0.0.1"}, "x.example", "[::ffff:10.0.0.1]:80", true},
		"the IP in another form":            {[]string{"10.0.0.1"}, "x.example", "[64:ff9b::a00:1]:80", false},
		"another IP":                        {[]string{"10.0.0.2"}, "x.example", "10.0.0.1:80", false},
		"the IP and port":                   {[]string{"10.0.0.1:80"}, "x.example", "10.0.0.1:80", true},
		"the IP and another port":           {[]string{"10.0.0.1:81"}, "x.example", "10.0.0.1:80", false},
		"the CIDR":                          {[]string{"10.0.0.0/8"}, "x.example", "10.0.0.1:80", true},
		"another CIDR":                      {[]string{"10.1.0.0/16"}, "x.example", "10.0.0.1:80", false},
		"an IPv6 address":                   {[]string{"::1"}, "x.example", "[::1]:80", true},
		"an IPv6 address in brackets":       {[]string{"[::1]"}, "x.example", "[::1]:80", true},
		"an IPv6 address and port":          {[]string{"[::1]:80"}, "x.example", "[::1]:80", true},
		"an IPv6 address and another port":  {[]string{"[::1]:81"}, "x.example", "[::1]:80", false},
		"an IPv6 CIDR and a zone":           {[]string{"fe80::/10"}, "fe80::1%eth0", "[fe80::1%eth0]:80", true},
		"one of several":                    {[]string{"a", "b:1", "10.0.0.0/8"}, "x.example", "10.0.0.1:80", true},
		"space around it":                   {[]string{" 10.0.0.1 "}, "x.example", "10.0.0.1:80", true},
		"a name that looks like an address": {[]string{"x10.0.0.a1"}, "x.example", "10.0.0.1:80", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := egress.Check(c.allow, c.host, netip.MustParseAddrPort(c.address))
			var refused *egress.AddressError
			if errors.As(err, &refused) == c.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAllowHostsThatMeanNothing(t *testing.T) {
	for entry, why := range map[string]string{
		"":                        "the entry is empty",
		"http://x.example":        "a URL is not allowed",
		"fe80::1%eth0":            "with a zone",
		"10.0.0.0/33":             "not a CIDR",
		"x.example/path":          "not a CIDR",
		"10.0.0.1/8":              "did you mean 10.0.0.0/8?",
		"::ffff:0:0/90":           "write the IPv4 form",
		"x.example:0":             "is not a port",
		"x.example:65536":         "is not a port",
		"x.example:http":          "is not a port",
		"x.example:":              "is not a port",
		"10.0.0.1:0":              "port 0",
		"*.example":               "not a host",
		"a..b":                    "not a host",
		"bücher.example":          "xn--",
		"user@x.example":          "not a host",
		"[10.0.0.1]":              "not a host",
		"127.1":                   "ends in a number",
		"2130706433":              "ends in a number",
		"0x7f000001":              "ends in a number",
		"0177.0.0.01":             "ends in a number",
		"10.0.0.256":              "ends in a number",
		strings.Repeat("a.", 130): "longer than a host name",
		strings.Repeat("a", 64):   "not a host",
		"x.example\r\nX: y":       "not a host",
	} {
		_, err := egress.NewClient(egress.Options{AllowHosts: []string{"ok.example", entry}})
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), fmt.Sprintf("%q", entry)) {
			t.Errorf("%q: got %v, want %q", entry, err, why)
		}
	}
}

func TestFlagInTheErrorIsTheFlagThatHelps(t *testing.T) {
	for _, c := range []struct{ host, address, want string }{
		{"127.0.0.1", "127.0.0.1:8080", "address 127.0.0.1:8080 is private; allow it with --allow-private-host 127.0.0.1:8080"},
		{"::1", "[::1]:8080", "address [::1]:8080 is private; allow it with --allow-private-host [::1]:8080"},
		{"localhost", "127.0.0.1:80", "address 127.0.0.1:80 (localhost) is private; allow it with --allow-private-host 127.0.0.1:80"},
		{"::ffff:10.0.0.1", "[::ffff:10.0.0.1]:80", "address 10.0.0.1:80 is private; allow it with --allow-private-host 10.0.0.1:80"},
		{"fe80::1%eth0", "[fe80::1%eth0]:80", "address [fe80::1]:80 is private; allow it with --allow-private-host [fe80::1]:80"},
	} {
		address := netip.MustParseAddrPort(c.address)
		err := egress.Check(nil, c.host, address)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
			continue
		}
		_, flag, _ := strings.Cut(err.Error(), "--allow-private-host ")
		if err := egress.Check([]string{flag}, c.host, address); err != nil {
			t.Errorf("with %s: %v", flag, err)
		}
	}
}

// Whatever the URL calls it, a loopback address is not connected to.
func TestURLsOfTheLoopback(t *testing.T) {
	u := listen(t, func(u *upstream, _ *net.TCPConn, r *bufio.Reader) { u.read(r) })
	_, port, err := net.SplitHostPort(u.address)
	if err != nil {
		t.Fatal(err)
	}
	client := client(t, egress.Options{})
	for _, host := range []string{
		"127.0.0.1", "127.0.0.2", "127.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.0.0.1.", "127。0。0。1",
		"0", "0.0.0.0", "localhost", "LOCALHOST.", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "x@127.0.0.1",
	} {
		got, err := egress.Do(client, request(t, http.MethodGet, "http://"+host+":"+port+"/", ""), 100)
		if err == nil || got.State != egress.NotSent {
			t.Errorf("%s: got %+v, %v", host, got, err)
		}
		var refused *egress.AddressError
		if strings.HasPrefix(host, "[") && !errors.As(err, &refused) {
			t.Errorf("%s: refused for another reason: %v", host, err)
		}
	}
	if n := u.conns.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// insides lists the blocks whose addresses must never pass, in whatever form.
func insides() []netip.Prefix {
	var list []netip.Prefix
	for _, p := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3",
		"::/127", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	} {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

func inside(a netip.Addr) bool {
	for _, p := range insides() {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Property: an address of an inside block is refused in every form in which it
// can be written or carried, and the refusal allows exactly that address.
func FuzzAddressPolicy(f *testing.F) {
	for _, a := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "8.8.8.8", "::1", "fd00::1", "2606:4700::1", "64:ff9b::1"} {
		f.Add(netip.MustParseAddr(a).AsSlice(), uint16(80))
	}
	f.Fuzz(func(t *testing.T, raw []byte, port uint16) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok || !inside(a.Unmap()) || port == 0 {
			return
		}
		for _, form := range forms(a.Unmap()) {
			found, err := netip.ParseAddr(form)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			err = egress.Check(nil, form, netip.AddrPortFrom(found, port))
			var refused *egress.AddressError
			if !errors.As(err, &refused) {
				t.Fatalf("%s passes", form)
			}
			if err := egress.Check([]string{refused.Address.String()}, form, netip.AddrPortFrom(found, port)); err != nil {
				t.Fatalf("%s is refused though it was allowed: %v", form, err)
			}
			if egress.Check([]string{refused.Address.String()}, form, netip.MustParseAddrPort("10.9.9.9:9")) == nil && refused.Address.String() != "10.9.9.9:9" {
				t.Fatalf("%s allows more than itself", refused.Address)
			}
		}
	})
}

// forms writes an address in every way that can be parsed as one.
func forms(a netip.Addr) []string {
	if a.Is6() {
		return []string{a.String(), a.StringExpanded(), strings.ToUpper(a.String()), a.WithZone("eth0").String()}
	}
	b := a.As4()
	n := binary.BigEndian.Uint32(b[:])
	high, low := n>>16, n&0xffff
	hex := fmt.Sprintf("%x:%x", high, low)
	return []string{
		a.String(), "::" + a.String(), "::" + hex, "::ffff:" + a.String(), "::FFFF:" + hex, "0:0:0:0:0:ffff:" + hex, "::ffff:0:" + a.String(),
		"64:ff9b::" + a.String(), "64:ff9b::" + hex, "64:ff9b:1::" + a.String(), "2002:" + hex + "::", "2002:" + hex + "::1",
		"2001:0:" + hex + "::", fmt.Sprintf("2001::%x:%x", ^high&0xffff, ^low&0xffff), "2a00::5efe:" + hex, "2a00::200:5efe:" + hex,
		"::ffff:" + a.String() + "%eth0",
	}
}

// Property: an entry that is accepted allows what it says and nothing else.
func FuzzAllowHosts(f *testing.F) {
	for _, e := range []string{"x.example", "X.example.:80", "10.0.0.1", "10.0.0.1:80", "[::1]:80", "::1", "fd00::/8", "10.0.0.0/8", "127.1", "[x]", "a:b", "0x7f"} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		const probe = "10.77.88.99:4711"
		ap := netip.MustParseAddrPort(probe)
		err := egress.Check([]string{entry}, "probe.example", ap)
		var refused *egress.AddressError
		if err != nil && !errors.As(err, &refused) {
			return // not accepted
		}
		trimmed := strings.TrimSpace(entry)
		host := strings.ToLower(strings.TrimSuffix(trimmed, ":4711"))
		if want := covers(trimmed, ap) || strings.TrimSuffix(host, ".") == "probe.example"; want != (err == nil) {
			t.Fatalf("%q: allowed is %v, want %v", entry, err == nil, want)
		}
		if again := egress.Check([]string{" " + trimmed + "\t"}, "probe.example", ap); (again == nil) != (err == nil) {
			t.Fatalf("%q: space changes its meaning", entry)
		}
	})
}

// covers reads an entry with the standard library alone.
func covers(entry string, ap netip.AddrPort) bool {
	if p, err := netip.ParsePrefix(entry); err == nil {
		mapped := netip.AddrFrom16(ap.Addr().As16())
		return p.Contains(ap.Addr()) || p.Addr().Is4In6() && samePrefix(p, mapped)
	}
	if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		return a.Unmap() == ap.Addr()
	}
	got, err := netip.ParseAddrPort(entry)
	return err == nil && got.Addr().Unmap() == ap.Addr() && got.Port() == ap.Port()
}

func samePrefix(p netip.Prefix, a netip.Addr) bool {
	x, err := netip.AddrFrom16(a.As16()).Prefix(p.Bits())
	return err == nil && x == p.Masked()
}
