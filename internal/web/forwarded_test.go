package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestOnlyTrustedProxiesAreBelieved(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := map[string]struct {
		from         string
		chain        []string
		proto        string
		want, scheme string
	}{
		"no proxy":              {"10.0.0.1:80", nil, "", "10.0.0.1:80", ""},
		"proxy":                 {"10.0.0.1:80", []string{"203.0.113.5"}, "https", "203.0.113.5", "https"},
		"with a port":           {"10.0.0.1:80", []string{"203.0.113.5:4711"}, "", "203.0.113.5", ""},
		"IPv6 with a port":      {"10.0.0.1:80", []string{"[2001:db8::7]:4711, 10.0.0.2:90"}, "", "2001:db8::7", ""},
		"IPv6 in brackets":      {"10.0.0.1:80", []string{"[2001:db8::7]"}, "", "2001:db8::7", ""},
		"proxy on IPv6":         {"[fd00::1]:80", []string{"2001:db8::7"}, "HTTP", "2001:db8::7", "http"},
		"proxy on mapped IPv4":  {"[::ffff:10.0.0.1]:80", []string{"203.0.113.5"}, "", "203.0.113.5", ""},
		"stranger":              {"192.0.2.1:80", []string{"203.0.113.5"}, "https", "192.0.2.1:80", ""},
		"forged first hop":      {"10.0.0.1:80", []string{"127.0.0.1, 203.0.113.5"}, "", "203.0.113.5", ""},
		"forged header":         {"10.0.0.1:80", []string{"127.0.0.1", "203.0.113.5"}, "", "203.0.113.5", ""},
		"two proxies":           {"10.0.0.1:80", []string{"203.0.113.5, 10.0.0.2"}, "", "203.0.113.5", ""},
		"only proxies":          {"10.0.0.1:80", []string{"10.0.0.3,10.0.0.2"}, "", "10.0.0.3", ""},
		"nonsense":              {"10.0.0.1:80", []string{"203.0.113.5, unknown"}, "gopher", "10.0.0.1:80", ""},
		"caller without a port": {"@", []string{"203.0.113.5"}, "https", "@", ""},
	}
	for name, tt := range tests {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.from
		r.Header["X-Forwarded-For"] = tt.chain
		r.Header.Set("X-Forwarded-Proto", tt.proto)
		Forwarded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.RemoteAddr != tt.want || r.URL.Scheme != tt.scheme {
				t.Errorf("%s: %q by %q, want %q by %q", name, r.RemoteAddr, r.URL.Scheme, tt.want, tt.scheme)
			}
		}), trusted).ServeHTTP(httptest.NewRecorder(), r)
	}
}

func TestForwardedRequestIsKnownByAnyOfItsHeaders(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if IsForwarded(r) {
		t.Error("a direct request passes for a forwarded one")
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(name, "x")
		if !IsForwarded(r) {
			t.Errorf("%s is not noticed", name)
		}
	}
}
