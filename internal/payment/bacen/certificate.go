package bacen

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"carteira/internal/payment/wire"
)

// identity is how the account proves itself in a handshake, and whom it believes.
type identity struct {
	certificate tls.Certificate
	roots       *x509.CertPool // nil: those of the machine
}

// readIdentity reads the certificate as PEM text, or as a .p12 file in base64.
func readIdentity(options *wire.Options) identity {
	text := options.Text("certificate")
	switch {
	case text == "":
		options.Refuse("certificate", "is required")
		return identity{}
	case strings.Contains(text, "-----BEGIN"):
		return identity{readPEM(options, text), readRoots(options)}
	}
	return identity{readP12(options, text), readRoots(options)}
}

// readPEM takes the key from the certificate's text when it is there, as it is in
// what openssl writes.
func readPEM(options *wire.Options, text string) tls.Certificate {
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

// unsealing is of who opens a .p12 file: one at a time, so that the others' requests
// keep a core.
var unsealing = make(chan struct{}, 1)

// isWrongPassword reports whether a file whose plain part was read did not open:
// with another password the rest is noise, of which the library may say anything
// but that something is missing or unknown to it.
func isWrongPassword(err error) bool {
	if _, unknown := errors.AsType[pkcs12.NotImplementedError](err); err == nil || unknown {
		return false
	}
	return !strings.Contains(err.Error(), "missing") && !strings.Contains(err.Error(), "expected exactly one")
}

// readP12 reads what banks give out: certificate, key and chain in one file.
func readP12(options *wire.Options, text string) tls.Certificate {
	const wanted = "must be PEM text, or a .p12 file in base64"
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		options.Refuse("certificate", wanted)
		return tls.Certificate{}
	}
	password := options.Text("certificate_password")
	if data, err = bounded(data, password); err != nil {
		options.Refuse("certificate", wanted)
		return tls.Certificate{}
	}
	unsealing <- struct{}{}
	defer func() { <-unsealing }()
	key, leaf, chain, err := pkcs12.DecodeChain(data, password)
	switch {
	case isWrongPassword(err):
		options.Refuse("certificate_password", "must be the password of the .p12 file")
		return tls.Certificate{}
	case err != nil:
		options.Refuse("certificate", wanted)
		return tls.Certificate{}
	}
	certificate := tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	for _, issuer := range chain {
		certificate.Certificate = append(certificate.Certificate, issuer.Raw)
	}
	return certificate
}

// readRoots reads the authorities of a bank whose own certificate comes from
// none that the world knows.
func readRoots(options *wire.Options) *x509.CertPool {
	text := options.Text("server_ca")
	if text == "" {
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(text)) {
		options.Refuse("server_ca", "must be certificates as PEM text")
	}
	return pool
}

// client has the limits of another and shows the certificate.
func (i identity) client(limits *http.Client) *http.Client {
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
	transport.TLSClientConfig.Certificates = []tls.Certificate{i.certificate}
	if i.roots != nil {
		transport.TLSClientConfig.RootCAs = i.roots
	}
	client.Transport = transport
	return &client
}
