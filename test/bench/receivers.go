//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"sync"
	"time"
)

// receivers are TLS servers, each on an address of its own as those of
// integrators are: connections are kept by address. They write down what
// arrives and answer 200, except under the paths of hostile receivers.
type receivers struct {
	hosts  []string
	roots  string // file with the authority that signed their certificates
	server *http.Server

	mu          sync.Mutex
	warm        int // arrivals before the first that counts
	warmed      chan struct{}
	count       int
	first, last time.Time
	seen        map[string]time.Time // by the user name in the event
}

// userName finds what distinguishes created customers.
var userName = regexp.MustCompile(`"novo[0-9]{9}"`)

// startReceivers starts n receivers and writes their authority to roots. Hostile
// ones take turns in the ways of being hostile.
func startReceivers(ctx context.Context, roots string, n int, hostile bool) (*receivers, error) {
	r := &receivers{roots: roots, seen: map[string]time.Time{}}
	authority, err := newAuthority(r.roots)
	if err != nil {
		return nil, err
	}
	// Connections that their client gave up are no news.
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	for i := range n {
		ip := net.IPv4(127, 1, byte(i/250), byte(i%250+1))
		if hostile {
			ip = net.IPv4(127, 2, byte(i/250), byte(i%250+1))
		}
		proves := ip
		if hostile && hostilePath(i) == badTLSPath {
			proves = net.IPv4(127, 255, 0, 1) // which it is not
		}
		certificate, err := authority.sign(proves)
		if err != nil {
			return nil, err
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(ip.String(), "0"))
		if err != nil {
			return nil, errors.Join(err, r.server.Close())
		}
		r.hosts = append(r.hosts, listener.Addr().String())
		secure := tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
		go func() { _ = r.server.Serve(secure) }()
	}
	return r, nil
}

func (r *receivers) close() { _ = r.server.Close() }

// ServeHTTP is a receiver.
func (r *receivers) ServeHTTP(rw http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if treat, ok := hostilities[request.URL.Path]; ok {
		treat(rw, request)
		return
	}
	if err == nil {
		r.note(body, time.Now())
	}
}

func (r *receivers) note(body []byte, at time.Time) {
	name := userName.Find(body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.last = at
	if r.count == max(1, r.warm) {
		r.first = at
		close(r.warmed)
	}
	if name != nil {
		if _, again := r.seen[string(name)]; !again {
			r.seen[string(name)] = at
		}
	}
}

// reset forgets what has arrived. The given number of next ones only warm up.
func (r *receivers) reset(warm int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warm, r.warmed = warm, make(chan struct{})
	r.count = 0
	clear(r.seen)
}

// count is what came after the warming up, and what it cost: µs of processor
// time per delivery.
type count struct {
	perSecond float64
	spent     map[int]float64 // by the sender's processes
	taking    float64         // by the receivers, which are in this process
}

// measure waits until n have arrived after those that warm up. It asks for what
// the sender has spent at both ends.
func (r *receivers) measure(ctx context.Context, n int, spending func() (map[int]time.Duration, error)) (count count, err error) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	r.mu.Lock()
	warm, warmed := r.warm, r.warmed
	r.mu.Unlock()
	select {
	case <-ctx.Done():
		return count, fmt.Errorf("warming up: %w", ctx.Err())
	case <-warmed:
	}
	before, err := spending()
	if err != nil {
		return count, err
	}
	taken := cpuOf(os.Getpid())
	if count.perSecond, err = r.await(ctx, warm+n, drainTimeout); err != nil {
		return count, err
	}
	per := func(spent time.Duration) float64 { return float64(spent.Microseconds()) / float64(n) }
	count.taking = per(cpuOf(os.Getpid()) - taken)
	after, err := spending()
	count.spent = make(map[int]float64, len(after))
	for pid, spent := range after {
		count.spent[pid] = per(spent - before[pid])
	}
	return count, err
}

// await waits until n have arrived and returns how many came per second.
func (r *receivers) await(ctx context.Context, n int, most time.Duration) (perSecond float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		r.mu.Lock()
		count, warm, span := r.count, max(1, r.warm), r.last.Sub(r.first)
		r.mu.Unlock()
		if count >= n {
			return float64(count-warm) / span.Seconds(), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d deliveries have arrived: %w", count, n, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// authority signs certificates for the length of a run.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(file string) (authority authority, err error) {
	if authority.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return authority, err
	}
	authority.certificate = template()
	authority.certificate.IsCA, authority.certificate.BasicConstraintsValid, authority.certificate.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, authority.certificate, authority.certificate, &authority.key.PublicKey, authority.key)
	if err != nil {
		return authority, err
	}
	return authority, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// sign makes the certificate of a receiver, which has the authority's key.
func (a authority) sign(ip net.IP) (tls.Certificate, error) {
	certificate := template()
	certificate.IPAddresses = []net.IP{ip}
	certificate.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, certificate, a.certificate, &a.key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, err
}

func template() *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "bench " + serial.String()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}
