package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"":                     false,
		"br":                   false,
		"gzip":                 true,
		"br, GZIP;q=0.5":       true,
		"gzip;q=0":             false,
		"gzip; q=0.0":          false,
		"*":                    true,
		"identity, *;q=0":      false,
		"deflate, gzip, br":    true,
		"x-gzip-like, deflate": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", header)
		if got := AcceptsGzip(r); got != want {
			t.Errorf("%q: got %v", header, got)
		}
	}
}
