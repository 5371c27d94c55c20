package outbound

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// patience bounds what must end by itself; no test waits for it to pass.
const patience = 4 * time.Minute

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// names is a resolver that tests command.
type names struct {
	mu      sync.Mutex
	answers map[string][]netip.Addr
	asked   int
	fail    error
	hang    bool
}

func (n *names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.asked++
	answers, fail, hang := n.answers[host], n.fail, n.hang
	n.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if fail == nil && answers == nil {
		fail = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return answers, fail
}

func (n *names) set(host string, addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[string][]netip.Addr{}
	}
	n.answers[host] = nil
	for _, addr := range addrs {
		n.answers[host] = append(n.answers[host], netip.MustParseAddr(addr))
	}
}

func (n *names) lookups() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

func resolving(host string, addrs ...string) *names {
	n := &names{}
	n.set(host, addrs...)
	return n
}

// authority signs the certificates of a test.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue makes a certificate for names and addresses; change may spoil it.
func (a *authority) issue(change func(*x509.Certificate), hosts ...string) *tls.Config {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// receiver is an HTTPS server on loopback that counts connections.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	conns int
}

func (r *receiver) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conns
}

func (r *receiver) port() string {
	_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
	return port
}

// receive serves at 127.0.0.1 on any port, or at listen.
func receive(t *testing.T, listen string, config *tls.Config, handle http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{Server: httptest.NewUnstartedServer(handle)}
	if listen != "" {
		_ = r.Listener.Close()
		r.Listener = listenAt(t, listen)
	}
	r.TLS = config
	r.Config.ErrorLog = quiet
	r.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.mu.Lock()
			r.conns++
			r.mu.Unlock()
		}
	}
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func listenAt(t *testing.T, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// raw gives each connection to serve and closes it after; bare TCP without a
// config. It returns the port.
func raw(t *testing.T, config *tls.Config, serve func(net.Conn)) string {
	t.Helper()
	listener := listenAt(t, "127.0.0.1:0")
	var running sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			running.Go(func() {
				defer func() { _ = conn.Close() }()
				if config != nil {
					serve(tls.Server(conn, config))
				} else {
					serve(conn)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

func client(t *testing.T, gate *Gate, options Options) *Client {
	t.Helper()
	c := NewClient(gate, options)
	t.Cleanup(c.Close)
	return c
}

// post fails the test when the call does not come back.
func post(t *testing.T, c *Client, url string) (Result, error) {
	t.Helper()
	type outcome struct {
		Result
		error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := c.Post(t.Context(), url, http.Header{"Content-Type": {"application/json"}}, []byte(`{"a":1}`))
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.Result, o.error
	case <-time.After(patience):
		t.Fatal("the call did not come back")
		return Result{}, nil
	}
}

var quiet = log.New(io.Discard, "", 0)
