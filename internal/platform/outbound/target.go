package outbound

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// The reasons of the gate, worded for display next to a field.
const (
	reasonURL      = "must be a valid URL"
	reasonTooLong  = "must have at most 2048 characters"
	reasonScheme   = "must use https"
	reasonUser     = "must not contain a user name or password"
	reasonHost     = "must have a valid host name"
	reasonPort     = "must have a valid port"
	reasonIDN      = "must have its host name in ASCII (xn--…)"
	reasonInternal = "must not point to an internal address"
)

const maxURL = 2048

// internalNames never name a public host, nor does anything below them.
var internalNames = []string{
	"localhost", "localdomain", "local", "internal", "intranet", "private", "lan", "home",
	"home.arpa", "corp",
}

// target is a URL taken apart into what is dialled, what TLS must prove and
// what is asked for.
type target struct {
	host  string     // lower case, no final dot; the address's own text for a literal
	addr  netip.Addr // of a literal only
	port  uint16
	plain bool // without TLS
	url   *url.URL
	// hostPort is the Host header.
	hostPort string
	// inside is why only the operator's own networks will do, empty when any
	// address does that may be reached.
	inside string
}

// parseTarget accepts what has the form of a public https URL, and with near
// what may lead to a neighbour.
func parseTarget(raw string, near bool) (target, error) {
	if len(raw) > maxURL {
		return target{}, refuse(reasonTooLong)
	}
	address, err := url.Parse(raw)
	switch {
	case err != nil:
		return target{}, refuse(reasonURL)
	case address.Scheme != "https" && (address.Scheme != "http" || !near):
		return target{}, refuse(reasonScheme)
	case address.User != nil:
		return target{}, refuse(reasonUser)
	case address.Host == "":
		return target{}, refuse(reasonHost)
	}
	host, err := parseHost(address.Hostname(), near)
	if err != nil {
		return target{}, err
	}
	host.url, host.port = address, 443
	if host.plain = address.Scheme == "http"; host.plain {
		host.port, host.inside = 80, reasonScheme
	}
	if text := address.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return target{}, refuse(reasonPort)
		}
		host.port = uint16(port)
	}
	host.hostPort = host.joined()
	return host, nil
}

// parseHost accepts a public name or an address, and with near the name of a
// neighbour.
func parseHost(name string, near bool) (target, error) {
	// Some letters outside ASCII turn into digits and dots on their way through
	// other programs.
	if !isASCII(name) {
		return target{}, refuse(reasonIDN)
	}
	t := target{host: strings.TrimSuffix(strings.ToLower(name), ".")}
	if addr, err := netip.ParseAddr(t.host); err == nil {
		t.addr, t.host = addr, addr.String()
		return t, nil
	}
	if err := checkName(t.host); err != nil {
		return t, err
	}
	switch {
	case !isInternal(t.host):
	case near:
		t.inside = reasonInternal
	default:
		return t, refuse(reasonInternal)
	}
	return t, nil
}

// joined is the Host header, with the port unless it is the default one.
func (t target) joined() string {
	usual := uint16(443)
	if t.plain {
		usual = 80
	}
	if t.port != usual {
		return net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
	}
	if t.addr.Is6() {
		return "[" + t.host + "]"
	}
	return t.host
}

// checkName refuses what is no name. A last label that is a number makes
// the whole an IPv4 address to many resolvers (2130706433, 0x7f.1, 0177.0.0.1),
// and no such domain exists.
func checkName(host string) error {
	labels := strings.Split(host, ".")
	if len(host) > 253 || isNumber(labels[len(labels)-1]) {
		return refuse(reasonHost)
	}
	for _, label := range labels {
		if !isLabel(label) {
			return refuse(reasonHost)
		}
	}
	return nil
}

// isInternal knows names that lead nowhere from outside.
func isInternal(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, name := range internalNames {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}

func isLabel(text string) bool {
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return text != "" && len(text) <= 63 && text[0] != '-' && text[len(text)-1] != '-'
}

func isNumber(text string) bool {
	digits, isHex := strings.CutPrefix(text, "0x")
	if isHex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
