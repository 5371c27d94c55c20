package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Forwarded believes X-Forwarded-For and X-Forwarded-Proto from trusted
// proxies only: it sets RemoteAddr and URL.Scheme to what the caller used.
func Forwarded(next http.Handler, trusted []netip.Prefix) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(trusted) > 0 && within(trusted, r.RemoteAddr) {
			if client := clientOf(r.Header.Values("X-Forwarded-For"), trusted); client != "" {
				r.RemoteAddr = client
			}
			proto := strings.ToLower(r.Header.Get("X-Forwarded-Proto"))
			if proto == "https" || proto == "http" {
				r.URL.Scheme = proto
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Caller is the address a request came from, without its port.
func Caller(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a proxy of ours named it without a port
	}
	return host
}

// IsForwarded reports whether a proxy passed the request on.
func IsForwarded(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return false
}

// clientOf walks the chain from the nearest proxy outwards and returns the
// first address that is not one of our proxies: what comes before it could be
// forged.
func clientOf(headers []string, trusted []netip.Prefix) string {
	chain := strings.Split(strings.Join(headers, ","), ",")
	for i := len(chain) - 1; i >= 0; i-- {
		hop, ok := hopOf(chain[i])
		if !ok {
			return ""
		}
		if i == 0 || !within(trusted, hop) {
			return hop
		}
	}
	return ""
}

// hopOf is the address of a link of the chain, which some proxies write with its
// port.
func hopOf(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().String(), true
	}
	at, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return at.String(), err == nil
}

func within(networks []netip.Prefix, addr string) bool {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			return false
		}
		ip = ap.Addr()
	}
	ip = ip.Unmap()
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}
