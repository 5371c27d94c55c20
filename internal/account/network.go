package account

import "net/netip"

// Networks are what the attempts of an address are counted under: by whom a
// stranger can be told from others. Of IPv4 that is the address; of IPv6, of
// which one connection has very many, its /64 and, since some have many of
// those, its /48.
func Networks(address string) (narrow, wide string) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address, ""
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String(), ""
	}
	return prefix(ip, 64), prefix(ip, 48)
}

func prefix(ip netip.Addr, bits int) string {
	network, _ := ip.Prefix(bits) // fails for other bits than an IPv6 address has
	return network.String()
}
