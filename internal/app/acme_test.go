package app

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/acme"
)

// authority replaces autocert: it answers with a certificate or an error, and
// counts how often it was asked.
type authority struct {
	asked int
	cert  *tls.Certificate
	err   error
}

func (a *authority) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	a.asked++
	return a.cert, a.err
}

func certificateWithSerial(serial int64, from time.Time) *tls.Certificate {
	return &tls.Certificate{Leaf: &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: from, NotAfter: from.Add(90 * 24 * time.Hour),
	}}
}

func newTestKeeper(authority *authority, clock *time.Time) (*certKeeper, *bytes.Buffer) {
	var log bytes.Buffer
	return &certKeeper{
		domains: []string{"a.example.com"}, log: slog.New(slog.NewTextHandler(&log, nil)), obtain: authority.get,
		now: func() time.Time { return *clock }, announced: map[string]string{}, failing: map[string]failure{},
	}, &log
}

func TestAuthorityIsAskedLessAndLessWhileADomainFails(t *testing.T) {
	clock := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	ca := &authority{err: errors.New("acme: connection refused")}
	keeper, log := newTestKeeper(ca, &clock)
	var waits []time.Duration
	for range 4 {
		wait := keeper.check(t.Context())
		for range 100 { // handshakes that come meanwhile
			if _, err := keeper.get(&tls.ClientHelloInfo{ServerName: "A.example.com."}); err == nil {
				t.Fatal("a certificate came from nowhere")
			}
		}
		waits = append(waits, wait)
		clock = clock.Add(wait)
	}
	if ca.asked != 4 || waits[0] != shortestRetry || waits[3] != 8*shortestRetry {
		t.Errorf("asked %d times, waits %v", ca.asked, waits)
	}
	if n := strings.Count(log.String(), "certificate not obtained"); n != 4 || !strings.Contains(log.String(), "connection refused") {
		t.Errorf("logged %d times:\n%s", n, log)
	}
	ca.err, ca.cert = nil, certificateWithSerial(1, clock)
	keeper.check(t.Context())
	if !strings.Contains(log.String(), "certificate obtained") || len(keeper.failing) != 0 {
		t.Errorf("after the failures:\n%s", log)
	}
}

func TestRenewedCertificateIsLoggedOnce(t *testing.T) {
	clock := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	ca := &authority{cert: certificateWithSerial(1, clock.Add(-30*24*time.Hour))}
	keeper, log := newTestKeeper(ca, &clock)
	for range 3 {
		if next := keeper.check(t.Context()); next != checkCertificates {
			t.Errorf("looks again in %v", next)
		}
	}
	ca.cert = certificateWithSerial(2, clock)
	for range 3 {
		keeper.check(t.Context())
	}
	if strings.Count(log.String(), "\n") != 2 || !strings.Contains(log.String(), "read from the data folder") ||
		!strings.Contains(log.String(), "certificate renewed") {
		t.Errorf("the log says:\n%s", log)
	}
}

func TestChallengeIsAnsweredWhileADomainFails(t *testing.T) {
	clock := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	ca := &authority{err: errors.New("no")}
	keeper, _ := newTestKeeper(ca, &clock)
	keeper.check(t.Context())
	ca.err, ca.cert = nil, certificateWithSerial(1, clock)
	question := &tls.ClientHelloInfo{ServerName: "a.example.com", SupportedProtos: []string{acme.ALPNProto}}
	if _, err := keeper.get(question); err != nil {
		t.Errorf("the authority's question got %v", err)
	}
}

func TestRefusalsOfTheAuthorityAreLogged(t *testing.T) {
	for answer, want := range map[string]string{
		`400 {"type":"urn:ietf:params:acme:error:badNonce","detail":"again"}`:                                "",
		`429 {"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many"}`:                          "too many",
		`200 {"status":"invalid","challenges":[{"status":"invalid","error":{"detail":"no route to host"}}]}`: "no route to host",
		`200 {"status":"invalid","error":{"detail":"CAA forbids it"}}`:                                       "CAA forbids it",
		`200 {"status":"valid"}`: "",
		`500 not JSON`:           "",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			status := map[byte]int{'2': 200, '4': 400, '5': 500}[answer[0]]
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer[4:])
		}))
		var log bytes.Buffer
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		resp, err := acmeHTTP(slog.New(slog.NewTextHandler(&log, nil))).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		server.Close()
		if err != nil || string(body) != answer[4:] {
			t.Errorf("the answer became %q, %v", body, err)
		}
		if logged := strings.Contains(log.String(), "ACME refusal"); logged != (want != "") || !strings.Contains(log.String(), want) {
			t.Errorf("%s: the log says %q", answer, log.String())
		}
	}
}
