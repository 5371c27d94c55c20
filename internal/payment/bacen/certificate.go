package bacen

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"carteira/internal/payment/wire"
)

// identity is how the account proves itself in a handshake, and which authorities
// it trusts.
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

// isWrongPassword reports whether a file did not open though its plain part was
// read: with another password the rest is noise, of which the library may say
// anything but that something is missing or unknown to it.
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

// readRoots reads the authorities of a bank that has its certificate from an
// authority of its own.
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

// A .p12 file says itself how often its password is hashed before anything of it
// can be read: a file of two kilobytes may ask for centuries. bounded reads what
// is not encrypted and refuses such a file before the library sees it.
//
// What is encrypted may hold a key with a number of its own, which only the
// library sees. So the file is put together again with its plain part first: the
// library refuses a second key without opening it, and the first one is in the
// part that was read here.

// maxIterations bounds how often the password is hashed for a file: OpenSSL
// writes 2048, the most careful program we know of 600,000.
const maxIterations = 1_000_000

var errP12 = errors.New("no .p12 file that is read here")

var (
	oidData         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidEncrypted    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 6}
	oidKeyBag       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 1}
	oidShroudedBag  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 2}
	oidPBES2        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidPBMAC1       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 14}
	oidHMACOfSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
)

// The parts of a file (RFC 7292) that are looked at.
type (
	p12File struct {
		Version int
		Safe    p12Part
		Mac     asn1.RawValue `asn1:"optional"`
	}
	p12Part struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"tag:0,explicit"`
	}
	p12Encrypted struct {
		Version int
		Content struct {
			Type      asn1.ObjectIdentifier
			Algorithm pkix.AlgorithmIdentifier
			Bytes     asn1.RawValue `asn1:"optional"`
		}
	}
	p12Bag struct {
		Type       asn1.ObjectIdentifier
		Value      asn1.RawValue `asn1:"tag:0,explicit"`
		Attributes asn1.RawValue `asn1:"optional"`
	}
	p12Key struct {
		Algorithm pkix.AlgorithmIdentifier
		Bytes     []byte
	}
	p12Scheme struct{ Derivation, Encryption pkix.AlgorithmIdentifier }
	p12Hash   struct {
		Salt       asn1.RawValue
		Iterations int64
		Length     int                      `asn1:"optional"`
		Hash       pkix.AlgorithmIdentifier `asn1:"optional"`
	}
)

// whole reads one value and refuses what follows it.
func whole(data []byte, into any) error {
	rest, err := asn1.Unmarshal(data, into)
	if err == nil && len(rest) > 0 {
		err = errP12
	}
	return err
}

// bounded is the same file with its plain part first, if reading it costs no more
// than maxIterations.
func bounded(file []byte, password string) ([]byte, error) {
	var outer p12File
	var content []byte
	var parts []asn1.RawValue
	if err := errors.Join(whole(file, &outer), whole(outer.Safe.Content.Bytes, &content), whole(content, &parts)); err != nil {
		return nil, err
	}
	var plain, sealed []asn1.RawValue
	var read reading
	for _, raw := range parts {
		var part p12Part
		if err := whole(raw.FullBytes, &part); err != nil {
			return nil, err
		}
		switch {
		case part.Type.Equal(oidData):
			plain = append(plain, raw)
			read.plain(part.Content.Bytes)
		case part.Type.Equal(oidEncrypted):
			sealed = append(sealed, raw)
			read.sealed(part.Content.Bytes)
		default:
			return nil, errP12
		}
	}
	if read.err != nil || read.keys != 1 || read.iterations > maxIterations {
		return nil, errors.Join(errP12, read.err)
	}
	return p12Of(append(plain, sealed...), password)
}

// reading is what was found in a file.
type reading struct {
	keys       int
	iterations int64
	err        error
}

// plain looks at the bags of a part that is not encrypted.
func (r *reading) plain(content []byte) {
	var inner []byte
	var bags []p12Bag
	if err := errors.Join(whole(content, &inner), whole(inner, &bags)); err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	for _, bag := range bags {
		switch {
		case bag.Type.Equal(oidKeyBag):
			r.keys++
		case bag.Type.Equal(oidShroudedBag):
			r.keys++
			var key p12Key
			if err := whole(bag.Value.Bytes, &key); err != nil {
				r.err = errors.Join(r.err, err)
				return
			}
			r.add(key.Algorithm)
		}
	}
}

// sealed looks at how a part is encrypted.
func (r *reading) sealed(content []byte) {
	var part p12Encrypted
	if err := whole(content, &part); err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	r.add(part.Content.Algorithm)
}

// add counts what an algorithm asks for: a number after its salt, in the newer ones
// a level deeper.
func (r *reading) add(algorithm pkix.AlgorithmIdentifier) {
	parameters := algorithm.Parameters.FullBytes
	if algorithm.Algorithm.Equal(oidPBES2) {
		var scheme p12Scheme
		if err := whole(parameters, &scheme); err != nil {
			r.err = errors.Join(r.err, err)
			return
		}
		parameters = scheme.Derivation.Parameters.FullBytes
	}
	var hash p12Hash
	err := whole(parameters, &hash)
	if err != nil || hash.Iterations < 1 || hash.Iterations > maxIterations {
		r.err = errors.Join(r.err, errP12, err)
		return
	}
	r.iterations += hash.Iterations
}

// p12Of is a file of parts, with a check value that costs one hash: what the
// file's own would prove, the opening of its key proves as well.
func p12Of(parts []asn1.RawValue, password string) ([]byte, error) {
	content, err := asn1.Marshal(parts)
	if err != nil {
		return nil, err
	}
	wrapped, err := asn1.Marshal(content)
	if err != nil {
		return nil, err
	}
	file := p12File{Version: 3, Safe: p12Part{oidData, asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: wrapped}}}
	if password != "" { // a file without one needs no check value
		if file.Mac.FullBytes, err = checkValue(content, password); err != nil {
			return nil, err
		}
	}
	return asn1.Marshal(file)
}

// checkValue is the check value of RFC 9579.
func checkValue(content []byte, password string) ([]byte, error) {
	salt := make([]byte, 8)
	key, err := pbkdf2.Key(sha256.New, password, salt, 1, sha256.Size)
	if err != nil {
		return nil, err
	}
	sum := hmac.New(sha256.New, key)
	sum.Write(content)
	packed := func(value any) asn1.RawValue {
		data, failure := asn1.Marshal(value)
		err = errors.Join(err, failure)
		return asn1.RawValue{FullBytes: data}
	}
	hash := pkix.AlgorithmIdentifier{Algorithm: oidHMACOfSHA256}
	derivation := pkix.AlgorithmIdentifier{
		Algorithm: oidPBKDF2, Parameters: packed(p12Hash{Salt: packed(salt), Iterations: 1, Length: sha256.Size, Hash: hash}),
	}
	algorithm := pkix.AlgorithmIdentifier{Algorithm: oidPBMAC1, Parameters: packed(p12Scheme{derivation, hash})}
	mac := packed(struct {
		Mac struct {
			Algorithm pkix.AlgorithmIdentifier
			Digest    []byte
		}
		Salt       []byte
		Iterations int
	}{struct {
		Algorithm pkix.AlgorithmIdentifier
		Digest    []byte
	}{algorithm, sum.Sum(nil)}, salt, 1})
	return mac.FullBytes, err
}
