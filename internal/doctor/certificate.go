package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/config"
)

// endsSoon is how long before its end a certificate should have been renewed.
const endsSoon = 14 * 24 * time.Hour

// certificate checks what is served to browsers.
func certificate(cfg config.Config, now time.Time) (checkup.Finding, error) {
	if len(cfg.TLSDomains) > 0 {
		return obtained(cfg, now)
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return checkup.Bad("correct CARTEIRA_TLS_CERT and CARTEIRA_TLS_KEY", "the certificate cannot be used: %v",
			err), nil
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return checkup.Finding{}, err
	}
	if host := hostOf(cfg.PublicURL); leaf.VerifyHostname(host) != nil {
		return checkup.Bad("obtain one for that name", "the certificate is not for %s", host), nil //nolint:nilerr // the error is the finding
	}
	return lasting(leaf, now), nil
}

func hostOf(address string) string {
	target, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return target.Hostname()
}

func lasting(leaf *x509.Certificate, now time.Time) checkup.Finding {
	day := leaf.NotAfter.Format(time.DateOnly)
	switch left := leaf.NotAfter.Sub(now); {
	case left <= 0:
		return checkup.Bad("renew it", "the certificate ended on %s", day)
	case left < min(endsSoon, leaf.NotAfter.Sub(leaf.NotBefore)/6):
		return checkup.Warn("see why it was not renewed", "the certificate ends on %s", day)
	}
	return checkup.Good("the certificate is good until %s", day)
}

// obtained checks that ACME has brought a certificate for every domain.
func obtained(cfg config.Config, now time.Time) (checkup.Finding, error) {
	found := checkup.Good("no domains")
	for _, domain := range cfg.TLSDomains {
		// autocert keeps key and chain in one file.
		text, err := os.ReadFile(filepath.Join(cfg.DataDir, "acme", domain))
		if err != nil {
			return checkup.Bad(
				"see the server's log for \"certificate not obtained\"; the authority must reach ports 443 and 80",
				"there is no certificate for %s: %v", domain, err), nil
		}
		pair, err := tls.X509KeyPair(text, text)
		if err != nil {
			return checkup.Bad("move the file away and restart the server", "the certificate of %s cannot be used: %v",
				domain, err), nil
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			return checkup.Finding{}, err
		}
		if found = lasting(leaf, now); found.Verdict != checkup.OK {
			found.Text = domain + ": " + found.Text
			return found, nil
		}
	}
	return found, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
