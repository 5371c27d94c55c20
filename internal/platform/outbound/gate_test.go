package outbound

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// registry4 and registry6 are IANA's special-purpose registries, row by row,
// and the multicast spaces: written apart from the table under test.
var registry4 = prefixes(strings.Fields(`
	0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29
	192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24
	192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
	255.255.255.255/32 224.0.0.0/4`)...)

var registry6 = prefixes(strings.Fields(`
	::1/128 ::/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128
	2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32
	2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10
	ff00::/8 fec0::/10 ::/96 ::ffff:0:0:0/96 ::/3 4000::/3 6000::/3 8000::/3 a000::/3 c000::/3 e000::/3`)...)

// forbidden is the oracle: an address that some row holds.
func forbidden(addr netip.Addr) bool {
	return within(registry4, addr) || within(registry6, addr)
}

func last(network netip.Prefix) netip.Addr {
	data := network.Masked().Addr().AsSlice()
	for bit := network.Bits(); bit < len(data)*8; bit++ {
		data[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(data)
	return addr
}

// samples are the ends of a block and what lies just inside and outside.
func samples(network netip.Prefix) []netip.Addr {
	first, last := network.Masked().Addr(), last(network)
	return slices.DeleteFunc([]netip.Addr{first, last, first.Next(), last.Prev(), first.Prev(), last.Next()}, func(addr netip.Addr) bool {
		return !addr.IsValid() // before the first address of all, after the last
	})
}

// spellings4 writes an IPv4 address in the ways that some program understands.
func spellings4(addr netip.Addr) []string {
	b := addr.As4()
	n := binary.BigEndian.Uint32(b[:])
	low, lower := n&0xffffff, n&0xffff
	sprintf := fmt.Sprintf
	odd := []string{
		sprintf("%d", n), sprintf("0x%x", n), sprintf("0X%X", n), sprintf("0%o", n), sprintf("%d.", n),
		sprintf("%d.%d", b[0], low), sprintf("%d.%d.%d", b[0], b[1], lower), sprintf("0x%x.%d", b[0], low), sprintf("0x%x.0x%x", b[0], low),
		sprintf("0%o.%d.%d.%d", b[0], b[1], b[2], b[3]), sprintf("0%o.0%o.0%o.0%o", b[0], b[1], b[2], b[3]),
		sprintf("0x%x.0x%x.0x%x.0x%x", b[0], b[1], b[2], b[3]), sprintf("0x%02x.%d.0%o.%d", b[0], b[1], b[2], b[3]),
		sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]), sprintf("00000%o.%d.%d.%d", b[0], b[1], b[2], b[3]),
		sprintf("%d.%d.%d.0x%x", b[0], b[1], b[2], b[3]), sprintf("%d.%d.%d.%d..", b[0], b[1], b[2], b[3]),
		sprintf("[%s]", addr), sprintf("%s%%25eth0", addr), sprintf("%%3%d.0.0.1", b[0]%10), sprintf("%d。%d。%d。%d", b[0], b[1], b[2], b[3]),
		strings.NewReplacer("0", "０", "1", "１", "2", "２", "5", "５").Replace(addr.String()),
		strings.NewReplacer("1", "①", "2", "②", "0", "⓪", "7", "⑦").Replace(addr.String()),
	}
	return slices.DeleteFunc(odd, func(host string) bool { return host == addr.String() })
}

// embeddings4 are the IPv6 addresses that carry an IPv4 one.
func embeddings4(addr netip.Addr) []netip.Addr {
	b := addr.As4()
	hi, lo := binary.BigEndian.Uint16(b[:2]), binary.BigEndian.Uint16(b[2:])
	var all []netip.Addr
	for _, text := range []string{
		"::ffff:%x:%x", "::%x:%x", "::ffff:0:%x:%x", "64:ff9b::%x:%x", "64:ff9b:1::%x:%x", "64:ff9b:1:abcd::%x:%x",
		"2002:%x:%x::1", "2002:%x:%x:1:2:3:4:5", "2001:0:%x:%x::", "2a00:1450:4009:80b::5efe:%x:%x",
		"2606:4700::200:5efe:%x:%x", "fe80::5efe:%x:%x",
	} {
		all = append(all, netip.MustParseAddr(fmt.Sprintf(text, hi, lo)))
	}
	return append(all, netip.MustParseAddr(fmt.Sprintf("2001:0:4136:e378:8000:63bf:%x:%x", ^hi, ^lo)))
}

func spellings6(addr netip.Addr) []string {
	all := []string{addr.String(), addr.StringExpanded(), strings.ToUpper(addr.String()), strings.ToUpper(addr.StringExpanded())}
	b := addr.As16()
	full := strings.Split(addr.StringExpanded(), ":")
	if len(full) == 8 {
		all = append(all, fmt.Sprintf("%s:%d.%d.%d.%d", strings.Join(full[:6], ":"), b[12], b[13], b[14], b[15]))
	}
	for i, text := range all {
		all[i] = "[" + text + "]"
	}
	return all
}

func literal(addr netip.Addr) []string {
	if addr.Is4() {
		return []string{addr.String(), addr.String() + ".", addr.String() + ":8443"}
	}
	return spellings6(addr)
}

// wantVerdict asks the gate about a host.
func wantVerdict(t *testing.T, gate *Gate, host string, refused bool) {
	t.Helper()
	for _, text := range []string{"https://" + host, "https://" + host + "/hook?x=1"} {
		if err := gate.CheckURL(t.Context(), text); errors.Is(err, ErrRefused) != refused || !refused && err != nil {
			t.Errorf("%s: %v, refused should be %v", text, err, refused)
		}
	}
}

// wantByName asks about names that resolve to a, alone and among public ones.
func wantByName(t *testing.T, addr netip.Addr, refused bool) {
	t.Helper()
	one, other := netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("2606:4700::1111")
	for _, answers := range [][]netip.Addr{{addr}, {one, addr}, {addr, one}, {one, other, addr, one}} {
		n := &names{answers: map[string][]netip.Addr{"hooks.example.com": answers}}
		wantVerdict(t, NewGate(nil, n), "hooks.example.com", refused)
		if err := NewGate(nil, n).control("tcp", netip.AddrPortFrom(addr, 443).String(), nil); errors.Is(err, ErrRefused) != refused {
			t.Errorf("dialling %s: %v, refused should be %v", addr, err, refused)
		}
	}
}

func TestRegistriesAreRefusedInEverySpelling(t *testing.T) {
	gate := NewGate(nil, &names{})
	for _, network := range slices.Concat(registry4, registry6) {
		for _, sample := range samples(network) {
			for _, host := range literal(sample) {
				wantVerdict(t, gate, host, forbidden(sample))
			}
			if sample.Is4In6() {
				continue // a name's mapped answer is the IPv4 address itself
			}
			wantByName(t, sample, forbidden(sample))
		}
	}
}

func TestOddSpellingsAreRefused(t *testing.T) {
	gate := NewGate(nil, &names{})
	everything := NewGate(prefixes("0.0.0.0/0"), &names{})
	for _, addr := range append(samplesOf(registry4), netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("168.63.129.16")) {
		for _, host := range spellings4(addr) {
			wantVerdict(t, gate, host, true)
			wantVerdict(t, everything, host, true)
		}
	}
}

func TestEmbeddedIPv4IsRefusedWhateverItIs(t *testing.T) {
	gate := NewGate(nil, &names{})
	for _, v4 := range append(samplesOf(registry4), netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("200.160.2.3")) {
		for _, addr := range embeddings4(v4) {
			for _, host := range spellings6(addr) {
				wantVerdict(t, gate, host, true)
			}
			if addr.Is4In6() {
				n := &names{answers: map[string][]netip.Addr{"hooks.example.com": {addr}}}
				wantVerdict(t, NewGate(nil, n), "hooks.example.com", forbidden(v4))
				continue
			}
			wantByName(t, addr, true)
		}
	}
}

func samplesOf(registry []netip.Prefix) []netip.Addr {
	var all []netip.Addr
	for _, network := range registry {
		all = append(all, samples(network)...)
	}
	return all
}

func TestClassicSpecialAddressesAreRefused(t *testing.T) {
	for text := range strings.FieldsSeq(`
		0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255
		192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
		255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:0:7f00:1 64:ff9b::7f00:1 64:ff9b:1::a00:1 100::1 2001::1 2001:db8::1 2002:7f00:1::
		3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 168.63.129.16`) {
		addr := netip.MustParseAddr(text)
		wantVerdict(t, NewGate(nil, &names{}), literal(addr)[0], true)
		wantByName(t, addr, true)
	}
}

func TestPublicAddressesPass(t *testing.T) {
	for text := range strings.FieldsSeq(`1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0
		200.160.2.3 223.255.255.255 2606:4700::1111 2a00:1450:4009:80b::200e 2001:200::1 2800:3f0:4001:80a::200e 3ffe:ffff::1`) {
		addr := netip.MustParseAddr(text)
		wantVerdict(t, NewGate(nil, &names{}), literal(addr)[0], false)
		wantByName(t, addr, false)
	}
}

func TestAllowedNetworksPass(t *testing.T) {
	gate := NewGate(prefixes("127.0.0.0/8", "fd00::/8"), resolving("hooks.example.com", "127.0.0.1", "fd00::1", "8.8.8.8"))
	for host, refused := range map[string]bool{
		"127.0.0.1": false, "[fd00::1]": false, "hooks.example.com": false,
		"10.0.0.1": true, "[fe80::1]": true, "[::ffff:127.0.0.1]": true, "[fd00::1%25eth0]": true, "2130706433": true, "localhost": true,
	} {
		wantVerdict(t, gate, host, refused)
	}
	if err := gate.CheckURL(t.Context(), "http://127.0.0.1/"); Public(err) != reasonScheme {
		t.Errorf("http to an allowed network: %v", err)
	}
	wantVerdict(t, NewGate(prefixes("::/0"), &names{}), "[::ffff:127.0.0.1]", true)
}

func TestReasonsOfRefusal(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"":                                              reasonScheme,
		"hooks.example.com/x":                           reasonScheme,
		"http://hooks.example.com/":                     reasonScheme,
		"ftp://hooks.example.com/":                      reasonScheme,
		"file:///etc/passwd":                            reasonScheme,
		"//hooks.example.com/":                          reasonScheme,
		"https://a b.example.com/":                      reasonURL,
		"https://hooks.example.com/\n":                  reasonURL,
		"https://hooks.example.com/%zz":                 reasonURL,
		"https://[::1":                                  reasonURL,
		"https://hooks.example.com:x/":                  reasonURL,
		"https:hooks.example.com":                       reasonHost,
		"https://":                                      reasonHost,
		"https:///x":                                    reasonHost,
		"https://:443/":                                 reasonHost,
		"https://./":                                    reasonHost,
		"https://hooks..example.com/":                   reasonHost,
		"https://-hooks.example.com/":                   reasonHost,
		"https://hooks<.example.com/":                   reasonHost,
		"https://hooks.example.123/":                    reasonHost,
		"https://2130706433/":                           reasonHost,
		"https://0x7f.1/":                               reasonHost,
		"https://127.1/":                                reasonHost,
		"https://" + long + ".com/":                     reasonHost,
		"https://hooks.example.com:0/":                  reasonPort,
		"https://hooks.example.com:65536/":              reasonPort,
		"https://me:secret@hooks.example.com":           reasonUser,
		"https://me@hooks.example.com":                  reasonUser,
		"https://@hooks.example.com":                    reasonUser,
		"https://ação.example.com":                      reasonIDN,
		"https://127。0。0。1/":                            reasonIDN,
		"https://example.\u212Aom/":                     reasonIDN,
		"https://localhost/":                            reasonInternal,
		"https://LOCALHOST.:8443/":                      reasonInternal,
		"https://a.localhost/":                          reasonInternal,
		"https://printer.local/":                        reasonInternal,
		"https://metadata.google.internal/":             reasonInternal,
		"https://wiki.intranet/":                        reasonInternal,
		"https://nas.lan/":                              reasonInternal,
		"https://nas.home/":                             reasonInternal,
		"https://nas.home.arpa./":                       reasonInternal,
		"https://wiki.corp/":                            reasonInternal,
		"https://postgres/":                             reasonInternal,
		"https://kubernetes.default.svc.cluster.local/": reasonInternal,
		"https://127.0.0.1/":                            reasonInternal,
		"https://[fe80::1%25eth0]/":                     reasonInternal,
		"https://hooks.example.com/" + strings.Repeat("a", maxURL): reasonTooLong,
	} {
		err := NewGate(nil, &names{}).CheckURL(t.Context(), text)
		if Public(err) != want || !errors.Is(err, ErrRefused) || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

func TestOrdinaryURLsPass(t *testing.T) {
	for _, text := range []string{
		"https://hooks.example.com", "https://Hooks.Example.COM./x", "https://hooks.example.com:8443/a/b?c=d#e", "HTTPS://hooks.example.com/",
		"https://xn--ao-gia1c.com.br/", "https://a_b.example.com/", "https://mylocalhost.com/", "https://internal.example.com/",
		"https://8.8.8.8/", "https://0xcafe.example.com/", "https://hooks.example.com:/",
	} {
		if err := NewGate(nil, &names{}).CheckURL(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNameThatDoesNotResolvePassesForNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []*names{{hang: true}, {fail: errors.New("server misbehaving")}, {}} {
			if err := NewGate(nil, n).CheckURL(t.Context(), "https://hooks.example.com/"); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := NewGate(nil, &names{hang: true}).CheckURL(ctx, "https://hooks.example.com/"); !errors.Is(err, context.Canceled) {
			t.Errorf("after the caller left: %v", err)
		}
	})
}

func TestForbiddenAnswerCountsEvenBesideAnError(t *testing.T) {
	names := resolving("hooks.example.com", "8.8.8.8", "10.0.0.1")
	names.fail = errors.New("server misbehaving")
	wantVerdict(t, NewGate(nil, names), "hooks.example.com", true)
}

func TestMachinesSearchDomainsAreLeftOut(t *testing.T) {
	addrs, err := rooted{resolving("hooks.example.com.", "8.8.8.8")}.LookupNetIP(t.Context(), "ip", "hooks.example.com")
	if err != nil || len(addrs) != 1 {
		t.Errorf("%v, %v", addrs, err)
	}
	if _, ok := NewGate(nil, nil).resolver.(rooted); !ok {
		t.Error("the machine's resolver is asked in another way")
	}
}

// looseIPv4 is what the C library's inet_aton takes for an address.
var looseIPv4 = regexp.MustCompile(`^(?i:(0x[0-9a-f]*|[0-9]+)(\.|$)){1,4}$`)

func FuzzCheckURL(f *testing.F) {
	for _, addr := range append(samplesOf(registry4), samplesOf(registry6)...) {
		f.Add("https://" + literal(addr)[0] + "/")
	}
	for _, host := range spellings4(netip.MustParseAddr("127.0.0.1")) {
		f.Add("https://" + host + ":443/x?y#z")
	}
	f.Add("https://me:pw@hooks.example.com:8443/")
	f.Add("https://[fe80::1%25en0]:443/")
	gate := NewGate(nil, &names{})
	f.Fuzz(func(t *testing.T, text string) {
		if gate.CheckURL(t.Context(), text) != nil {
			return
		}
		address, err := url.Parse(text)
		if err != nil || address.Scheme != "https" || address.User != nil {
			t.Fatalf("accepted %q: %v", text, err)
		}
		host := strings.TrimSuffix(address.Hostname(), ".")
		if addr, err := netip.ParseAddr(host); err == nil {
			if forbidden(addr) || addr.Zone() != "" || isISATAP(netip.AddrFrom16(addr.As16())) && addr.Is6() {
				t.Fatalf("accepted %q, which leads to %s", text, addr)
			}
			return
		}
		if looseIPv4.MatchString(host) || !strings.Contains(host, ".") || strings.ContainsAny(host, ":%[]@/\\") {
			t.Fatalf("accepted %q with the host %q", text, host)
		}
	})
}
