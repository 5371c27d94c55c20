package app

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func loggedSockets() (*sockets, *bytes.Buffer) {
	var log bytes.Buffer
	return newSockets(slog.New(slog.NewTextHandler(&log, nil))), &log
}

func valueOf(t *testing.T, collector prometheus.Collector) float64 {
	t.Helper()
	reg := prometheus.NewRegistry()
	reg.MustRegister(collector)
	families, err := reg.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d metrics: %v", len(families), err)
	}
	metric := families[0].GetMetric()[0]
	return metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
}

// failing is a listener that cannot accept.
type failing struct {
	net.Listener
	err error
}

func (l failing) Accept() (net.Conn, error) { return nil, l.err }

func TestConnectionsThatCannotBeAcceptedAreCountedAndLoggedSeldom(t *testing.T) {
	sockets, log := loggedSockets()
	listener := sockets.count(failing{err: syscall.EMFILE})
	for range 3 {
		if _, err := listener.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := sockets.count(failing{err: net.ErrClosed}).Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if n := valueOf(t, sockets.refused); n != 3 {
		t.Errorf("counted %v, want 3", n)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "too many open files") {
		t.Errorf("logged %d times, want once:\n%s", n, log)
	}
}

func TestCertificateThatCannotBeHadIsCountedAndLogged(t *testing.T) {
	sockets, log := loggedSockets()
	get := sockets.watch([]string{"carteira.example.com"}, func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return nil, errors.New("acme: 429 rateLimited")
	})
	for _, name := range []string{"carteira.example.com", "a scanner's guess", ""} {
		if _, err := get(&tls.ClientHelloInfo{ServerName: name}); err == nil {
			t.Errorf("%q has a certificate", name)
		}
	}
	if n := valueOf(t, sockets.uncertified); n != 1 {
		t.Errorf("counted %v, want 1", n)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "rateLimited") {
		t.Errorf("logged %d times, want once:\n%s", n, log)
	}
}

func TestCertificateThatIsNotRenewedIsLogged(t *testing.T) {
	for left, want := range map[time.Duration]int{60 * 24 * time.Hour: 0, 5 * 24 * time.Hour: 1} {
		sockets, log := loggedSockets()
		ends := time.Now().Add(left)
		get := sockets.watch(nil, func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return &tls.Certificate{Leaf: &x509.Certificate{NotBefore: ends.Add(-90 * 24 * time.Hour), NotAfter: ends}}, nil
		})
		for range 2 {
			if _, err := get(&tls.ClientHelloInfo{}); err != nil {
				t.Error(err)
			}
		}
		if n := strings.Count(log.String(), "ends soon"); n != want {
			t.Errorf("%v left: logged %d times, want %d", left, n, want)
		}
		if at := valueOf(t, sockets.expires); at != float64(ends.Unix()) {
			t.Errorf("ends at %v, want %v", at, ends.Unix())
		}
	}
}
