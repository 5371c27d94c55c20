package bacen_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"carteira/internal/payment/bacen"
	"carteira/internal/platform/fault"
	"carteira/test/kit/gatewaytest"
)

// identity is a certificate of a client.
type identity struct {
	certificate, key string
	private          *ecdsa.PrivateKey
	parsed           *x509.Certificate
}

var identities struct {
	sync.Once
	good, other identity
}

// certificates makes two: one that the double accepts, and another.
func certificates(t *testing.T) (good, other identity) {
	t.Helper()
	identities.Do(func() { identities.good, identities.other = newIdentity(), newIdentity() })
	return identities.good, identities.other
}

func newIdentity() identity {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "conta"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return identity{
		certificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		private:     key,
		parsed:      parsed,
	}
}

// p12 is the identity as banks give it out, in base64.
func (i identity) p12(t *testing.T, encoder *pkcs12.Encoder, password string) string {
	t.Helper()
	data, err := encoder.Encode(i.private, i.parsed, nil, password)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// newLine starts a server that refuses every client without the good
// certificate.
func newLine(t *testing.T, provider http.Handler) *gatewaytest.Line {
	t.Helper()
	return newLineFor(t, provider, makes)
}

func newLineFor(t *testing.T, provider http.Handler, makes func(*http.Request) bool) *gatewaytest.Line {
	t.Helper()
	good, _ := certificates(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(good.certificate))
	return gatewaytest.NewLine(t, provider, makes, func(server *httptest.Server) {
		server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
	})
}

func TestCertificateMayBeAP12File(t *testing.T) {
	good, _ := certificates(t)
	for name, encoder := range map[string]*pkcs12.Encoder{"modern": pkcs12.Modern, "legacy": pkcs12.LegacyDES} {
		for _, password := range []string{"", "s3nha"} {
			line := newLine(t, guard(t, newEfi(), "/v2"))
			text := good.p12(t, encoder, password)
			wrapped := text[:60] + "\n" + text[60:] + "\n"
			gateway := gatewaytest.Open(t, bacen.EfiProvider(bacen.Settings{Server: line.URL}), gatewaytest.Env(line),
				options(t, "certificate", wrapped, "private_key", "", "certificate_password", password))
			if err := gateway.Check(t.Context()); err != nil {
				t.Errorf("%s with password %q: %v", name, password, err)
			}
		}
	}
}

func TestP12FileThatCannotBeReadIsRefusedByName(t *testing.T) {
	good, _ := certificates(t)
	text := good.p12(t, pkcs12.Modern, "s3nha")
	tests := map[string]map[string]string{
		"certificate_password": options(t, "certificate", text, "private_key", "", "certificate_password", "wrong"),
		"certificate":          options(t, "certificate", text[:200], "private_key", ""),
		"server_ca":            options(t, "bank", "sicredi", "server_ca", "nothing"),
	}
	for field, test := range tests {
		provider := bacen.EfiProvider(bacen.Settings{})
		if test["bank"] != "" {
			provider = bacen.Provider(bacen.Settings{})
		}
		_, err := provider.Open(test, gatewaytest.Env(nil))
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestServerOfNoPublicAuthorityIsBelievedByItsCertificate(t *testing.T) {
	line := newLine(t, guard(t, newDouble("/api/v2"), "/api/v2"))
	server := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: line.Certificate.Raw}))
	env := gatewaytest.Env(line)
	env.Client = &http.Client{}
	provider := bacen.Provider(bacen.Settings{Server: line.URL})
	if err := gatewaytest.Open(t, provider, env, options(t, "bank", "sicredi")).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without: %v", err)
	}
	if err := gatewaytest.Open(t, provider, env, options(t, "bank", "sicredi", "server_ca", server)).Check(t.Context()); err != nil {
		t.Errorf("with: %v", err)
	}
}
