// Package roots has Mozilla's certificate authorities for a machine or an image
// that has none of its own. It changes nothing where there are some.
//
// It is golang.org/x/crypto/x509roots/fallback, but reads the authorities in
// parallel with the start of the other packages: that takes longer than any of
// these.
package roots

import (
	"crypto/x509"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

var loaded = load()

func load() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		x509.SetFallbackRoots(authorities())
	}()
	return done
}

func authorities() *x509.CertPool {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			panic(err) // the test reads all
		}
		if root.Constraint == nil {
			pool.AddCert(certificate)
		} else {
			pool.AddCertWithConstraint(certificate, root.Constraint)
		}
	}
	return pool
}

// Await returns when the authorities are known. A program calls it before it
// speaks to anybody.
func Await() { <-loaded }
