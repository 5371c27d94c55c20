package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"carteira/internal/platform/config"
	"carteira/internal/platform/worker"
)

// The wait before a domain's certificate is asked for again doubles between
// these. An authority counts attempts: Let's Encrypt refuses a name for an hour
// after five that failed.
const (
	shortestRetry = 70 * time.Second // autocert answers a minute long with the failure before
	longestRetry  = 2 * time.Hour
	// checkCertificates is how often a certificate is looked at, at the least.
	checkCertificates = time.Hour
)

// certKeeper has the certificates that ACME obtained: it asks for them before
// anybody connects, says in the log how that went, and spares the authority
// the handshakes that come while a domain fails.
type certKeeper struct {
	domains   []string
	log       *slog.Logger
	manager   *autocert.Manager
	obtain    certificates // of the manager
	now       func() time.Time
	announced map[string]string // domain to the certificate that the log knows

	mu      sync.Mutex
	failing map[string]failure
}

// failure is a domain without a certificate.
type failure struct {
	err   error
	times int
	retry time.Time
}

func newCertKeeper(cfg config.Config, log *slog.Logger) *certKeeper {
	manager := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		HostPolicy: autocert.HostWhitelist(cfg.TLSDomains...),
		Email:      cfg.ACME.Email,
		Cache:      autocert.DirCache(filepath.Join(cfg.DataDir, "acme")),
		Client:     &acme.Client{DirectoryURL: cfg.ACME.Directory, UserAgent: "Carteira/1.0", HTTPClient: acmeHTTP(log)},
	}
	if cfg.ACME.KeyID != "" {
		manager.ExternalAccountBinding = &acme.ExternalAccountBinding{KID: cfg.ACME.KeyID, Key: cfg.ACME.MACKey}
	}
	return &certKeeper{
		domains: cfg.TLSDomains, log: log, manager: manager, obtain: manager.GetCertificate,
		now:       time.Now,
		announced: map[string]string{}, failing: map[string]failure{},
	}
}

// run obtains the certificates at once and looks after them until ctx ends.
func (k *certKeeper) run(ctx context.Context) error {
	loop := worker.Loop{Name: "obtain certificates", Wake: worker.NewWake(), Poll: checkCertificates, Log: k.log}
	loop.Run(ctx, func(ctx context.Context) (time.Duration, error) { return k.check(ctx), nil })
	return nil
}

// check has a look at every domain and returns when to look again.
func (k *certKeeper) check(ctx context.Context) time.Duration {
	next := checkCertificates
	for _, domain := range k.domains {
		if ctx.Err() != nil {
			return next
		}
		next = min(next, k.checkDomain(domain))
	}
	return next
}

func (k *certKeeper) checkDomain(domain string) time.Duration {
	cert, err := k.get(&tls.ClientHelloInfo{
		ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}, // as from a browser: no RSA key
	})
	if err == nil {
		leaf := leafOf(cert)
		if leaf == nil {
			return checkCertificates
		}
		k.announce(domain, leaf)
		return max(time.Second, leaf.NotAfter.Sub(k.now())/10)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(time.Second, k.failing[domain].retry.Sub(k.now()))
}

// announce logs a certificate once: when it was obtained or found in the data
// folder, and when it was renewed.
func (k *certKeeper) announce(domain string, leaf *x509.Certificate) {
	serial := leaf.SerialNumber.String()
	before := k.announced[domain]
	if before == serial {
		return
	}
	k.announced[domain] = serial
	text := "certificate obtained"
	switch {
	case before != "":
		text = "certificate renewed"
	case k.now().Sub(leaf.NotBefore) > 2*time.Hour: // authorities set the beginning up to an hour back
		text = "certificate read from the data folder"
	}
	k.log.Info(text, "domain", domain, "issuer", leaf.Issuer.CommonName, "ends", leaf.NotAfter)
}

// get is the certificate for a handshake. While a domain fails, only one
// handshake per retry goes to the authority.
func (k *certKeeper) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Contains(hello.SupportedProtos, acme.ALPNProto) {
		return k.obtain(hello) // the authority's own question
	}
	domain := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if err := k.stillFailing(domain); err != nil {
		return nil, err
	}
	cert, err := k.obtain(hello)
	if slices.Contains(k.domains, domain) {
		k.record(domain, err)
	}
	return cert, err
}

func (k *certKeeper) stillFailing(domain string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	failure := k.failing[domain]
	if failure.err == nil || !k.now().Before(failure.retry) {
		return nil
	}
	return fmt.Errorf("no certificate for %s before the next attempt at %s: %w", domain,
		failure.retry.Format(time.TimeOnly), failure.err)
}

func (k *certKeeper) record(domain string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		delete(k.failing, domain)
		return
	}
	f := k.failing[domain]
	if k.now().Before(f.retry) {
		return // another handshake has recorded the same failure
	}
	wait := min(longestRetry, shortestRetry<<min(f.times, 10))
	k.failing[domain] = failure{err: err, times: f.times + 1, retry: k.now().Add(wait)}
	k.log.Error("certificate not obtained", "domain", domain, "error", err, "next_attempt", wait.String())
}

// leafOf is the certificate itself, without its chain; nil for one that cannot
// be read.
func leafOf(cert *tls.Certificate) *x509.Certificate {
	if cert.Leaf != nil || len(cert.Certificate) == 0 {
		return cert.Leaf
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil
	}
	return leaf
}

// listenACME opens the two addresses that ACME needs: one for HTTPS, and one
// that answers the authority and redirects everybody else.
func (a *App) listenACME(ctx context.Context) ([]listener, error) {
	keeper := newCertKeeper(a.Config, a.Log)
	// Before the listeners: the handler of plain HTTP is what makes the manager offer that challenge.
	redirect := keeper.manager.HTTPHandler(nil)
	secure, err := a.listenOn(ctx, a.Config.ACME.Listen, a.handler())
	if err != nil {
		return nil, err
	}
	tlsConfig := keeper.manager.TLSConfig()
	tlsConfig.MinVersion = tls.VersionTLS12
	tlsConfig.GetCertificate = a.sockets.watch(a.Config.TLSDomains, keeper.get)
	secure.Listener = tls.NewListener(secure.Listener, tlsConfig)
	plain, err := a.listenOn(ctx, a.Config.ACME.ListenHTTP, redirect)
	if err != nil {
		return nil, errors.Join(err, secure.Close())
	}
	a.certificates = keeper
	return []listener{secure, plain}, nil
}

// acmeHTTP is a client for the authority that logs its refusals: autocert says
// nothing about a renewal that fails.
func acmeHTTP(log *slog.Logger) *http.Client {
	base := http.DefaultTransport //nolint:forbidigo // the address is the operator's, not a company's
	return &http.Client{Timeout: time.Minute, Transport: acmeTransport{base, log}}
}

type acmeTransport struct {
	next http.RoundTripper
	log  *slog.Logger
}

// longestACME bounds what is kept of an answer; the longest are chains of
// certificates.
const longestACME = 1 << 20

// RoundTrip makes a call and logs what the authority refuses.
func (t acmeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestACME))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	for _, refusal := range refusalsIn(resp.StatusCode, body) {
		t.log.WarnContext(req.Context(), "ACME refusal", "url", req.URL.String(), "type", refusal.Type, "detail",
			refusal.Detail)
	}
	return resp, nil
}

// acmeProblem is what RFC 8555 says is wrong.
type acmeProblem struct {
	Type   string
	Detail string
}

// refusalsIn reads what an answer refuses: an error status, or an
// authorization or an order that has become invalid.
func refusalsIn(status int, body []byte) []acmeProblem {
	if status >= http.StatusBadRequest {
		var problem acmeProblem
		if json.Unmarshal(body, &problem) != nil || problem.Type == "urn:ietf:params:acme:error:badNonce" { // tried again at once
			return nil
		}
		return []acmeProblem{problem}
	}
	var record struct {
		Status     string
		Error      *acmeProblem
		Challenges []struct{ Error *acmeProblem }
	}
	if json.Unmarshal(body, &record) != nil || record.Status != "invalid" {
		return nil
	}
	found := []acmeProblem{}
	if record.Error != nil {
		found = append(found, *record.Error)
	}
	for _, challenge := range record.Challenges {
		if challenge.Error != nil {
			found = append(found, *challenge.Error)
		}
	}
	return found
}
