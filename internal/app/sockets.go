package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// sockets counts and logs what goes wrong before there is a request: connections
// that cannot be accepted, and certificates that cannot be had. net/http would
// only retry, and autocert say nothing.
type sockets struct {
	log          *slog.Logger
	refused      prometheus.Counter
	uncertified  prometheus.Counter
	expires      prometheus.Gauge
	acceptLogged seldom
	certLogged   seldom
	expiryLogged seldom
}

func newSockets(log *slog.Logger) *sockets {
	return &sockets{
		log: log,
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carteira_http_accept_errors_total",
			Help: "Connections that could not be accepted, as when there are too many open files.",
		}),
		uncertified: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carteira_tls_certificate_errors_total",
			Help: "Handshakes for which there was no certificate, as when ACME fails.",
		}),
		expires: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_tls_certificate_expires_seconds",
			Help: "When the certificate last served ends, in seconds since 1970; 0 when none was.",
		}),
		acceptLogged: seldom{every: 10 * time.Second},
		certLogged:   seldom{every: time.Minute},
		expiryLogged: seldom{every: time.Hour},
	}
}

// seldom says yes once in a while, so that a fault does not fill the log.
type seldom struct {
	every time.Duration
	last  atomic.Int64
}

func (s *seldom) now() bool {
	now := time.Now().UnixNano()
	last := s.last.Load()
	return (last == 0 || now-last > int64(s.every)) && s.last.CompareAndSwap(last, now)
}

// count makes failures to accept a connection visible.
func (s *sockets) count(listener net.Listener) net.Listener {
	return countedListener{listener, s}
}

type countedListener struct {
	net.Listener
	sockets *sockets
}

// Accept waits for the next connection.
func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		l.sockets.refused.Inc()
		if l.sockets.acceptLogged.now() {
			l.sockets.log.Error("connections cannot be accepted", "error", err)
		}
	}
	return conn, err
}

// certificates is how TLS asks for one.
type certificates func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// renewBy is how long before its end a certificate should long have been
// renewed, unless it is a short one; autocert begins 30 days before, or after two
// thirds of its life.
const renewBy = 14 * 24 * time.Hour

// watch makes failures to get a certificate visible: for any name, or for
// those of domains where there are some. Scanners ask for others.
func (s *sockets) watch(domains []string, get certificates) certificates {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := get(hello)
		switch {
		case err == nil:
			s.certified(cert)
		case len(domains) == 0 || slices.Contains(domains, hello.ServerName):
			s.uncertified.Inc()
			if s.certLogged.now() {
				s.log.Error("no certificate", "domain", hello.ServerName, "error", err)
			}
		}
		return cert, err
	}
}

func (s *sockets) certified(cert *tls.Certificate) {
	leaf := leafOf(cert)
	if leaf == nil {
		return
	}
	s.expires.Set(float64(leaf.NotAfter.Unix()))
	if time.Until(leaf.NotAfter) < min(renewBy, leaf.NotAfter.Sub(leaf.NotBefore)/6) && s.expiryLogged.now() {
		s.log.Error("the certificate ends soon and has not been renewed", "ends", leaf.NotAfter)
	}
}

// listener is an address and the server behind it.
type listener struct {
	net.Listener
	server *http.Server
}

// listen opens the addresses: one, or with ACME the two that it needs.
func (a *App) listen(ctx context.Context) ([]listener, error) {
	if len(a.Config.TLSDomains) > 0 {
		return a.listenACME(ctx)
	}
	l, err := a.listenOn(ctx, a.Config.Listen, a.handler())
	if err != nil {
		return nil, err
	}
	if a.Config.TLSCert != "" {
		files, err := newCertFiles(a.Config.TLSCert, a.Config.TLSKey, a.Log)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.Listener = tls.NewListener(l.Listener, &tls.Config{
			MinVersion:     tls.VersionTLS12,
			NextProtos:     []string{"h2", "http/1.1"},
			GetCertificate: a.sockets.watch(nil, files.get),
		})
	}
	return []listener{l}, nil
}

func (a *App) listenOn(ctx context.Context, addr string, handler http.Handler) (listener, error) {
	l, err := a.open(ctx, addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return listener{}, fmt.Errorf("%s is in use, perhaps by another carteira; choose another address with --listen",
			addr)
	}
	if err != nil {
		return listener{}, fmt.Errorf("cannot serve on %s: %w", addr, err)
	}
	return listener{a.sockets.count(l), &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug),
	}}, nil
}

func (a *App) open(ctx context.Context, addr string) (net.Listener, error) {
	if a.Listener != nil && addr == a.Config.Listen {
		return a.Listener, nil
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}
