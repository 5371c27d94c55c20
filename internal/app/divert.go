//go:build crashpoints

package app

import (
	"net/http"
	"net/url"
	"os"
)

// divert sends every call to a gateway to the address in CARTEIRA_FAKE_GATEWAY
// instead. Only the binary that test/program builds for the crash tests has
// this: a released one calls only the providers.
func divert(tripper http.RoundTripper) http.RoundTripper {
	to, err := url.Parse(os.Getenv("CARTEIRA_FAKE_GATEWAY"))
	if err != nil || to.Host == "" {
		return tripper
	}
	return diverted{tripper, to}
}

type diverted struct {
	http.RoundTripper
	to *url.URL
}

// RoundTrip implements http.RoundTripper.
func (d diverted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = d.to.Scheme, d.to.Host
	return d.RoundTripper.RoundTrip(r)
}
