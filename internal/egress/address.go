package egress

import (
	"fmt"
	"net/netip"
)

// AddressError is the error for an address that is neither public nor allowed.
type AddressError struct {
	Host    string         // the requested host
	Address netip.AddrPort // one of its addresses
}

// Error names the address and the flag that allows it. The flag contains the
// address and not the host, because the owner of the host name could point it
// at any other private address later.
func (e *AddressError) Error() string {
	of := ""
	if ip, err := netip.ParseAddr(e.Host); err != nil || ip.Unmap().WithZone("") != e.Address.Addr() {
		of = fmt.Sprintf(" (%s)", e.Host)
	}
	return fmt.Sprintf("address %s%s is private; allow it with --allow-private-host %s", e.Address, of, e.Address)
}

// public reports whether an address is on the public internet. The address must
// be unmapped and without a zone.
//
// The lists are those of IANA's special-purpose address registries (RFC 6890
// and its updates). For IPv6 only the global unicast block is accepted.
func public(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	if a.Is4() {
		return !special4(a.As4())
	}
	b := a.As16()
	if wellKnownNAT64(b) {
		// With DNS64, hosts that have only IPv4 get such addresses, so the
		// embedded IPv4 address is checked.
		return !special4([4]byte(b[12:]))
	}
	return b[0]>>5 == 1 && !special6(b) // 2000::/3
}

// special4 reports whether an IPv4 address is in a block that is not public.
func special4(b [4]byte) bool {
	switch b[0] {
	case 0, 10, 127: // this network, private, loopback
		return true
	case 100:
		return b[1]&0xc0 == 64 // 100.64/10, carrier-grade NAT; one cloud's metadata
	case 168:
		return b == [4]byte{168, 63, 129, 16} // a cloud's metadata on a public address
	case 169:
		return b[1] == 254 // link-local, most clouds' metadata
	case 172:
		return b[1]&0xf0 == 16 // private
	case 192:
		return special192(b)
	case 198:
		return b[1]&0xfe == 18 || b[1] == 51 && b[2] == 100 // benchmarks, documentation
	case 203:
		return b[1] == 0 && b[2] == 113 // documentation
	}
	return b[0] >= 224 // multicast, reserved, broadcast
}

func special192(b [4]byte) bool {
	switch b[1] {
	case 0:
		return b[2] == 0 || b[2] == 2 // protocol assignments, documentation
	case 88:
		return b[2] == 99 // 6to4 relays
	}
	return b[1] == 168 // private
}

// special6 reports whether an address in 2000::/3 is in a block that is not
// public, or has an embedded IPv4 address.
func special6(b [16]byte) bool {
	switch {
	case b[0] == 0x20 && b[1] == 0x01 && b[2] < 2: // 2001::/23, with Teredo
		return true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8: // documentation
		return true
	case b[0] == 0x20 && b[1] == 0x02: // 2002::/16, 6to4, retired by RFC 7526
		return true
	case b[0] == 0x3f && b[1] == 0xff && b[2] < 0x10: // 3fff::/20, documentation
		return true
	case b[8]&0xfc == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return special4([4]byte(b[12:]))
	}
	return false
}

// wellKnownNAT64 reports whether the address is in 64:ff9b::/96 (RFC 6052).
func wellKnownNAT64(b [16]byte) bool {
	return [12]byte(b[:12]) == [12]byte{0, 0x64, 0xff, 0x9b}
}
