package acme

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// pebble is a certificate authority on this machine.
type pebble struct {
	directory string
	roots     string         // file of what the program must trust to speak with it
	issued    *x509.CertPool // what a browser must trust
	ports     [2]string      // where it looks for a domain: HTTPS, HTTP

	mu       sync.Mutex
	contacts []string // of accounts that were made
	calls    int
}

// wishes are what a test wants of Pebble.
type wishes struct {
	blocked  []string          // domains that it refuses
	bindings map[string]string // keys by id of accounts that one must have; nil: none is needed
	seconds  uint64            // how long a certificate lasts; 0: long
	unknown  []string          // domains that have no address
}

func startPebble(t *testing.T, w wishes) *pebble {
	t.Helper()
	p := &pebble{ports: [2]string{freePort(t), freePort(t)}}
	logger := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	for _, domain := range w.blocked {
		must(t, store.AddBlockedDomain(domain))
	}
	for id, key := range w.bindings {
		must(t, store.AddExternalAccountKeyByID(id, key))
	}
	profiles := map[string]ca.Profile{"default": {Description: "of the tests", ValidityPeriod: w.seconds}}
	authority := ca.New(logger, store, "", "ecdsa", 0, 1, profiles)
	validation := va.New(logger, number(p.ports[1]), number(p.ports[0]), false, startDNS(t, w.unknown), store)
	front := wfe.New(logger, store, validation, authority, []string{"pebble.letsencrypt.org"}, false, len(w.bindings) > 0, 0, 0)
	server := httptest.NewTLSServer(p.listen(front.Handler()))
	t.Cleanup(server.Close)
	p.directory = server.URL + wfe.DirectoryPath
	p.roots = filepath.Join(t.TempDir(), "roots.pem")
	must(t, os.WriteFile(p.roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	p.issued = x509.NewCertPool()
	p.issued.AppendCertsFromPEM(authority.GetRootCert(0).PEM())
	return p
}

// listen counts the calls and reads the contacts of the accounts that are made.
func (p *pebble) listen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		var signed struct{ Payload string }
		_ = json.Unmarshal(body, &signed)
		payload, _ := base64.RawURLEncoding.DecodeString(signed.Payload)
		var account struct{ Contact []string }
		_ = json.Unmarshal(payload, &account)
		p.mu.Lock()
		p.calls++
		p.contacts = append(p.contacts, account.Contact...)
		p.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (p *pebble) counted() (calls int, contacts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, slices.Clone(p.contacts)
}

// leaf connects as a browser would and returns the certificate it is shown.
func (p *pebble) leaf(t *testing.T, domain string) (*x509.Certificate, error) {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{ServerName: domain, RootCAs: p.issued}}
	conn, err := dialer.DialContext(t.Context(), "tcp", "127.0.0.1:"+p.ports[0])
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// startDNS starts a DNS server to which every name is this machine, except
// those that are unknown.
func startDNS(t *testing.T, unknown []string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
		answer := new(dns.Msg).SetReply(question)
		name := question.Question[0].Name
		if question.Question[0].Qtype == dns.TypeA && !slices.Contains(unknown, strings.TrimSuffix(name, ".")) {
			answer.Answer = []dns.RR{&dns.A{
				Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1),
			}}
		}
		_ = w.WriteMsg(answer)
	})}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return l.Addr().String()
}
