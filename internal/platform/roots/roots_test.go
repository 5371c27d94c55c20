package roots_test

import (
	"crypto/x509"
	"errors"
	"os"
	"testing"

	"carteira/internal/platform/roots"
)

// A machine without authorities of its own gets ours.
func TestAuthoritiesAreKnownAfterAwait(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", os.DevNull)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	roots.Await()
	_, err := (&x509.Certificate{}).Verify(x509.VerifyOptions{})
	var none x509.SystemRootsError
	if err == nil || errors.As(err, &none) {
		t.Errorf("%v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil || pool.Equal(x509.NewCertPool()) {
		t.Errorf("no authorities are known: %v", err)
	}
}
