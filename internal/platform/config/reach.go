package config

import (
	"net/netip"
	"net/url"
	"strings"
)

// Reach is what keeps the phone of a customer from opening the public address.
type Reach string

// The answers of Config.Reach.
const (
	Reachable   Reach = ""
	OnlyHere    Reach = "here"  // a loopback or private address, or no address at all
	Unencrypted Reach = "plain" // http: browsers warn, and passwords travel in the open
)

// Reach reports whether customers can open links that begin with the public URL. A
// sandbox reaches no real customer, so its links need not lead anywhere.
func (c Config) Reach() Reach {
	if c.Sandbox {
		return Reachable
	}
	address, err := url.Parse(c.PublicURL)
	switch {
	case err != nil || isNear(address.Hostname()):
		return OnlyHere
	case address.Scheme != "https":
		return Unencrypted
	}
	return Reachable
}

// nearDomains are the endings of names that only a local network resolves.
var nearDomains = []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test"}

// sharedNetwork is the range of carriers' address translation (RFC 6598), which
// netip does not count as private.
var sharedNetwork = netip.MustParsePrefix("100.64.0.0/10")

// isNear reports whether a host is of this machine or of a private network.
func isNear(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || sharedNetwork.Contains(ip)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, ending := range nearDomains {
		if strings.HasSuffix(host, ending) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}
