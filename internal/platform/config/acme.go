package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// ACME is how certificates are obtained for the TLSDomains.
type ACME struct {
	Directory string
	Email     string
	// KeyID and MACKey bind the account to one that exists at the authority; empty
	// for an authority that asks for none.
	KeyID      string
	MACKey     []byte
	Listen     string // of HTTPS
	ListenHTTP string // of the authority's questions and the redirect
}

var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

func domains(field func(*Config) *[]string) func(*Config, string) error {
	return func(cfg *Config, value string) error {
		for part := range strings.SplitSeq(value, ",") {
			part = strings.ToLower(strings.TrimSpace(part))
			if part == "" {
				continue
			}
			if len(part) > 253 || !domainName.MatchString(part) {
				return fmt.Errorf("%q must be a name such as clientes.example.com, without a wildcard", part)
			}
			*field(cfg) = append(*field(cfg), part)
		}
		return nil
	}
}

func readDirectory(cfg *Config, value string) error {
	address, err := url.Parse(value)
	if err != nil || address.Host == "" || address.Scheme != "https" {
		return fmt.Errorf("%q must be an https address", value)
	}
	cfg.ACME.Directory = value
	return nil
}

func readBinding(cfg *Config, value string) error {
	if value == "" {
		return nil
	}
	id, key, found := strings.Cut(value, ":")
	decoded, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key, "="))
	if !found || id == "" || err != nil || len(decoded) == 0 {
		return errors.New("must be a key id, a colon and a key in base64url") // the value is a secret
	}
	cfg.ACME.KeyID, cfg.ACME.MACKey = id, decoded
	return nil
}

func readACMEListen(cfg *Config, value string) error {
	secure, plain, _ := strings.Cut(value, ",")
	for _, address := range []string{secure, plain} {
		if _, _, err := net.SplitHostPort(strings.TrimSpace(address)); err != nil {
			return fmt.Errorf("%q must be two addresses such as :443,:80", value)
		}
	}
	cfg.ACME.Listen, cfg.ACME.ListenHTTP = strings.TrimSpace(secure), strings.TrimSpace(plain)
	return nil
}

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

// isNear reports whether a host is on this machine or in a private network.
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
