package outbound

import "net/netip"

// globalUnicast is all of IPv6 that was ever given out for the internet. What
// lies outside is refused without a list: loopback, unique local, link and site
// local, multicast, discard, SRv6, NAT64, and the mapped, compatible and
// translated spellings of IPv4.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// special holds the blocks of IANA's IPv4 and IPv6 special-purpose registries.
// Those few that are globally reachable (AS112, AMT) are no place for a
// receiver either.
var special = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // shared by carriers (CGNAT)
	"127.0.0.0/8",      // loopback
	"169.254.0.0/16",   // link local, cloud metadata
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.31.196.0/24",  // AS112
	"192.52.193.0/24",  // AMT
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"192.175.48.0/24",  // AS112
	"198.18.0.0/15",    // benchmarking
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast
	"168.63.129.16/32", // in no registry: Azure's metadata, seen from inside only

	"2001::/23",         // protocol assignments, Teredo
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// public says whether a lies on the internet.
func public(addr netip.Addr) bool {
	if addr.Is6() && (!globalUnicast.Contains(addr) || isISATAP(addr)) {
		return false
	}
	return addr.IsValid() && !within(special, addr)
}

// isISATAP knows the one embedding of IPv4 that hides in the second half of any
// address: 0:5efe or 200:5efe, then the four bytes (RFC 5214).
func isISATAP(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}
