package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"carteira/internal/platform/config"
)

// A caller that is slow to send or to read is cut off: these bound how long a
// connection may be held for nothing.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	// stopTimeout is how long a stop waits for requests in flight.
	stopTimeout = 25 * time.Second
)

// Serve serves until ctx ends, then finishes what is in flight. ready is
// called with the address once connections are accepted.
func (a *App) Serve(ctx context.Context, ready func(addr net.Addr)) error {
	collectLess()
	lock, err := lockServe(a.Config)
	if err != nil {
		return err
	}
	defer lock.release()
	if a.Config.Embedded() {
		if err := a.Webhooks.Inherit(ctx); err != nil {
			return err
		}
	}
	listeners, err := a.listen(ctx)
	if err != nil {
		return err
	}
	background, stopTasks := context.WithCancel(context.WithoutCancel(ctx))
	a.Workers.Start(background, a.tasks()...)
	defer a.Workers.Wait()
	defer stopTasks()

	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- l.server.Serve(l.Listener) }()
	}
	a.warnings()
	ready(listeners[0].Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	a.Log.Info("stopping: finishing requests in flight")
	return shutdown(background, listeners)
}

func shutdown(ctx context.Context, listeners []listener) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var failures []error
	for _, l := range listeners {
		failures = append(failures, l.server.Shutdown(ctx))
	}
	return errors.Join(failures...)
}

// listener is an address and the server behind it.
type listener struct {
	net.Listener
	server *http.Server
}

// listen opens the addresses: one, or with ACME the two that it needs.
func (a *App) listen(ctx context.Context) ([]listener, error) {
	if a.Config.TLSDomain == "" {
		l, err := a.listenOn(ctx, a.Config.Listen, a.Handler())
		if err != nil {
			return nil, err
		}
		if a.Config.TLSCert != "" {
			files, err := newCertFiles(a.Config.TLSCert, a.Config.TLSKey)
			if err != nil {
				return nil, errors.Join(err, l.Close())
			}
			l.Listener = tls.NewListener(l.Listener, &tls.Config{
				MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: files.get,
			})
		}
		return []listener{l}, nil
	}
	acme := &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(a.Config.TLSDomain),
		Cache: autocert.DirCache(filepath.Join(a.Config.DataDir, "acme")),
	}
	secure, err := a.listenOn(ctx, ":443", a.Handler())
	if err != nil {
		return nil, err
	}
	secure.Listener = tls.NewListener(secure.Listener, acme.TLSConfig())
	plain, err := a.listenOn(ctx, ":80", acme.HTTPHandler(nil))
	if err != nil {
		return nil, errors.Join(err, secure.Close())
	}
	return []listener{secure, plain}, nil
}

func (a *App) listenOn(ctx context.Context, addr string, h http.Handler) (listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return listener{}, fmt.Errorf("%s is in use, perhaps by another carteira; choose another address with --listen", addr)
	}
	if err != nil {
		return listener{}, fmt.Errorf("cannot serve on %s: %w", addr, err)
	}
	return listener{l, &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug),
	}}, nil
}

// collectLess lets the heap grow to five times what is alive before it is
// collected: what is alive is a few megabytes whatever the number of customers,
// and the collector was a tenth of a request. Whoever set GOGC knows better.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(120 << 20) // from there on it is collected as often as it takes
	}
}

// warnings says aloud what is allowed and should not be in earnest.
func (a *App) warnings() {
	if nets := a.Config.WebhookAllowNetworks; len(nets) > 0 {
		a.Log.Warn("webhooks may reach internal networks; use this for trials only", "networks", nets)
	}
	if nets := a.Config.MessageAllowNetworks; len(nets) > 0 {
		a.Log.Warn("message channels may reach internal networks: every company can name a mail server or a bridge there", "networks", nets)
	}
	if a.Config.RateLimit == 0 {
		a.Log.Warn("the rate limit is switched off")
	}
}

// loopback reports whether the server can be reached from this machine only.
func loopback(c config.Config) bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || c.TLSDomain != "" {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
