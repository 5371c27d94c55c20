package outbound

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// checkTime is how long CheckURL waits for a name: a person is waiting for it.
const checkTime = 2 * time.Second

var errNoAddress = errors.New("name has no address")

// Resolver finds the addresses of a name, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Gate decides which addresses may be reached. It denies by default: only what
// is known to lie on the internet passes, and what the operator allows.
type Gate struct {
	allow    []netip.Prefix
	resolver Resolver
	known    bool // what passes for its network alone must resolve when it is checked
	near     bool // names of the operator's network and http pass too, into allow and nowhere else
}

// NewGate makes a gate that lets through the internet and the networks in
// allow. Without a resolver it asks the machine's.
func NewGate(allow []netip.Prefix, resolver Resolver) *Gate {
	if resolver == nil {
		// In Go, because the C library's lookups cannot be stopped: a slow name
		// server would hold a thread for each.
		resolver = rooted{&net.Resolver{PreferGo: true}}
	}
	return &Gate{allow: slices.Clone(allow), resolver: resolver}
}

// Neighbours is a gate that lets through internal names and plain http when all
// their addresses are known, and in the networks that the operator allowed: for
// programs that run next to this one, such as a bridge to WhatsApp or a mail relay.
// One that allows none is as it was.
func (g *Gate) Neighbours() *Gate {
	return &Gate{allow: g.allow, resolver: g.resolver, near: len(g.allow) > 0, known: true}
}

// CheckURL refuses a URL that may not be called, with a reason to show next to
// its field. A public-looking name that does not resolve now passes: every
// call checks again.
func (g *Gate) CheckURL(ctx context.Context, raw string) error {
	target, err := parseTarget(raw, g.near)
	if err != nil {
		return err
	}
	return g.checkNow(ctx, target)
}

// CheckHost is CheckURL for a host that is not spoken to in HTTP.
func (g *Gate) CheckHost(ctx context.Context, host string) error {
	target, err := parseHost(host, g.near)
	if err != nil {
		return err
	}
	return g.checkNow(ctx, target)
}

func (g *Gate) checkNow(ctx context.Context, target target) error {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	_, err := g.lookup(limited, target)
	switch {
	case errors.Is(err, ErrRefused):
		return err
	case err != nil && g.known && target.inside != "":
		return refuse(target.inside)
	}
	return ctx.Err()
}

// lookup returns the addresses of a target, all of which may be reached. One
// that may not refuses them all: it would be reached sooner or later.
func (g *Gate) lookup(ctx context.Context, target target) ([]netip.Addr, error) {
	if target.addr.IsValid() {
		return []netip.Addr{target.addr}, g.checkFor(target, target.addr)
	}
	if target.inside != "" && (target.host == "localhost" || strings.HasSuffix(target.host, ".localhost")) {
		return g.loopback(target)
	}
	answers, err := g.resolver.LookupNetIP(ctx, "ip", target.host)
	addrs := make([]netip.Addr, 0, len(answers))
	for _, answer := range answers {
		// The resolver gives A records in IPv6's spelling. They are dialled as
		// what they are.
		answer = answer.Unmap()
		if err := g.checkFor(target, answer); err != nil {
			return nil, err
		}
		addrs = append(addrs, answer)
	}
	if len(addrs) == 0 {
		return nil, errors.Join(errNoAddress, err)
	}
	return addrs, nil
}

// loopback is where localhost leads, whatever resolvers say (RFC 6761): to
// those of this machine's own addresses that the operator allowed. Both are
// rarely meant, and one that is not allowed is no reason to refuse the other.
func (g *Gate) loopback(target target) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, addr := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()} {
		if within(g.allow, addr) {
			addrs = append(addrs, addr)
		}
	}
	if len(addrs) == 0 {
		return nil, refuse(target.inside)
	}
	return addrs, nil
}

// checkFor is check for a target that may be one of the operator's own network
// only.
func (g *Gate) checkFor(target target, addr netip.Addr) error {
	if target.inside != "" && !within(g.allow, addr) {
		return refuse(target.inside)
	}
	return g.check(addr)
}

// check refuses addresses that may not be reached. It judges an address
// unchanged: a mapped one and one with a zone are refused whatever is
// allowed.
func (g *Gate) check(addr netip.Addr) error {
	if addr.Is4In6() || addr.Zone() != "" || !public(addr) && !within(g.allow, addr) {
		return refuse(reasonInternal)
	}
	return nil
}

// control is the last word on a connection: the dialer calls it with the
// address that it is about to connect to.
func (g *Gate) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse(reasonInternal)
	}
	return g.check(to.Addr())
}

// rooted looks a name up unchanged: without the final dot the search domains
// of the machine's network would be tried too.
type rooted struct{ resolver Resolver }

func (r rooted) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return r.resolver.LookupNetIP(ctx, network, host+".")
}

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

// public reports whether a is an address of the public internet.
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
