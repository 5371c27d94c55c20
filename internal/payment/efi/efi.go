// Package efi owns the gateway of Efí (once Gerencianet), which speaks the
// central bank's own PIX API: a charge is put under an id of ours, every call
// bears a client certificate, and a token is got for credentials. What is Efí's
// alone is its addresses, its callbacks and a few words; the rest is the API.
package efi

import (
	"crypto/sha256"
	"crypto/tls"
	"net/http"
	"strings"
	"sync"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
)

var bases = map[string]string{"production": "https://pix.api.efipay.com.br", "sandbox": "https://pix-h.api.efipay.com.br"}

// Provider is the gateway.
func Provider() payment.Provider { return provider(bases) }

// ProviderAt is Provider at another address, for tests.
func ProviderAt(base string) payment.Provider {
	return provider(map[string]string{"production": base, "sandbox": base})
}

func provider(bases map[string]string) payment.Provider {
	known := &sessions{}
	return payment.Provider{
		Name: "efi", Title: "Efí", Flow: payment.FlowPix,
		Options: []payment.Option{
			{
				Name:     "client_id",
				Title:    "Client ID",
				Secret:   true,
				Required: true,
				Help:     "Efí > API > Aplicações > your application; it needs the scopes cob.write, cob.read, pix.read, webhook.write",
			},
			{Name: "client_secret", Title: "Client secret", Secret: true, Required: true, Help: "beside the Client ID"},
			{
				Name:     "certificate",
				Title:    "Certificado (PEM)",
				Secret:   true,
				Required: true,
				Lines:    true,
				Help:     "Efí > API > Meus certificados; turn the .p12 into text with: openssl pkcs12 -in FILE.p12 -nodes -passin pass:",
			},
			{
				Name: "private_key", Title: "Chave privada (PEM)", Secret: true, Lines: true,
				Help: "only when the certificate's text does not hold it",
			},
			{Name: "key", Title: "Chave PIX", Required: true, Help: "a PIX key of the account at Efí, which receives the money"},
			wire.Environment,
		},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			return open(known, bases, options, env)
		},
	}
}

func open(
	known *sessions,
	bases, options map[string]string,
	env payment.Env,
) (payment.Gateway, error) {
	o := wire.Options{Given: options}
	id, secret := o.Need("client_id"), o.Need("client_secret")
	environment := o.Choice("environment", wire.Environments)
	certificate := readCertificate(&o)
	key := readKey(&o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	base := bases[environment]
	s := known.get(fingerprint(base, id, secret, o.Text("certificate"), o.Text("private_key")), func() *session {
		return newSession(base, id, secret, withCertificate(env.Client, certificate))
	})
	return &gateway{
		session: s,
		env:     env,
		key:     key,
		proof:   wire.Derive(secret, env.CallbackURL),
	}, nil
}

// readCertificate takes the key from the certificate's text when it stands
// there, as it does in what openssl writes.
func readCertificate(options *wire.Options) tls.Certificate {
	text := options.Text("certificate")
	if text == "" {
		options.Refuse("certificate", "is required")
		return tls.Certificate{}
	}
	field := "private_key"
	key := options.Text(field)
	if key == "" {
		field, key = "certificate", text
	}
	certificate, err := tls.X509KeyPair([]byte(text), []byte(key))
	if err != nil {
		// What the library says may show what was entered.
		options.Refuse(field, "certificate and private key must be PEM texts that belong together")
	}
	return certificate
}

func readKey(options *wire.Options) string {
	text := options.Text("key")
	if text == "" {
		options.Refuse("key", "is required")
		return ""
	}
	key, err := pix.ParseKey(text)
	if err != nil {
		options.Refuse("key", err.Error())
	}
	return key.Value
}

// withCertificate is a client with the limits of another that shows a
// certificate.
func withCertificate(limits *http.Client, certificate tls.Certificate) *http.Client {
	client := *limits
	transport, ok := limits.Transport.(*http.Transport)
	if ok {
		transport = transport.Clone()
	} else {
		transport = &http.Transport{TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true}
	}
	// One that dials TLS by itself would not look at the certificate.
	transport.DialTLSContext = nil
	transport.IdleConnTimeout, transport.MaxIdleConnsPerHost = 30*time.Second, 4
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{}
	}
	transport.TLSClientConfig.MinVersion = tls.VersionTLS12
	transport.TLSClientConfig.Certificates = []tls.Certificate{certificate}
	client.Transport = transport
	return &client
}

// sessions are kept by what they were opened with, so that a gateway that is
// opened for every call still has its connections and its token.
type sessions struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]*session
}

// maxSessions bounds what is remembered; a company has one.
const maxSessions = 1000

func (s *sessions) get(key [sha256.Size]byte, open func() *session) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.known[key]
	if !ok {
		if s.known == nil || len(s.known) >= maxSessions {
			s.known = map[[sha256.Size]byte]*session{}
		}
		found = open()
		s.known[key] = found
	}
	return found
}

func fingerprint(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}
